#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# alone
# Several threads read the rings: one file, nothing lost, events in order, the same as with one thread.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_system_wide
cpus=$(nproc)
[ "$cpus" -gt 1 ] || skip "there is only one CPU"

cat >burn.c <<'SRC'
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile char *deep(int n)
{
	volatile char frame[400];
	memset((char *)frame, n, sizeof(frame));
	if (n)
		return deep(n - 1) + (frame[0] == 0);
	for (;;)
		;
}
/* N processes with deep stacks for S seconds, and short ones in between */
int main(int argc, char **argv)
{
	(void)argc;
	for (int i = 0; i < atoi(argv[1]); i++)
		if (!fork()) {
			alarm(atoi(argv[2]));
			deep(40);
		}
	for (int i = 0; i < 300; i++) {
		if (!fork())
			_exit(0);
		usleep(3000);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
SRC
$CC -O0 -o burn burn.c || fail "cannot compile"

# whole NAME [LEAST]: events of NAME.trace in order of time; samples counted are those that are there; stacks reach the root
whole() {
	preport -i $1.trace script --all --format=json >$1.json 2>$1.err || { cat $1.err; fail "$1: does not read"; }
	# On a machine that stands still for long samples are lost, and programs gone before they are looked at.
	grep -vE 'lost|gone|vanished' $1.err && fail "$1: read with warnings"
	grep -o '"time_ns": [1-9][0-9]*' $1.json | cut -d' ' -f2 >times
	sort -nc times || fail "$1: events are out of order"
	samples=$(grep -c '"kind": "sample"' $1.json)
	counted=$(preport -i $1.trace info --format=json 2>/dev/null | grep -o '"samples": [0-9]*' | head -n 1 | cut -d' ' -f2)
	[ "$samples" = "$counted" ] || fail "$1: $samples samples in the file, $counted counted"
	grep '"kind": "sample"' $1.json | grep -o '"cpu": [0-9]*' | sort | uniq -c >$1.cpus
	[ "$(wc -l <$1.cpus)" -ge 2 ] || { cat $1.cpus; fail "$1: samples of too few CPUs"; }
	burned=$(grep '"kind": "sample"' $1.json | grep -c '"thread": "burn"')
	rooted=$(grep '"kind": "sample"' $1.json | grep '"thread": "burn"' | grep -c '"stop": "complete')
	echo "$1: $samples samples, $burned of burn, $rooted of them to the root"
	[ "$burned" -ge "${2:-21}" ] || fail "$1: only $burned samples of burn"
	[ $((rooted * 100)) -ge $((burned * 80)) ] || fail "$1: $rooted of $burned stacks reach the root"
}

# Where the recorder may not go to the head of the line, losses are a matter of luck.
late=yes
precord -v -a -o try.trace -- true 2>&1 | grep -q 'priority: real-time' && late=

for threads in 1 2 $((cpus + 3)); do
	precord -v -a -e cpu-clock -F 499 -g dwarf,32768 --reader-threads=$threads -o n$threads.trace -- ./burn $cpus 2 2>err.txt || { cat err.txt; fail "$threads threads: $?"; }
	whole n$threads
	[ -n "$SAN$late" ] || grep -q ', 0.0 % lost' err.txt || { cat err.txt; fail "$threads threads: samples were lost"; }
	[ $threads = 1 ] || grep -q "precord: [2-9][0-9]* threads read the rings\|precord: [1-9][0-9]\+ threads" err.txt || { cat err.txt; fail "-v does not say how many threads"; }
done

# The other ways to write files.
precord -q -a -e cpu-clock -F 499 -g dwarf,32768 --reader-threads=2 --overwrite=1M -o flight.trace -- ./burn $cpus 2 || fail "--overwrite: $?"
whole flight
precord -q -a -e cpu-clock -F 499 -g dwarf,32768 --reader-threads=2 --switch-output=800ms -o part.trace -- ./burn $cpus 5 || fail "--switch-output: $?"
files=(part.trace.2*)
[ ${#files[@]} -ge 3 ] || fail "${#files[@]} files"
# Of those that did not begin with the recording, the one with most samples of the program: what runs in each is the scheduler's to say.
for file in "${files[@]:1}"; do
	echo "$(preport -i "$file" --comm burn --by process --format=csv 2>/dev/null | columns samples | awk '{ n += $1 } END { print n + 0 }') $file"
done | sort -rn >burns
cat burns
mv "$(sed -n '1s/^[0-9]* //p' burns)" later.trace
whole later 1

precord --reader-threads=0 -- true 2>err.txt && fail "no thread at all is no error"
grep -q "'0' is not a number of threads" err.txt || { cat err.txt; fail "what is wrong with 0 threads is not said"; }
exit 0

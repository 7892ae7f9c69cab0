#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where precord gets no more memory, the recording ends: with status 125 and, as soon as it has begun, a file with its end that says
# why. The limit is put on the recorder at different moments, and at last so low that nothing can be done.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ -z "${SAN-}" ] || skip "sanitizers need address space of their own"
command -v prlimit >/dev/null || skip "there is no prlimit"
# What was started goes on without its recorder, whatever comes of the test: a million mappings would slow down all that follow.
trap 'kill $(cat pid) -- "-$(cat pid)" 2>/dev/null' EXIT

# Deep stacks of noise, which --raw-stacks has to keep.
cat >noise.c <<'END_C'
#include <stdlib.h>
static volatile long sum;
static long deep(int n, unsigned seed)
{
	volatile char noise[2000];
	for (int i = 0; i < 2000; i++)
		noise[i] = (char)rand_r(&seed);
	return n ? deep(n - 1, seed) + noise[5] : sum++;
}
int main(void)
{
	for (;;)
		deep(30, (unsigned)sum);
}
END_C
$CC -O1 -o noise noise.c || fail "cannot compile"

# ends FILE ARGUMENTS...: a recording that was begun with half a GB of memory, and is left with what it has
ends() {
	local file=$1
	shift
	prlimit --data=500000000 "$BUILD/precord" -F 999 -o "$file" "$@" 2>err.txt
	[ $? = 125 ] || { cat err.txt; fail "$file: status $?"; }
	grep -q 'out of memory' err.txt || { cat err.txt; fail "$file: not a word of memory"; }
	preport -i "$file" info >info.txt 2>&1
	grep -q '^File  *complete' info.txt || { cat info.txt err.txt; fail "$file has no end"; }
	grep -q '^Note .*no memory left' info.txt || { cat info.txt; fail "$file does not say why it ends"; }
}

# What it keeps in memory grows to the limit, and is written.
ends flight.trace --overwrite=8G --raw-stacks -- sh -c 'echo $$ >pid; prlimit --pid $PPID --data=60000000; exec ./noise'
kill "$(cat pid)"
preport -i flight.trace --by leaf --format=csv 2>/dev/null | grep -q '^.*deep' || { preport -i flight.trace | head -20; fail "flight.trace has no samples"; }

# From the first mapping on there is no more. What asks for it are the mappings of a thousand processes.
cat >maps.c <<'END_C'
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int fd = open(argv[argc - 1], O_RDONLY);

	for (long i = 0; i < 30000; i++)
		mmap((char *)0x100000000000 + i * 0x200000, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
	for (int i = 0; i < 30; i++) {
		if (fork() == 0) {
			for (long j = 0; j < 1000; j++)
				mmap((char *)0x200000000000 + j * 0x200000, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
			pause();
		}
	}
	pause();
	return 0;
}
END_C
$CC -O1 -o maps maps.c || fail "cannot compile"
ends side.trace -- setsid sh -c 'echo $$ >pid; prlimit --pid $PPID --data=1000; exec ./maps ./noise'
kill -- "-$(cat pid)"

# While it starts: at each moment of it, until there is enough.
for ((megabytes = 1; megabytes <= 64; megabytes++)); do
	prlimit --data=${megabytes}000000 "$BUILD/precord" -o none.trace -- true 2>err.txt
	status=$?
	[ $status != 0 ] || break
	[ $status = 125 ] && grep -q 'out of memory' err.txt || { cat err.txt; fail "with $megabytes megabytes: status $status"; }
done
[ $megabytes -gt 3 ] || fail "three megabytes are enough: nothing was tried"
exit 0

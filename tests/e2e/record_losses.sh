#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# alone
# Nothing is lost in the ordinary case, and what is lost otherwise is counted to the last sample; mappings and
# forks come through whatever happens to samples. LOSS_SECONDS says how long CPUs are kept busy each time.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_system_wide

cat >burn.c <<'END'
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
static volatile char *deep(int n)
{
	volatile char frame[1000];
	memset((char *)frame, n, sizeof(frame));
	if (n)
		return deep(n - 1) + (frame[0] == 0);
	for (;;)
		;
}
static void child(void) { _exit(0); }
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static void *wait_and_burn(void *arg)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	deep(30);
	return arg;
}
static void crowd(int n)
{
	pthread_attr_t small;
	pthread_t thread;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 128 * 1024);
	pthread_mutex_lock(&gate);
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread, &small, wait_and_burn, NULL))
			_exit(1);
	pthread_mutex_unlock(&gate);
	pause();
}
/* burn N S: N processes with deep stacks for S seconds; crowd N S: N threads; storm N: N short processes */
int main(int argc, char **argv)
{
	int n = atoi(argv[2]);
	(void)argc;
	if (argv[1][0] == 'c') {
		alarm(atoi(argv[3]));
		crowd(n);
	}
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		if (!pid && argv[1][0] == 's')
			child();
		if (!pid) {
			alarm(atoi(argv[3]));
			deep(60);
		}
		if (argv[1][0] == 's')
			waitpid(pid, NULL, 0);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
END
$CC -O0 -o burn burn.c -lpthread || fail "cannot compile"
cpus=$(nproc)

# counts FILE: samples and losses over all CPUs, as the kernel counted them
counts() {
	preport -i "$1" info --format=json 2>/dev/null | tr -d '",:{}' | awk '$1 == "event" && $2 == "cpu-clock" {
		for (i = 1; i < NF; i += 2) sum[$i] += $(i + 1)
	} END { print sum["samples"] + 0, sum["lost"] + 0, sum["shortened"] + 0 }'
}

seconds=${LOSS_SECONDS:-3}

# lossless RECORD WHAT FILE: no sample was lost, and there are as many as busy CPUs give
lossless() {
	local samples lost shortened
	for _ in 1 2 3; do
		$1
		read -r samples lost shortened <<<"$(counts "$3")"
		echo "$2: $samples samples, $lost lost, $shortened shortened"
		[ "$lost$shortened" = 00 ] && break
		# Without the right to go to the head of the line it is a matter of luck.
		[ $may_hurry ] || { echo "not judged: real-time priority is refused here"; return; }
	done
	[ "$lost" = 0 ] || fail "$lost of $samples samples were lost: $2"
	[ "$shortened" = 0 ] || fail "$shortened of $samples stacks were shortened: $2"
	[ "$samples" -gt $((cpus * seconds * 100)) ] || fail "only $samples samples: $2"
}

# Where the recorder may go to the head of the line; elsewhere it is a matter of luck.
may_hurry=
precord -v -a -o try.trace -- true 2>&1 | grep -q 'priority: real-time' && may_hurry=yes

# Who stands still is the hypervisor's to say, too, and it stops one CPU and not the other: what a quiet moment's
# recording must not lose may be lost three times in a row only by our fault.
busy() { precord -v -a -e cpu-clock -F 999 -o busy.trace -- ./burn burn $((4 * cpus)) $seconds 2>busy.err; }
lossless busy 'all CPUs oversubscribed' busy.trace
still=$(sed -n 's/.*may stand still for \([0-9.]*\) s$/\1/p' busy.err)
[ -n "$still" ] || { cat busy.err; fail "-v does not say for how long the recorder may stand still"; }

# stop_often RECORDER SECONDS TIMES: stop it for so long. Who does that must not wait for a CPU itself, or it is longer.
mkfifo never
exec 3<>never
stop_often() {
	chrt -R -f -p 2 $BASHPID >/dev/null 2>&1
	for _ in $(seq 600); do pgrep -P "$1" burn >/dev/null && break; read -t 0.05 -r <&3; done
	read -t 0.2 -r <&3
	for ((i = 0; i < $3; i++)); do
		kill -STOP "$1"
		read -t "$2" -r <&3
		kill -CONT "$1"
		read -t 0.2 -r <&3
	done
}

# Stopped again and again for nearly as long as that.
still() {
	precord -q -a -e cpu-clock -F 999 -o still.trace -- ./burn burn $((4 * cpus)) $seconds & recorder=$!
	(stop_often $recorder "$(awk -v s="$still" 'BEGIN { print 0.7 * s }')" $((2 * seconds - 2)))
	wait $recorder
}
for _ in 1 2 3; do
	still
	read -r samples lost shortened <<<"$(counts still.trace)"
	echo "stopped for 0.7 of $still s: $samples samples, $lost lost, $shortened shortened"
	[ "$lost" = 0 ] || [ ! $may_hurry ] || continue
	break
done
[ "$lost" = 0 ] || [ ! $may_hurry ] || fail "$lost samples were lost by a recorder that stood still for less than it may"

if [ $may_hurry ]; then
	niced() { nice -n 19 precord -q -a -e cpu-clock -F 999 -o nice.trace -- nice -n 0 ./burn burn $((4 * cpus)) $seconds; }
	lossless niced 'the recorder niced' nice.trace

	crowded() { nice -n 19 precord -q -a -e cpu-clock -F 999 -o crowd.trace -- ./burn crowd 4096 $seconds; }
	lossless crowded 'a crowd of 4,096 busy threads' crowd.trace
fi

# Stopped for longer than that: shorter stacks come first, so that only in the beginning samples are lost.
precord -q -a -e cpu-clock -F 999 -m 8M -o pressed.trace -- ./burn burn $((4 * cpus)) 5 & recorder=$!
(stop_often $recorder 0.3 8)
wait $recorder
read -r samples lost shortened <<<"$(counts pressed.trace)"
echo "pressed: $samples samples, $lost lost, $shortened shortened"
[ "$shortened" -gt 500 ] || fail "only $shortened stacks were shortened"
[ "$lost" -lt "$shortened" ] || fail "$lost samples were lost although short stacks would have found room"
preport -i pressed.trace info --format=json >info.json 2>/dev/null
grep -q '"shortened": [1-9].*"throttled"' info.json || { cat info.json; fail "shortened stacks are not on the time line"; }

# Stopped for longer than its rings last: samples and losses together are what the clock gave.
precord -q -a -e cpu-clock -F 999 -m 1M -o stopped.trace --duration 4 & recorder=$!
./burn burn $cpus 30 & burn=$!
begun $recorder stopped.trace
sleep 0.5
kill -STOP $recorder
./burn storm 500
sleep 1
kill -CONT $recorder
wait $recorder
kill $burn; pkill -P $burn; wait $burn
read -r samples lost shortened <<<"$(counts stopped.trace)"
echo "stopped: $samples samples, $lost lost, $shortened shortened"
[ "$lost" -gt 0 ] || fail "nothing was lost by a recorder that stood still"
preport -i stopped.trace script --all --format=json >events.json 2>/dev/null
grep -q '"kind": "lost"' events.json || fail "no loss on the time line"
forks=$(grep -c '"kind": "fork"' events.json)
[ "$forks" -ge 500 ] || fail "only $forks of 500 forks came through"

# The kernel is asked for as many samples as fit the time that the CPUs were busy.
preport -i stopped.trace --by cpu >/dev/null || fail "the file does not read"

# Periods of software events are what was asked for.
cat >touch.c <<'END'
#include <sys/mman.h>
int main(void)
{
	char *memory = mmap(0, 4096000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, 4096000, MADV_NOHUGEPAGE);
	for (int i = 0; i < 1000; i++)
		memory[i * 4096] = 1;
	return 0;
}
END
$CC -O1 -o touch-pages touch.c || fail "cannot compile"
precord -q -e page-faults -c 100 -o faults.trace -- ./touch-pages
preport -i faults.trace script --format=json 2>/dev/null | grep -o '"period": [0-9]*' | sort -u >periods.txt
[ "$(cat periods.txt)" = '"period": 100' ] || fail "periods: $(cat periods.txt)"
exit 0

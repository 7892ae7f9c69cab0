#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# alone
# Nothing is lost in the ordinary case, and what is lost otherwise is counted to the last sample; mappings and
# forks come through whatever happens to samples.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_system_wide

cat >burn.c <<'END'
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
/* burn N: N processes with deep stacks; storm N: N short processes */
int main(int argc, char **argv)
{
	int n = atoi(argv[2]);
	(void)argc;
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
$CC -O0 -o burn burn.c || fail "cannot compile"
cpus=$(nproc)

# counts FILE: samples and losses over all CPUs, as the kernel counted them
counts() { preport -i "$1" info 2>/dev/null | awk '$1 == "cpu-clock" && NF >= 8 { s += $(NF-5); l += $(NF-4); h += $(NF-1) } END { gsub(",", "", s); print s + 0, l + 0, h + 0 }'; }

precord -q -a -e cpu-clock -F 999 -o busy.trace -- ./burn burn $((4 * cpus)) 3
read -r samples lost shortened <<<"$(counts busy.trace)"
echo "busy: $samples samples, $lost lost, $shortened shortened"
[ "$lost" = 0 ] || fail "$lost samples were lost with all CPUs oversubscribed"
[ "$samples" -gt $((cpus * 1500)) ] || fail "only $samples samples"

nice -n 19 precord -q -a -e cpu-clock -F 999 -o nice.trace -- nice -n 0 ./burn burn $((4 * cpus)) 3
read -r samples lost shortened <<<"$(counts nice.trace)"
echo "nice: $samples samples, $lost lost"
[ "$(id -u)" != 0 ] || [ "$lost" = 0 ] || fail "$lost samples were lost by a recorder that was niced"

# Stopped for longer than its rings last: samples and losses together are what the clock gave.
precord -q -a -e cpu-clock -F 999 -m 1M -o stopped.trace --duration 4 & recorder=$!
./burn burn $cpus 6 & burn=$!
sleep 1
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

# Short-lived processes, all of them.
precord -q -e cpu-clock -F 99 -o storm.trace -- ./burn storm 5000
preport -i storm.trace script --all --format=json 2>/dev/null >events.json
for kind in fork exit; do
	found=$(grep -c "\"kind\": \"$kind\"" events.json)
	[ "$found" -ge 5000 ] || fail "$found of 5000 $kind events"
done

# Periods of software events are what was asked for.
precord -q -e page-faults -c 100 -o faults.trace -- sh -c 'for i in 1 2 3 4 5 6 7 8; do ls -R /usr/include >/dev/null; done'
preport -i faults.trace script --format=json 2>/dev/null | grep -o '"period": [0-9]*' | sort -u >periods.txt
[ "$(cat periods.txt)" = '"period": 100' ] || fail "periods: $(cat periods.txt)"
exit 0

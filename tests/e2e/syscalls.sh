#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each system call of a program is counted, with how long it took and how it failed; the function that made it is named.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
precord -q --trace-syscalls -o try.trace -- true 2>try.err || skip "system calls cannot be recorded here: $(head -n 1 try.err)"

cat >calls.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static __attribute__((noinline)) void ask_often(void) { for (int i = 0; i < 20000; i++) syscall(SYS_getppid); }
static __attribute__((noinline)) void fail(void) { for (int i = 0; i < 300; i++) (void)!open("/no/such/file", O_RDONLY); }
static void *rest(void *arg) { for (int i = 0; i < 30; i++) nanosleep(&(struct timespec){ 0, 5000000 }, NULL); return arg; }
int main(void)
{
	pthread_t other;
	pthread_create(&other, NULL, rest, NULL);
	ask_often();
	fail();
	pthread_join(other, NULL);
	return 0;
}
C
$CC -O2 -g -o calls calls.c -lpthread

precord -q --trace-syscalls -o c.trace -- ./calls
preport syscalls -i c.trace
preport syscalls -i c.trace -n 0 --format=csv | columns syscall calls errors total_ns >rows
lost=$(preport info -i c.trace | awk '$1 == "Lost" { print $2; exit }')
[ "$lost" = 0 ] || skip "$lost records were lost"
grep -q "^getppid	20000	0	" rows || { cat rows; fail "getppid was called 20,000 times"; }
awk -F'\t' '$1 == "openat" && $3 >= 300 && $2 > $3 { found = 1 } END { exit !found }' rows || { cat rows; fail "300 files are not there"; }
awk -F'\t' '$1 == "clock_nanosleep" && $2 == 30 && $4 >= 150000000 { found = 1 } END { exit !found }' rows ||
	{ cat rows; fail "30 naps of 5 ms"; }
preport syscalls -i c.trace --by error --format=csv | columns error calls >errors
awk -F'\t' '$1 == "ENOENT" && $2 >= 300 { found = 1 } END { exit !found }' errors || { cat errors; fail "ENOENT"; }

# Who makes them: stacks are sampled, and the time of calls is the same in every table.
preport -i c.trace --event syscalls --by syscall,leaf --format=csv | columns syscall function weight >who
grep -q "^getppid	ask_often	" who || { cat who; fail "ask_often asks"; }
sum() { preport -i c.trace --event syscalls --by "$1" -n 0 --format=csv | columns weight | awk '{ ns += $1 } END { printf "%.0f\n", ns }'; }
all=$(awk -F'\t' '{ ns += $4 } END { printf "%.0f\n", ns }' rows)
for level in syscall leaf thread; do
	[ "$(sum $level)" = "$all" ] || fail "by $level: $(sum $level) ns, and $all in all"
done

# JSON has the histogram of each row, whose calls add up.
preport syscalls -i c.trace -n 0 --format=json >c.json
python3 -c '
import json
whole = json.load(open("c.json"))
assert whole["calls"] == sum(row["calls"] for row in whole["rows"])
for row in whole["rows"]:
    assert row["calls"] == sum(bucket["calls"] for bucket in row["histogram"]), row
'

# The summary is about CPU time, and says what else there is; a recording without them says how to get them.
preport -i c.trace >summary
grep -q 'preport.* syscalls' summary || { cat summary; fail "the summary does not tell of the system calls"; }
precord -q -e cpu-clock -o n.trace -- true
preport syscalls -i n.trace 2>err && fail "there are none"
grep -q 'precord --trace-syscalls' err || { cat err; fail "no remedy"; }

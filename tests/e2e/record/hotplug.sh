#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# alone
# A CPU that goes off line and comes back while everything is recorded: it is named, it is sampled again, and
# nothing else suffers.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_system_wide
switch=/sys/devices/system/cpu/cpu1/online
{ [ "$(cat $switch 2>/dev/null)" = 1 ] && echo 1 >$switch; } 2>/dev/null || skip "CPU 1 cannot be taken off line here"
$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread || fail "cannot compile"
trap 'echo 1 >$switch; kill $busy 2>/dev/null' EXIT

# The group's busy processes move to the other CPUs and back.
./shares threads 300 & busy=$!
precord -a -e cpu-clock -F 499 -o cpu.trace 2>err.txt & recorder=$!
begun $recorder cpu.trace
sleep 2
echo 0 >$switch || skip "CPU 1 cannot be taken off line here"
sleep 1.5
echo 1 >$switch || fail "CPU 1 does not come back"
sleep 4
kill -TERM $recorder
wait $recorder || { cat err.txt; fail "precord: status $?"; }

grep -q '^precord: warning: CPU 1 went off line' err.txt || { cat err.txt; fail "nothing is said about the CPU that went"; }
grep -q '^precord: warning: CPU 1 was off line for a while' err.txt || { cat err.txt; fail "nothing is said about the CPU that came back"; }
preport -i cpu.trace info >info.txt 2>&1 || { cat info.txt; fail "the file does not read"; }
grep -q 'CPU 1 went off line' info.txt || { cat info.txt; fail "the file does not say it"; }

# When CPU 1 was sampled, in halves of a second since the first sample: at first, not in between, and at the end.
preport -i cpu.trace script --no-chain --format=json 2>/dev/null |
	sed -n 's/.*"time_ns": "*\([0-9]*\).*"cpu": 1,.*/\1/p' | sort -n >times.txt
[ -s times.txt ] || { preport -i cpu.trace script --no-chain --format=json 2>/dev/null | head -n 3; fail "no samples of CPU 1"; }
awk 'NR > 1 && $1 - last > gap { gap = $1 - last; after = NR }
	{ last = $1 }
	END { print "longest gap: " gap / 1e6 " ms, samples before: " after - 1 ", after: " NR - after + 1
	      exit !(gap > 5e8 && after > 50 && NR - after > 50) }' times.txt || fail "CPU 1 was not recorded before and after"
exit 0

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ratios of counts: known ones of the stand-in, a real PMU's if there is one, and what is refused.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/fakepmu.bash"
need_system_wide

refused() { # refused TEXT ARGUMENT...: preport fails and says so
	preport -i t.trace "${@:2}" >out 2>&1 && fail "was taken: ${*:2}"
	expect "$1" out
}

# Each millisecond 1000 cycles, 1001 instructions: 1001 / 1000 in every function, without doubt.
on amd precord -q -a -e '{cycles,instructions}:S' -o t.trace -- true || fail "recording"
preport -i t.trace --metric 'ipc,odd=1000*instructions/cycles-1001' >out 2>&1 && fail "'cycles-1001' is one name"
preport -i t.trace --metric 'ipc,odd=1000 * instructions / cycles - 1001' --format=csv >out || fail "a table"
expect 'ipc,ipc_low,ipc_high,ipc_samples,odd' out
rows=$(grep -c ',1.001000,1.001000,1.001000,[0-9]*,0.000000,' out)
[ "$rows" = 2 ] || { cat out; fail "$rows of 2 functions"; }
preport -i t.trace --metric ipc >out || fail "text"
expect 'counted from sample to sample' out

refused "needs 'cache-misses'" --metric cache-miss-rate
expect "precord -e '{cycles,cache-misses,cache-references}:S'" out
refused "did you mean 'ipc'" --metric ipd
refused 'leads back to itself' --metric 'a=b,b=a'
refused 'division by zero' --metric 'a=cycles/0'
echo 'metric mine % = cycels / instructions' >mine
refused "mine:1: metric 'mine': 'cycels' is neither metric nor event" --metrics mine --metric mine
refused '--metrics goes with --metric' --metrics mine
echo 'metric mine % = cycles / instructions ; the other way round' >mine
preport -i t.trace --metrics mine --metric mine >out || fail "a file of one's own"
expect '99.9 %' out
mkdir -p config/preport && cp mine config/preport/metrics
XDG_CONFIG_HOME=$PWD/config preport -i t.trace --metric mine >out || fail "one's own metrics"
expect '99.9 %' out

# Of a function, its loop and its instructions; fakepmu_hot has 150 samples on one instruction on each CPU.
preport -i t.trace annotate fakepmu_hot --metric ipc >out || fail "annotate"
expect 'ipc 1.00 (1.00-1.00)' out
preport -i t.trace annotate fakepmu_hot --metric ipc --format=csv >out || fail "annotate as CSV"
expect 'metric_ipc_low' out
grep -q ',1.001000,1.001000,1.001000,' out || fail "no instruction has its ratio"

# Members that sample on their own: marked. In two groups: refused.
on amd precord -q -a -c 1000 -e cycles,instructions -o t.trace -- true || fail "two events"
preport -i t.trace --metric ipc >out || fail "apart"
expect 'ipc*' out
expect 'not counted together' out
on amd precord -q -a -e '{cycles,r1}:S,{branches,instructions}:S' -o t.trace -- true || fail "two groups"
refused 'did not count its events together' --metric ipc

# Shared out in turns: 12 events on 6 counters ran half of the time.
on amd precord -q -a -e '{cycles,instructions,r1,r2,r3,r4}:S,{r5,r6,r7,r8,r9,ra}:S' -o t.trace -- true || fail "shared"
preport -i t.trace --metric ipc >out || fail "shared counters"
expect 'multiplexed: counted 50.0 % of the time' out

# A PMU of flesh and blood: a chain of multiplications waits for itself, independent additions do not.
# How fast these are depends on what the core's other thread does.
"$BUILD/precord" stat -e cycles,instructions -- true >out 2>&1
grep -q 'not supported' out && exit 0
"$CC" -O1 -g -o loops "$TOP/tests/programs/ipc_loops.c" || fail "cannot compile"
precord -q -F 997 -e '{cycles:u,instructions:u}:S' -o t.trace -- ./loops || exit 0
preport -i t.trace --no-inline --metric ipc --format=csv >out || fail "of a real PMU"
awk -F, 'NR > 1 && $11 == "chained" { slow = $9 } NR > 1 && $11 == "independent" { fast = $8 }
	 END { exit !(slow > 0 && slow < 1.5 && fast > 2 * slow && fast < 8) }' out || { cat out; fail "ipc of known loops"; }
exit 0

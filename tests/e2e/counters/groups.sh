#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Groups on machines with PMUs: who samples, what is too large, and who is to blame for that.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/fakepmu.bash"
need_system_wide

try() { # try MACHINE EVENTS: what precord says
	on "$1" precord -q -a -e "$2" -o t.trace -- true >out 2>&1
}

# Slots lead and are read; the second event samples; every sample has the counts of all.
try intel '{slots,cycles,topdown-retiring,topdown-be-bound}:S' || { cat out; fail "a top-down group"; }
preport -i t.trace script --format=json >samples || fail "its trace cannot be read"
expect '"event": "cycles"' samples
grep -q '"event": "slots", "period"' samples && fail "slots sampled"

try intel '{slots,topdown-retiring}:S' && fail "nothing of this group can sample"
expect 'no event of the group can sample' out
try intel 'topdown-retiring' && fail "a metric without slots"
try intel 'mem-loads' && fail "mem-loads without its helper"
expect 'mem-loads-aux,mem-loads' out
try intel '{mem-loads-aux,mem-loads:P}' || { cat out; fail "mem-loads behind its helper"; }

# Too large: refused by x86, accepted and never run by Arm; weak groups are taken apart.
large=cycles,r1,r2,r3,r4,r5,r6,r7,r8
try intel "{$large}:S" && fail "9 events on 8 counters"
expect 'too large: 9 events at once are more than the PMU has counters for' out
try arm "{$large}:S" && fail "9 events on 7 counters"
expect 'too large: 9 events at once are accepted by the kernel, but never counted' out
try arm "{$large}:W" || { cat out; fail "a weak group is taken apart"; }
try arm '{cycles,r1,r2,r3,r4,r5,r6}:S' || { cat out; fail "7 events on 7 counters"; }

# What fits only without the watchdog.
NMI=1 try intel '{cycles,r1,r2,r3,r4,r5,r6,r7}:S' && fail "8 events on 7 counters"
expect 'the NMI watchdog holds a counter: sysctl kernel.nmi_watchdog=0' out

# Counters that others hold: an event that never had one is not counted, which is not 0; the others are multiplexed.
FAKEPMU_TAKEN=6 on amd precord -a -e cycles -o t.trace -- sleep 0.1 >out 2>&1 || { cat out; fail "without a counter"; }
expect "not counted, no counter was free: 'cycles'" out
preport -i t.trace info >info || fail "info of what was not counted"
grep -q '^cycles  *0  *0  *not counted  *never ' info || { cat info; fail "not counted, never"; }
preport -i t.trace >out 2>&1 && fail "a report of nothing"
expect "'cycles' never had a counter" out
NMI=1 FAKEPMU_TAKEN=5 on amd precord -a -e cycles -o t.trace -- sleep 0.1 >out 2>&1 || { cat out; fail "without a counter"; }
expect 'the NMI watchdog holds a counter' out
FAKEPMU_TAKEN=4 on amd precord -a -g none -e cycles,instructions,branches,cache-misses -o t.trace -- sleep 0.1 >out 2>&1 ||
	{ cat out; fail "four events on two counters"; }
expect "4 events were multiplexed; 'cycles' was counted least, 50 % of the time" out
preport -i t.trace info | grep -q '^branches .* 50\.0 % ' || { preport -i t.trace info; fail "half of the time"; }

# Each kind of core of a hybrid machine has its own cycles.
try hybrid cycles || { cat out; fail "cycles of a hybrid machine"; }
preport -i t.trace info >info || fail "info"
expect 'cpu_core/cycles/' info
expect 'cpu_atom/cycles/' info
rows() { # rows TRACE: event, CPU and whether there were samples, of each row of info
	preport -i "$1" info --format=csv | tr -d '\r' | awk -F, '$1 ~ /\// && $2 ~ /^[0-9]+$/ { print $1, $2, ($3 > 0) }' | sort
}
# Each on its own CPUs, and nowhere else: the stand-in refuses the others, as Linux does.
cpus() { # cpus MACHINE EVENT EXPECTED
	on "$1" precord -q -a -e "$2" -o t.trace -- sleep 0.2 >out 2>&1 || { cat out; fail "$2 on $1"; }
	rows t.trace | grep ' 1$' >got
	printf '%s\n' "$3" | diff - got || fail "$2 on $1: not on the right CPUs"
}
cpus hybrid cycles 'cpu_atom/cycles/ 1 1
cpu_core/cycles/ 0 1'
cpus hybrid cpu_atom/cpu-cycles/ 'cpu_atom/cpu-cycles/ 1 1'
cpus biglittle cycles 'armv8_cortex_a55/cycles/ 0 1
armv8_cortex_a76/cycles/ 1 1'
cpus biglittle armv8_cortex_a76/cpu_cycles/ 'armv8_cortex_a76/cpu_cycles/ 1 1'
on biglittle precord stat --format=csv -a --per-cpu -e cycles -- true >out 2>&1 || fail "counting on big.LITTLE"
[ "$(grep -c 'cycles/.*,counted' out)" = 2 ] || { cat out; fail "cycles of two kinds of cores"; }
on biglittle precord -q -e cycles -o t.trace -- true >out 2>&1 || { cat out; fail "a process on big.LITTLE"; }

# The most precise level is found by trying, and told; what is not to be had is refused with the level that is.
on hybrid precord -a -e cycles:P -o t.trace -- true >out 2>&1 || { cat out; fail "as precise as can be"; }
expect 'cpu_atom/cycles/P: precision 3 of 3' out
on amd precord -a -e cycles:P -o t.trace -- true >out 2>&1 || { cat out; fail "as precise as AMD can be"; }
expect 'cycles:P: precision 2 of 3' out
try amd cycles:ppp && fail "more precise than there is"
expect 'the PMU supports level 2, not 3' out

# Counters of CPUs count for everybody: of a command's recording, members that do not sample have what its samples say.
while :; do /bin/true; done &
other=$!
precord -q -F 499 -e '{cpu-clock,page-faults}:S' -o t.trace -- \
	sh -c 'for i in $(seq 200); do /bin/true; done'
kill $other
preport -i t.trace script --format=json |
	sed -n 's/.*"cpu": \([0-9]*\),.*"event": "page-faults", "value": \([0-9]*\),.*/\1 \2/p' |
	awk '{ last[$1] = $2 } END { for (cpu in last) sum += last[cpu]; print sum + 0 }' >said
preport -i t.trace info --format=csv | tr -d '\r' | awk -F, '$1 == "page-faults" { sum += $4 } END { print sum + 0 }' >counted
[ "$(cat said)" -gt 1000 ] && diff said counted || { preport -i t.trace info; fail "what page-faults counted"; }

# A counter that gives an interrupt in three, although it counted for all, and one that gives all.
# An interpreter beside it has precord go over to the events' twins.
python3 -c 'while True: pass' 2>/dev/null &
other=$!
FAKEPMU_DEAF=3 on intel precord -a -e cycles -o t.trace -- sleep 0.4 >out 2>&1 || { cat out; fail "a deaf counter"; }
kill $other
ncpus=$(getconf _NPROCESSORS_ONLN)
expect "'cycles' gave $((66 * ncpus)) of the $((200 * ncpus)) samples that its count implies: its counter" out
expect '-e cpu-clock samples by a timer' out
preport -i t.trace >out 2>/dev/null
expect 'cycles: 67.0 % of the samples that its count implies never came, for the counter' out
on intel precord -a -e cycles -e instructions -o t.trace -- sleep 0.2 >out 2>&1 || { cat out; fail "two counters"; }
! grep 'count implies' out || fail "samples are missing that came"
exit 0

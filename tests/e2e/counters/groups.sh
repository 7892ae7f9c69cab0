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

# Each kind of core of a hybrid machine has its own cycles.
try hybrid cycles || { cat out; fail "cycles of a hybrid machine"; }
preport -i t.trace info >info || fail "info"
expect 'cpu_core/cycles/' info
expect 'cpu_atom/cycles/' info
exit 0

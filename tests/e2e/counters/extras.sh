#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What samples of hardware events carry: branches, data addresses, weights, and the counts of their group.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/fakepmu.bash"
need_system_wide
first() { preport -i t.trace script --format=json | grep -m 1 '"kind": "sample"'; }

on intel precord -q -a -b -d --weight -e cycles:P -o t.trace -- true 2>out || { cat out; fail "extras"; }
expect 'cycles:P: precision 3 of 3' out
first >sample
[ "$(grep -o '"from"' sample | wc -l)" = 8 ] || fail "8 branches were given"
[ "$(grep -o '"mispredicted": true' sample | wc -l)" = 2 ] || fail "2 of them mispredicted"
expect '"cycles": 17' sample
expect '"weight": 5' sample
expect '"data_src": "0x68100142"' sample
expect '"addr": ' sample

preport -i t.trace info --format=csv | tr -d '\r' >info
samples=$(sed -n 's/^samples,//p' info)
for fact in "branches,$((8 * samples))" "with_branches,$samples" "with_data_address,$samples" "with_weight,$samples"; do
	expect "$fact" info
done

on amd precord -q -a -e cycles:P -o t.trace -- true 2>out || fail "amd"
expect 'cycles:P: precision 2 of 3' out
on arm precord -q -a -b -o t.trace -- true 2>out && fail "branches on Arm"
expect 'the PMU records no branches of this kind here' out
on intel precord -q -a -b -e cpu-clock -o t.trace -- true 2>out && fail "branches of a clock"
expect 'no event that is sampled can have branch stacks' out

# What no event has is refused, what some lack is said; nothing is recorded as zeros.
on arm precord -q -a -d -o t.trace -- true 2>out && fail "data addresses on Arm"
expect 'no event that is sampled has data addresses: cycles had none when tried' out
on amd precord -q -a --weight -o t.trace -- true 2>out && fail "weights on AMD without IBS"
expect 'no event that is sampled has weights: cycles had none when tried' out
on intel precord -q -a -d -e cycles -o t.trace -- true 2>out && fail "data addresses of inexact samples"
expect 'sample exactly: -e cycles:P' out
on intel precord -a -d -e cycles:P,instructions -o t.trace -- true 2>out || fail "one of two has data"
expect 'samples of instructions have no data addresses' out
precord -q -d -e cpu-clock -o t.trace -- true 2>out && fail "data addresses of a clock"
expect 'cpu-clock had none when tried' out
precord -q -d -e page-faults -o t.trace -- true || fail "page faults have an address"

precord -q -j any,wobble -- true 2>out && fail "an unknown filter"
expect "no branch filter 'wobble'" out

# Counts of a group are those that the stand-in gives by construction.
on intel precord -q -a -e '{slots,cycles,topdown-retiring}:S' -o t.trace -- true || fail "group"
first >sample
expect '{"event": "slots", "value": 6000, "enabled_ns": 1000000, "running_ns": 1000000}, {"event": "cycles", "value": 1001' sample
expect '{"event": "topdown-retiring", "value": 2400' sample
exit 0

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# precord --topdown and preport topdown on processors that are played, and on this machine. The stand-in's counts are
# known (tests/fakepmu/samples.c): 1000 a millisecond and one more for each place in the group.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/fakepmu.bash"
need_system_wide

record() { # record MACHINE [LEVEL]: a trace, and what precord said in out
	on "$1" precord -a --topdown="${2-1}" -o t.trace -- true >out 2>&1 || { cat out; fail "recording on $1"; }
}
part() { # part KEY VALUE: what the whole's part is
	preport -i t.trace topdown --format=csv >parts || fail "preport topdown"
	grep -q "^all,,,1.000000,[0-9]*,$1,[a-z-]*,$2," parts || { head -n 20 parts; fail "$1 is not $2"; }
}
text() { # text WORDS: what preport topdown says
	preport -i t.trace topdown >said || fail "preport topdown"
	expect "$1" said
}

# Intel: slots lead, cycles sample, metrics are read. 0.2 - 1006 / 6000 are the front end's.
record intel
part frontend 0.032333
part retiring 0.400000
part backend 0.300000
part bad-spec 0.267667
text 'top-down on Intel Golden Cove'
text 'surely: back end bound 30 % (30-30) of slots; precord --topdown=2 divides it'
text 'preport -i t.trace annotate fakepmu_hot'
grep -q 'memory bound' said && fail "level 2 was not asked for"
record intel 2
part memory 0.200000
part heavy 0.050000
preport -i t.trace html -o report.html 2>out || { cat out; fail "a page with top-down"; }
expect '<h2>Top-down' report.html
expect '<th scope="row" class="left">memory bound</th><td>20.0 %</td>' report.html
expect '<rect y="1" height="8" width="20.00"/>' report.html
record hybrid
expect "only those of 'cpu_core' are looked at" out

# AMD: six counters for six events; with five contention is what is left.
record amd
part frontend 0.166833
part bad-spec 0.000000
part smt 0.167500
text 'the parts sum to 66.9 %'
NMI=1 record amd
part smt 0.499000
record amd 2
part fetch-latency '0.16683[0-9]'
text 'multiplexed: counted'
preport -i t.trace topdown --format=json >said || fail "JSON"
expect '"model": "zen4"' said
on amd precord -q -a --topdown=1,apart -o t.trace -- true || fail "apart"
text 'each event sampled on its own (method 2)'

# Arm: cycles on N1, slots on V1.
record arm
expect 'counts no slots' out
part backend 1.002000
sed -i 's/0xd0c/0xd40/' machines/arm/cpuinfo
record arm
text 'Arm Neoverse V1, 8 slots a cycle'

# precord stat: the same fractions, from counts alone, in each of its layouts.
on intel precord stat --topdown -- true 2>out || { cat out; fail "stat --topdown"; }
expect 'top-down: Intel Golden Cove' out
grep -q '^ *30.0 %  back end bound  *more than 20 %$' out || { cat out; fail "the part that stands out"; }
grep -q 'memory bound\|spr.slots' out && fail "level 2, or an event of the tree's, in the text"
on intel precord stat --td-level 2 --topdown=2 -x, -o out -- true || fail "stat --topdown=2 -x"
expect '20.0,%,topdown.memory,' out
on intel precord stat -a --topdown=2 --per-cpu --format=csv -o out -- true || fail "stat --topdown=2 --format=csv"
[ "$(grep -c ',topdown.memory,0.200000,of slots,' out)" -ge 1 ] || fail "a row for each CPU"
on amd precord stat --topdown=2 --format=json -o out -- true || fail "stat --topdown=2 --format=json"
python3 -c '
import json
rows = {r["event"]: r for r in json.load(open("out"))["counts"]}
assert abs(rows["topdown.smt"]["value"] - 0.1675) < 1e-6, rows
assert rows["zen4.cycles"]["state"] == "counted"' || fail "JSON of stat --topdown"
on amd precord stat --topdown=2 -- true 2>out
expect 'top-down: counted 40 % of the time or more, scaled up' out
precord stat --topdown=1,apart -- true >out 2>&1 && fail "stat takes samples"
expect "',apart' is for samples" out

# Processors without a table: what comes nearest, and why.
sed -i 's/: 17$/: 1/' machines/amd/cpuinfo
record amd
expect "AMD's processors before Zen 4 have no events for issue slots" out
preport -i t.trace topdown >out 2>&1 || fail "the nearest"
expect 'ipc' out
expect 'no issue slots were counted' out
on intel precord -a --topdown=1,apart -o t.trace -- true >out 2>&1 && fail "PERF_METRICS cannot sample"
expect 'cannot sample' out
precord --topdown=3 -- true >out 2>&1 && fail "level 3"
expect "'3' is not a level" out

# Without counts: one sentence, status 1.
precord -q -e cpu-clock -o t.trace -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done' || fail "clock"
preport -i t.trace topdown >out 2>&1
[ $? = 1 ] || fail "status $?"
expect 'precord --topdown' out

# This machine: its own words, whatever it is.
precord --topdown -o t.trace -- true >out 2>&1 || expect 'needs hardware counters' out
exit 0

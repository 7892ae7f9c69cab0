#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where threads switch too often, switches are recorded for a part of the time: that is said, and how long threads waited is still
# what their own clocks say. Who waits beside such a neighbour, which is not recorded, keeps each switch.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
precord -q -e off-cpu -o try.trace -- sleep 0.01 2>try.err || skip "switches cannot be recorded here: $(head -n 1 try.err)"
command -v python3 >/dev/null || skip 'python3 is not installed'
[ -e /proc/thread-self/schedstat ] || skip "this kernel keeps no account of threads"
$CC -O2 -g -o waits "$TOP/tests/programs/waits.c" -lpthread
left_out='switches were recorded for .* % of the time'

# At once, whatever else runs: its pace is none of a busy machine.
first=
! chrt -f 1 true 2>/dev/null || first='chrt -f 1'
sum_is_exact() { # sum_is_exact OPTION...: of a flood that is recorded so, for a part of the time, the sum is the program's
	precord "$@" -o g.trace -- $first ./waits handoff "$rounds" >truth 2>err || { cat err; fail "the recording: $*"; }
	preport -i g.trace --event wall --by thread,state -n 0 >table
	grep -q "$left_out" err || { cat err; return 1; }
	grep "$left_out" err
	grep -q "$left_out.* scheduler's account" <(tr '\n' ' ' <table) || { cat table; fail "the table does not say so: $*"; }
	read -r _ own_ns <truth
	preport -i g.trace --event wall --by thread,state -n 0 --format=csv | columns thread state weight |
		awk -F'\t' '$1 == "ping" || $1 == "pong"' >rows
	awk -F'\t' -v own="$own_ns" -v slack="$slack" '
		{ all += $3 }
		$2 ~ /^\[switches (left out|lost)\]$/ { open += $3; next }
		$2 != "on a CPU" { ns += $3 }
		END {
			print "waited " ns " ns, by its own clocks " own ", " open + 0 " ns not known, of " all
			exit !(own >= ns - all * slack && own <= ns + open + all * slack)
		}' rows || { cat rows; fail "the sum is not the program's: $*"; }
}
rounds=60 slack=0.08
sum_is_exact --off-cpu || skip "the flood is none here: $(cat truth)"
rounds=20 slack=0.2 # so few turns
sum_is_exact --switch-events || fail "--switch-events records all of a flood"
if precord -q --wakers -o try.trace -- sleep 0.01 2>/dev/null; then
	sum_is_exact --off-cpu --wakers || fail "--wakers records all of a flood"
fi
precord --off-cpu --all-switches -o all.trace -- ./waits handoff 10 >/dev/null 2>err || { cat err; fail "--all-switches"; }
! grep "$left_out" err || fail "--all-switches records a part"

# Its neighbour is recorded whole.
./waits handoff 1000 >/dev/null &
neighbour=$!
precord --off-cpu -o q.trace -- ./waits sleep 100 >truth 2>err || { kill $neighbour; cat err; fail "the quiet one"; }
kill $neighbour
# The recorder needs a while to see what its neighbours do: until then, and longer if it is slow, switches may be left out.
watched=$(sed -n 's/.*switches were recorded for \([0-9]*\) % of the time.*/\1/p' err)
[ "${watched:-100}" -ge 50 ] || { cat err; fail "a neighbour's switches thin those of who is recorded"; }
read -r waits late stacks <<<"$(preport script -a -i q.trace --format=json | python3 -c '
import json, sys
events = [json.loads(line) for line in sys.stdin]
outs = [e["time_ns"] for e in events if e["kind"] == "switch" and not e["in"] and not e.get("preempted")]
from_ns = outs[len(outs) // 2]
stacks = [e for e in events if e["kind"] == "sample" and e["event"] == "off-cpu" and "cpu" in e and e["time_ns"] >= from_ns]
print(len(outs), sum(t >= from_ns for t in outs), len(stacks))')"
echo "the quiet one left its CPU $waits times by itself; of the last $late, $stacks have a stack"
[ "$waits" -ge 100 ] || fail "$waits switches of 100"
# Its stacks are not thinned because of the neighbour: with one stack for 15 and more switches there were a few.
[ "$stacks" -ge $((late / 2)) ] || fail "a neighbour's switches thin the stacks of who is recorded"

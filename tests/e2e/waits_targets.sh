#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whose waits are recorded: of a cgroup what it holds and nobody else, of -t the thread that was named; --idle looks at both,
# and its time is part of wall.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
precord -q -e off-cpu -o try.trace -- sleep 0.01 2>try.err || skip "switches cannot be recorded here: $(head -n 1 try.err)"
$CC -O2 -g -o waits "$TOP/tests/programs/waits.c" -lpthread

threads() { # threads TRACE EVENT: the numbers of those that the report has
	preport -i "$1" --event "$2" --by tid -n 0 --format=csv 2>/dev/null | columns tid | sort -u
}
# adds_up TRACE: threads' times on the wall are no longer than the recording of 0.7 s and a look; looks miss what is between
adds_up() {
	preport -i "$1" --event wall --by state -n 0 --format=csv | columns state weight >rows
	awk -F'\t' '{ ns += $2; has[$1] = 1 } END { print ns / 1e9 " s"; exit !(ns > 0 && ns < 0.9e9 && has["blocked"]) }' rows ||
		{ cat rows; fail "$1: time on the wall"; }
}

./waits condition 100000 >/dev/null & neighbour=$!
trap 'kill $neighbour 2>/dev/null' EXIT

# The thread that waits for its turn, not the process's first.
until [ "$(ls /proc/$neighbour/task | wc -l)" -gt 1 ]; do sleep 0.02; done
thread=$(ls /proc/$neighbour/task | tail -n 1)
precord -e cpu-clock --idle=50 -t "$thread" --duration 0.7 -o t.trace 2>err || { cat err; fail "--idle of a thread"; }
[ "$(threads t.trace idle)" = "$thread" ] || { threads t.trace idle; fail "--idle -t looked at others than $thread"; }
adds_up t.trace

mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -z "$mount" ] || [ ! -w "$mount/cgroup.procs" ] || ! mkdir "$mount/precord-waits.$$" 2>/dev/null; then
	echo "no cgroup can be made here: that part is left out"
	exit 0
fi
sh -c "echo \$\$ >$mount/precord-waits.$$/cgroup.procs; exec ./waits sleep 100000" >/dev/null & member=$!
trap 'kill $neighbour $member 2>/dev/null; wait; rmdir "$mount/precord-waits.$$"' EXIT
until grep -q precord-waits /proc/$member/cgroup && [ "$(cat /proc/$member/comm)" = waits ]; do sleep 0.02; done
precord --off-cpu --idle=50 -G "/precord-waits.$$" --duration 0.5 -o g.trace 2>err || { cat err; fail "a cgroup"; }
for event in wall off-cpu idle; do
	[ "$(threads g.trace $event)" = "$member" ] || { threads g.trace $event; fail "$event of a cgroup has others than $member"; }
done

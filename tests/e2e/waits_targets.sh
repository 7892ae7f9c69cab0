#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whose waits are recorded: of a cgroup what it holds and nobody else, of -t the thread that was named; --idle looks at both,
# and its time is part of wall. In a PID namespace, threads have the numbers that they have where precord runs.
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

# A process that waits all along, recorded within its namespace, and threads of a namespace, recorded from outside.
if [ "$(id -u)" = 0 ] && unshare -p -f --mount-proc true 2>/dev/null; then
	unshare -p -f --mount-proc sh -c 'sleep 1000 & echo $! >inner; precord -q --off-cpu --duration 0.4 -p $! -o n.trace 2>err; kill $!'
	[ "$(threads n.trace off-cpu)" = "$(cat inner)" ] || { cat err inner; threads n.trace off-cpu; fail "a thread of a PID namespace has another number"; }
	precord -q --off-cpu -o n.trace -- unshare -p -f --mount-proc sh -c './waits mutex 5; exit 0' >truth 2>err || { cat err; fail "a PID namespace"; }
	preport -i n.trace --event off-cpu --by tid,leaf -n 0 --format=csv 2>/dev/null | columns function | grep -c '^wait_for_lock$' >waiting
	[ "$(cat waiting)" -ge 2 ] || { cat waiting err; fail "threads of a PID namespace have no stacks"; }
fi

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

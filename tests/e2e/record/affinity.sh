#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The recorder runs where --affinity says, and the command where it would without it.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording

allowed() { sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$1/status"; }
all=$(allowed self)
first=${all%%[-,]*} last=${all##*[-,]}
[ "$first" != "$last" ] || skip "there is only one CPU"

# seen AFFINITY WANTED: the sets of CPUs that the recorder had while the command ran, one a line. The command goes on
# until one of WANTED, a regular expression, was among them for a while, or for a minute.
seen() {
	local affinity=$1 recorder looks=0
	: >go
	precord -q -F 999 --affinity=$affinity -o $affinity.trace -- \
		sh -c 'sed -n "s/^Cpus_allowed_list:.//p" /proc/self/status >command
			for i in 1 2 3; do sh -c "i=0; while [ -e go ] || [ \$i -lt 50000 ]; do i=\$((i + 1)); done" & done; wait' & recorder=$!
	: >sets.txt
	for _ in $(seq 3000); do
		sleep 0.02
		kill -0 $recorder 2>/dev/null || break
		[ -s command ] && allowed $recorder >>sets.txt && looks=$((looks + 1))
		[ $looks -ge 40 ] && grep -qxE "$2" sets.txt && break
	done
	rm go
	wait $recorder || fail "--affinity=$affinity: $?"
	[ "$(cat command)" = "$all" ] || fail "--affinity=$affinity: the command runs on $(cat command) instead of $all"
	rm command
	[ "$(preport -i $affinity.trace --by process --format=csv 2>/dev/null | wc -l)" -gt 2 ] || fail "--affinity=$affinity: hardly a sample"
	sort -u sets.txt
}

[ "$(seen $last $last)" = "$last" ] || fail "--affinity=$last: on $(sort -u sets.txt | tr '\n' ' ')"
[ "$(seen sys "$all")" = "$all" ] || fail "--affinity=sys: on $(sort -u sets.txt | tr '\n' ' ')"
seen cpu '[0-9]+' >cpu.seen || exit 1
grep -qxE '[0-9]+' cpu.seen || { cat cpu.seen; fail "--affinity=cpu: never on the CPU of a ring"; }
seen node '.*' >node.seen || exit 1
if [ "$(ls -d /sys/devices/system/node/node[0-9]* 2>/dev/null | wc -l)" = 1 ] && [ "$(cat /sys/devices/system/node/node0/cpulist)" = "$all" ]; then
	[ "$(cat node.seen)" = "$all" ] || { cat node.seen; fail "--affinity=node: not on all CPUs of the only node"; }
fi

precord -q -F 99 --affinity=60000 -o x.trace -- true 2>err.txt && fail "CPU 60000 is no error"
grep -q 'affinity=60000: the recorder cannot run there' err.txt || { cat err.txt; fail "CPU 60000 is not named"; }
precord -q -F 99 --affinity=cores -o x.trace -- true 2>err.txt
status=$?
[ $status = 125 ] || fail "--affinity=cores: exit status $status"
grep -q "not one of sys, node, cpu" err.txt || { cat err.txt; fail "--affinity=cores: what it may be is not said"; }
exit 0

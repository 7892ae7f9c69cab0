#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# precord's own samples are there and marked, and are not with --exclude-self; another precord at work stays.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_system_wide
$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread || fail "cannot compile"

record() { # record FILE ARGUMENT...: what keeps a recorder busy; its process ID on standard output
	local file=$1 recorder
	shift
	precord -q -a -e cpu-clock -F 999 "$@" -o "$file" -- ./shares plain 2 >/dev/null 2>err.txt & recorder=$!
	wait $recorder || { cat err.txt >&2; fail "precord $*"; }
	[ "$(preport info --format=json -i "$file" 2>/dev/null | sed -n 's/.*"recorder_pid": *"*\([0-9]*\).*/\1/p')" = $recorder ] ||
		fail "$file: the recorder is not process $recorder"
	echo $recorder
}

samples() { # samples FILE PID
	preport -i "$1" --by process --limit 100000 --format=csv 2>/dev/null | columns pid samples |
		awk -F'\t' -v pid="$2" '$1 == pid { n += $2 } END { print n + 0 }'
}

record with.trace >with.pid &
record without.trace --exclude-self >without.pid &
wait
[ -s with.pid ] && [ -s without.pid ] || fail "no recording"
with=$(cat with.pid) without=$(cat without.pid)
[ "$(samples with.trace $with)" -gt 0 ] || skip "the recorder was never sampled"
[ "$(samples without.trace $without)" = 0 ] || fail "--exclude-self: $(samples without.trace $without) samples"
[ "$(samples without.trace $with)" -gt 0 ] || fail "--exclude-self: another precord was left out"
preport -i with.trace --pid $with >page.txt 2>&1
preport -i with.trace --by process --limit 100000 >processes.txt 2>&1
grep -q 'precord, the recorder .*'$with processes.txt || { cat processes.txt; fail "the recorder is not marked by process"; }
[ "$(grep -c 'the recorder' processes.txt)" = 1 ] || { cat processes.txt; fail "somebody else is taken for the recorder"; }
for by in program comm; do
	preport -i with.trace --by $by --limit 100000 >names.txt 2>&1
	grep -q 'precord, partly the recorder' names.txt || { cat names.txt; fail "two recorders are not told apart by $by"; }
	preport -i with.trace --by $by --pid $with >names.txt 2>&1
	grep -q 'precord, the recorder' names.txt || { cat names.txt; fail "the recorder is not marked by $by"; }
done
preport flamegraph --svg -i with.trace -o picture.svg 2>err.txt || { cat err.txt; fail "no picture"; }
grep -q '>precord, the recorder (' picture.svg || fail "the recorder is not marked in the picture"
grep -q '>precord (' picture.svg || fail "the other recorder is not told apart in the picture"
preport html -i with.trace --pid $with -o page.html 2>err.txt || { cat err.txt; fail "no page"; }
grep -q 'the recorder' page.html || fail "the recorder is not marked in the page"
grep -q 'precord .*the recorder' page.txt || { cat page.txt; fail "the recorder is not marked"; }
exit 0

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# precord's own samples are there and marked, and are not with --exclude-self; another precord at work stays.
# slow: it records itself under load
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_system_wide
$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread || fail "cannot compile"

recorder_of() { preport info --format=json -i "$1" 2>/dev/null | sed -n 's/.*"recorder_pid": *"*\([0-9]*\).*/\1/p'; }

samples() { # samples FILE PID
	preport -i "$1" --by process --limit 100000 --format=csv 2>/dev/null | columns pid samples |
		awk -F'\t' -v pid="$2" '$1 == pid { n += $2 } END { print n + 0 }'
}

# One records the other for all of its life, so that it has more samples of it than that has of itself.
precord -q -a -e cpu-clock -F 999 --exclude-self -o without.trace -- \
	precord -q -a -e cpu-clock -F 999 -o with.trace -- ./shares plain 2 2>err.txt & recorder=$!
wait $recorder || { cat err.txt >&2; fail "precord: $?"; }
with=$(recorder_of with.trace) without=$(recorder_of without.trace)
[ "$without" = $recorder ] || fail "without.trace: the recorder is '$without', not process $recorder"
[ "$with" ] && [ "$with" != "$without" ] || fail "with.trace: its recorder is '$with'"
[ "$(samples without.trace $without)" = 0 ] || fail "--exclude-self: $(samples without.trace $without) samples"
[ "$(samples with.trace $with)" -gt 0 ] || skip "the recorder was never sampled"
[ "$(samples with.trace $with)" -lt 20 ] || [ "$(samples without.trace $with)" -gt 0 ] ||
	fail "--exclude-self: another precord was left out"
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

# Whoever reads files for it, where interpreters begin one after another, is left out with it.
command -v python3 >/dev/null || exit 0
# Those of this recorder: its neighbours may have some, too.
readers() { # readers FILE
	local parent
	parent=$(recorder_of "$1")
	preport -i "$1" processes --limit 100000 --format=csv 2>/dev/null | columns process parent_pid samples |
		awk -F'\t' -v parent="$parent" '$1 ~ /precord-files$/ && $2 == parent { n += $3 } END { print n + 0 }'
}
PYTHONHOME=$(python3 -c 'import sys; print(sys.base_prefix)') python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
export PYTHONHOME python
load='for i in 1 2 3 4 5 6 7 8; do cp "$python" ./python3.$i && ./python3.$i -c "sum(i * i for i in range(300000))" || exit; done'
precord -q -a -e cpu-clock -F 4999 -o readers.trace -- sh -c "$load" 2>err.txt || { cat err.txt; fail "interpreters: $?"; }
precord -q -a -e cpu-clock -F 4999 --exclude-self -o none.trace -- sh -c "$load" 2>err.txt || { cat err.txt; fail "interpreters, --exclude-self: $?"; }
[ "$(readers readers.trace)" -gt 0 ] || skip "the reader of files was never sampled"
[ "$(readers none.trace)" = 0 ] || fail "--exclude-self: $(readers none.trace) samples of the reader of files"
exit 0

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The terminal interface in a real terminal: what each key shows, at 80 by 24, larger and after a resize, with names that
# try to steer the terminal.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/terminal.bash"
write_trace() { "$BUILD/tests/tools/write_trace" "$1.trace" <"$TOP/tests/data/report/$1.txt"; }
write_trace mix
write_trace hostile 2>/dev/null || cp mix.trace hostile.trace

trap 'tmux kill-server 2>/dev/null' EXIT
open() { # open TRACE [OPTION]...
	terminal
	tmux send-keys "clear; TERM=screen LC_ALL=C.UTF-8 preport -i $*; echo status=\$?" Enter
	sees 'leaves of cpu-clock' || fail "it does not open"
}

open mix.trace tui
sees '40.0 % +30.9-49.8 +40  \+ std::vector' || fail "the first leaf"
sees 'Enter unfold .* q quit$' || fail "the keys are cut at 80 columns"
key Enter
sees '40  - std::vector' && sees '40    +start ' || fail "Enter unfolds callers"
key Left
sees '40  \+ std::vector' || fail "Left folds"
key s
sees 'sums of cpu-clock' && sees '60.0 % +50.2-69.1 +0.0 %  \+ main' || fail "sums"
key / r e c Enter
sees '10.0 % .* rec ' ' main ' || fail "a search keeps what it finds"
key Escape
sees ' main ' || fail "Escape shows all again"
key t
sees 'threads of cpu-clock' && sees 'worker' || fail "threads"
key Down Down Enter
sees 'only thread worker \(pid 100, tid 101\)' && sees '100.0 % .* malloc|20 samples' || fail "one thread"
key BSpace
sees 'of cpu-clock: 100 samples, 0 lost$' || fail "Backspace widens"
key Tab
sees 'of faults: 10 samples' || fail "Tab goes to the next event"
key Tab '?'
sees 'undo the last choice' || fail "keys are explained"
key q
sees 'of cpu-clock: 100 samples' || fail "back from the keys"
key f
sees 'wrote flame.html' || fail "f writes a flame graph"
grep -q '<canvas' flame.html || fail "the flame graph is none"
echo mine >flame.html
key f
sees 'wrote flame-2.html' || fail "f writes another file where there is one"
[ "$(cat flame.html)" = mine ] || fail "f wrote over a file"
key Z
sees '. shows the keys' || fail "an unknown key is answered"
key c
sees 'calls of cpu-clock' || fail "calls"
key E
sees '  - .*start|  - .*main' || fail "E unfolds all"
key C
sees 'calls of cpu-clock' '^.{36}-' || fail "C folds all"
key s o
sees 'sums unfold into what they call' || fail "o turns sums round"
key o l z
sees 'only stacks with ' || fail "z zooms"
key BSpace
sees 'of cpu-clock: 100 samples, 0 lost$' || fail "Backspace undoes z"
for table in 'T timeline' 'P programs' 'L lines' 'g cgroups'; do
	key "${table%% *}"
	sees "^${table#* } of cpu-clock: 100 samples" || fail "$table"
done
key l w
sees 'write to' || fail "w asks for a name"
key rows.csv Enter
sees 'wrote rows.csv' || fail "w writes"
grep -q '^depth,share,low,high,samples,name,detail$' rows.csv && grep -q 'std::vector' rows.csv || fail "CSV"
key w
key flame.html Enter
sees 'is there already' || fail "w says that there is a file"
[ "$(cat flame.html)" = mine ] || fail "w wrote over a file"
key m
sees 'the last message' && sees "'flame.html' is there already" || fail "m shows the last message"
key q i
sees '^trust: lost 0' || fail "i says how far to trust it"
key / R e c o r d e d Enter
sees 'Recorded by' || fail "search in a text"
key q O
sees 'open: ' || fail "O asks for a file"
key no.trace Enter
sees "cannot open 'no.trace'" || fail "O says what is wrong"
cp mix.trace other.trace
key O
key other.trace Enter
sees 'this is other.trace' || fail "O opens another file"
key x
sees 'x pauses a live view' || fail "x without a live view"
# Over a slow line: a step of the cursor writes two lines anew, not the screen.
tmux pipe-pane "cat >written"
key Down
for i in $(seq 300); do
	before=$(wc -c 2>/dev/null <written || echo 0)
	sleep 0.2
	[ "$before" -gt 0 ] && [ "$(wc -c <written)" = "$before" ] && break
done
tmux pipe-pane
[ "$before" -gt 0 ] && [ "$before" -lt 480 ] || fail "a step of the cursor writes $before bytes"
key Up
tmux resize-window -x 120 -y 40
within=39,40 sees 'undo|q quit' || fail "a larger window is used"
key l Down a
sees 'is not|no code|cannot|of all samples|0x' || fail "annotate says what it cannot show"
key q
key q
sees 'status=0' || fail "q quits with 0"

# Real code: the hottest instruction is in the middle.
if precord -q -F 99 -o try.trace -- true 2>/dev/null; then
	$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread || fail "cannot compile"
	precord -q -F 999 -o shares.trace -- ./shares recursive 1 >/dev/null || fail "precord"
	tmux kill-server
	server=$((server + 1))
	tmux -f /dev/null new-session -d -x 80 -y 24 "TERM=screen preport -i shares.trace tui --module shares"
	sees 'leaves of' || fail "a real recording does not open"
	key a
	sees 'of all samples' && sees '^ *[0-9.]+ % ' || fail "no instructions"
	sees 'share +95 % range +block' || fail "columns without names"
	within=7,17 sees '^ *[0-9.]+ %  ' || fail "the hottest instruction is not in the middle"
	key s
	sees '%r' 'shares.c:[0-9]+  ' || fail "s leaves the source out"
	key s
	sees 'shares.c:[0-9]+  ' || fail "s shows the source"
fi

# A narrow screen has names rather than ranges.
open mix.trace tui
tmux resize-window -x 40 -y 12
sees '^ +40.0 %  \+ std::vector<…>::push_back$' || fail "narrow"
key q

open hostile.trace tui
! grep -q $'\033' shown || fail "a name steers the terminal"
key q
sees 'status=0' || fail "hostile names"
preport tui -i mix.trace </dev/null >out 2>err && fail "it runs without a terminal"
grep -q 'must be a terminal' err || fail "what is missing is not said"
exit 0

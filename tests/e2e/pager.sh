#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# On a terminal long output goes through a pager, as the user's environment says; elsewhere never.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
command -v script >/dev/null || skip "script(1) is not installed"
"$BUILD/tests/tools/write_trace" precord.trace <"$TOP/tests/data/report/mix.txt"
printf '#!/bin/sh\nsed "s/^/paged: /"\n' >mark
chmod +x mark

on_terminal() { # on_terminal COMMAND: what a terminal shows
	script -qec "stty cols 100 rows 10; $1" /dev/null </dev/null | tr -d '\r'
}

for command in 'preport --by leaf' 'preport' 'preport info' 'preport script' 'preport --tree'; do
	on_terminal "PREPORT_PAGER=./mark $command" | grep -q '^paged: ' || fail "$command is not paged"
	on_terminal "PREPORT_PAGER=./mark $command --no-pager" | grep -q '^paged: ' && fail "$command --no-pager is paged"
done
on_terminal 'PAGER=./mark preport --by leaf' | grep -q '^paged: ' || fail "PAGER does not count"
for none in cat ''; do
	on_terminal "PREPORT_PAGER=$none PAGER=./mark preport --by leaf" | grep -q '^paged: ' && fail "PREPORT_PAGER='$none' is paged"
done
PREPORT_PAGER=./mark preport --by leaf | grep -q '^paged: ' && fail "a pipe is paged"
# What went wrong is said on the terminal itself.
on_terminal 'PREPORT_PAGER=./mark preport -i none.trace' | grep -q '^preport: .*none.trace' || fail "an error is paged"
on_terminal 'PREPORT_PAGER=./nothere preport --by leaf' | grep -q "preport: the pager './nothere' could not be run" || fail "a pager that is missing is not named"

# The table is as wide as the terminal, and coloured if that is wanted.
on_terminal 'TERM=xterm PREPORT_PAGER=./mark preport --by leaf' | grep -q $'\033' || fail "no colour through the pager"
on_terminal 'TERM=xterm PREPORT_PAGER=./mark preport --by leaf --color=never' | grep -q $'\033' && fail "--color=never"
preport --by leaf --color=always | grep -q $'\033' || fail "--color=always"
exit 0

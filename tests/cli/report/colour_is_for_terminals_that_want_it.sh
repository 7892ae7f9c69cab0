#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
command -v script >/dev/null || { echo "no script(1) to make a terminal" >&2; exit 77; }
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/mix.txt"
escapes() { # escapes TITLE COMMAND...: does it colour its output on a terminal?
	local title=$1
	shift
	if script -qec "$*" /dev/null </dev/null | grep -q $'\x1b'; then
		echo "$title: colour"
	else
		echo "$title: plain"
	fi
}
export TERM=xterm
escapes terminal preport --by leaf
escapes NO_COLOR env NO_COLOR=1 preport --by leaf
escapes 'empty NO_COLOR' env NO_COLOR= preport --by leaf
escapes dumb env TERM=dumb preport --by leaf
preport --by leaf | grep -c $'\x1b' || :

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stacks of Python, PHP and Ruby, one by one, are what the interpreter said itself at that time: functions, their order, lines. All
# versions, and how many were torn, are for tests/oracles/interpreters.sh.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/words.bash"
need_recording
need_interpreters
command -v python3 >/dev/null || skip 'there is no python3 to compare with'

check() { # check NAME COMMAND...: until stacks were read, each time for longer; a recorder that gets no CPU comes too late
	local name=$1 seconds
	shift
	for seconds in 0.4 2 6; do
		one_by_one 999 "$@" $seconds
		[ "$compared" -lt 50 ] || break
	done
	echo "$name: $compared compared, $equal equal, $edges of them at an edge; $lines_right of $lines lines, $named of $frames frames named"
	[ "$compared" -ge 50 ] || few_stacks precord.txt
	[ $((equal * 100)) -ge $((compared * 99)) ] || fail "$name: stacks are not what $name says"
	[ $((edges * 10)) -le "$compared" ] || fail "$name: so many stacks cannot be at an edge"
	[ $((named * 1000)) -ge $((frames * 995)) ] || fail "$name: functions have no names"
}

check python python3 "$TOP/tests/programs/words.py"
if php=$(command -v php) && php -r 'exit(PHP_VERSION_ID < 70400 || PHP_VERSION_ID >= 80600 ? 1 : 0);' && grep -q executor_globals "$(readlink -f "$php")"; then
	php="$php -d xdebug.mode=off" # where it is installed it refuses deep calls
	check php $php "$TOP/tests/programs/words.php"
	# What it makes of a loop has no call in it; the line is only in a register.
	check "php with opcache" $php -d opcache.enable_cli=1 -d opcache.jit=0 "$TOP/tests/programs/words.php"
fi
if ruby=$(command -v ruby) && "$ruby" -e 'v = RUBY_VERSION.to_f; exit(RUBY_ENGINE == "ruby" && v >= 2.5 && v < 3.5)'; then
	check ruby "$ruby" "$TOP/tests/programs/words.rb"
fi
exit 0

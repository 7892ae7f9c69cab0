#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# perf's man pages have no option that our tables do not know; and the lines that people type most work.
set -u
. "$TOP/tests/e2e/lib/recording.bash"

# Options of perf's man page $1, one to a line: "-x" and "--name".
of_perf() {
	MANWIDTH=200 man -P cat "perf-$1" 2>/dev/null | col -bx |
		awk '/^OPTIONS/ { in_options = 1; next }
			/^[A-Z]/ { in_options = /^(STAT|RECORD|OPTIONS|.* OPTIONS)/ && in_options }
			in_options && /^       -/' |
		sed 's/^ *//; s/ Append .*//; s/ Display .*//; s/ Show .*//' |
		grep -oE '(^|, )-(-[A-Za-z][A-Za-z0-9-]*|[A-Za-z]\b)' | sed 's/^, //' | sort -u
}

# Options of ours of command $1 of $2, own and known.
of_ours() {
	"$2" --perf-options | awk -v c="$1" '$1 == c { print $2 }' | sort -u
}

if command -v man >/dev/null && [ "$(of_perf record | wc -l)" -gt 20 ]; then
	for command in record stat list report annotate script diff; do
		program=preport
		case $command in record | stat | list) program=precord ;; esac
		missing=$(comm -23 <(of_perf $command) <(of_ours $command $program))
		[ -z "$missing" ] || fail "perf $command has options that we do not know: $missing"
	done
else
	echo "perf's man pages are not installed: only our own lists were tried"
fi

need_recording
need_system_wide
precord -q -F 999 -ag -o a.trace -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done' 2>err.txt ||
	{ cat err.txt; fail "precord -F 999 -ag"; }
precord record -q -g -o g.trace -- true 2>err.txt || { cat err.txt; fail "precord record -g"; }
precord -q -o s.trace -e '{cpu-clock,page-faults}' -- true 2>err.txt || { cat err.txt; fail "a group of software events"; }
precord report >out.txt 2>err.txt && fail "precord report"
grep -q 'did you mean preport report' err.txt || { cat err.txt; fail "precord report: no hint"; }
preport a.trace >file.txt 2>err.txt && preport report -i a.trace >report.txt 2>err.txt || { cat err.txt; fail "preport FILE"; }
cmp -s file.txt report.txt || fail "preport FILE and preport report -i FILE differ"
preport a.trace --stdio --no-children --sort dso,sym --percent-limit 0.5 >perf.txt 2>err.txt || { cat err.txt; fail "perf's line"; }
preport a.trace --by module,leaf --min 0.5 >ours.txt 2>err.txt || fail "our line"
cmp -s perf.txt ours.txt || fail "--sort dso,sym is not --by module,leaf"
preport a.trace --children >perf.txt 2>err.txt && preport a.trace --by total >ours.txt 2>err.txt || fail "--children"
cmp -s perf.txt ours.txt || fail "--children is not --by total"

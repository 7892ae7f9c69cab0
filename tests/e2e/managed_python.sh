#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A Python program that says how long each of its functions and lines ran: the shares that the report has are the same, for
# each CPython that is here, alone and with two threads. Stacks have the callers in their order.
# slow: it records for a second or more for each version
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_interpreters

program="$TOP/tests/programs/shares.py"

# Every interpreter that is to be had, a path a line.
pythons() {
	local minor found
	command -v python3
	for minor in 6 7 8 9 10 11 12 13; do
		command -v python3.$minor
		command -v pyenv >/dev/null 2>&1 && ls "$(pyenv root)"/versions/3.$minor.*/bin/python3 2>/dev/null
	done | while read -r found; do "$found" -c '
import sys, sysconfig
sys.exit(not (3, 6) <= sys.version_info[:2] <= (3, 13) or sys.implementation.name != "cpython" or bool(sysconfig.get_config_var("Py_GIL_DISABLED")))
' 2>/dev/null && echo "$found"; done
}

# record PYTHON MODE: until stacks were read, each time for longer. A recorder that gets no CPU comes too late.
record() {
	local attempt
	for attempt in 1 2 3 4 5 6; do
		precord -v -e cpu-clock -F 999 -o s.trace -- "$1" "$program" $((30 * attempt)) $2 >shares.txt 2>precord.txt || return 1
		preport script -a --format=json -i s.trace 2>/dev/null | grep '"kind": "managed"' >managed.txt && return
	done
	return 1
}

# check NAME: shares.txt has "NAME LINE NS" of what ran, stacks.txt a stack of a sample a line, root first,
# frames as FUNCTION:LINE, after how many there were. A share six standard deviations away comes once in a billion.
check() {
	awk -v run="$1" -v source="$program" '
		BEGIN { while ((getline text < source) > 0) { n++; if (match(text, /LINE [AB]/)) line[substr(text, RSTART + 5, 1)] = n } }
		FILENAME == "shares.txt" { ns[$1 " " $2] = $3; if ($2 == "0") whole += $3; next }
		{ count = $1; seen = 0
		  for (name in ns) { split(name, part, " ")
			for (i = 2; i <= NF; i++) { at = $i; sub(/:[0-9]*$/, "", at); sub(/.*\./, "", at)
				where = $i; sub(/.*:/, "", where)
				if (at == part[1] && (part[2] == "0" || where == line[part[2]] || where == line[part[2]] - 1)) {
					hits[name] += count; if (part[2] == "0") seen = 1; break } } }
		  if (seen) total += count }
		END {
			if (total < 300) { print run ": only " total + 0 " stacks"; exit 77 }
			for (name in ns) { p = ns[name] / whole; got = hits[name] / total
				sigma = sqrt(p * (1 - p) / total)
				if (got < p - 6 * sigma - 0.005 || got > p + 6 * sigma + 0.005) {
					printf "%s: %s has %.4f instead of %.4f of %d samples\n", run, name, got, p, total; bad = 1 } }
			exit bad }' shares.txt stacks.txt
}

tried=0
for python in $(pythons | sort -u); do
	name=$("$python" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')
	for mode in alone $([ $tried -lt 2 ] && echo threads); do
		record "$python" $mode || { cat precord.txt; fail "$name, $mode: no stack was read"; }
		sed -n 's/.*"frames": \[\(.*\)\]}$/\1/p' managed.txt | awk '
			{ n = 0; text = $0
			  while (match(text, /"function": "[^"]*"/)) { f = substr(text, RSTART + 13, RLENGTH - 14); text = substr(text, RSTART + RLENGTH)
				match(text, /"line": [0-9]*/); part[++n] = f ":" substr(text, RSTART + 8, RLENGTH - 8) }
			  out = 1; for (i = n; i > 0; i--) { gsub(/ /, "_", part[i]); out = out " " part[i] }
			  if (n) print out }' >stacks.txt
		check "$name, $mode"
		case $? in
		0) tried=$((tried + 1)) ;;
		77) (few_stacks precord.txt) # a skip leaves with 77
			[ $? = 77 ] || fail "$name, $mode: too few stacks"
			continue ;;
		*) cat precord.txt; fail "$name, $mode: shares are not where the program says" ;;
		esac
		# The report's stacks are the same, with native and kernel frames at their places.
		[ $mode = alone ] || continue
		preport folded -i s.trace 2>/dev/null >folded.txt
		grep -qE ';main;run;(called_back;)?(Item\.)?__lt__[; ]' folded.txt || { grep lt__ folded.txt; fail "$name: a method that C calls back is not below its caller"; }
		grep -q ';run;recursive;recursive;recursive' folded.txt || fail "$name: recursion is not there"
		grep -q '_PyEval_EvalFrameDefault.*;run;\|;run;.*_PyEval_EvalFrameDefault' folded.txt && fail "$name: the loop is still beside its frames"
		preport folded --native -i s.trace 2>/dev/null | grep -qE ';run;(.*;)?two_lines' || fail "$name: --native has no frames of Python"
		preport -i s.trace 2>/dev/null | grep -q -- '--by script-line' || fail "$name: the summary does not say how to ask for lines"
		preport --by line --format=csv -i s.trace 2>/dev/null | grep -q 'shares.py:' || fail "$name: no lines"
		preport annotate shares.py:two_lines --format=csv -i s.trace 2>/dev/null | grep 'LINE B' | awk -F, '{ exit !($1 > 0) }' || fail "$name: annotate does not show the hot line"
		preport flamegraph -i s.trace -o out.html 2>/dev/null || fail "$name: no flame graph"
		preport pprof -i s.trace -o out.pb.gz 2>/dev/null || fail "$name: no pprof"
		precord -q --no-managed -e cpu-clock -F 999 -o n.trace -- "$python" "$program" 2 >/dev/null
		preport script -a -i n.trace 2>/dev/null | grep -q 'managed:' && fail "$name: --no-managed reads all the same"
	done
done
[ $tried -gt 0 ] || skip "no interpreter that is known, or no time to read its stacks"
echo "$tried runs"

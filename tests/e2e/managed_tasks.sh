#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which task of asyncio ran: --by label:task has the shares that the program says, for each CPython that is here.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_interpreters

program="$TOP/tests/programs/tasks.py"

pythons() {
	command -v python3
	command -v pyenv >/dev/null 2>&1 && ls "$(pyenv root)"/versions/3.*/bin/python3 2>/dev/null
}

# check NAME: each task's share of the samples in tasks is within six standard deviations
check() {
	columns task samples <task.csv | awk -F'\t' -v run="$1" '
		FILENAME == "said.txt" { split($0, part, " "); ns[part[1]] = part[2]; whole += part[2]; next }
		{ name = $1 ~ /^Task-[0-9]+$/ ? "unnamed" : $1; if (name in ns) { hits[name] += $2; n += $2 } }
		END {
			if (n < 300) { print run ": only " n + 0 " samples in tasks"; exit 77 }
			for (name in ns) { p = ns[name] / whole; got = hits[name] / n; sigma = sqrt(p * (1 - p) / n)
				printf "%s: %s has %.4f, %.4f as it says\n", run, name, got, p
				if (got < p - 6 * sigma - 0.02 || got > p + 6 * sigma + 0.02) bad = 1 }
			exit bad }' said.txt -
}

tried=0
for python in $(pythons | sort -u); do
	name=$("$python" -c 'import sys, asyncio; assert (3, 8) <= sys.version_info[:2] <= (3, 15) and sys.implementation.name == "cpython"; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
	for attempt in 1 2 3 4; do # until stacks were read
		precord -v -e cpu-clock -F 999 -o t.trace -- "$python" "$program" $((60 * attempt)) >said.txt 2>precord.txt || { cat precord.txt; fail "$name failed"; }
		preport --by label:task --limit 1000 --format=csv -i t.trace >task.csv 2>err.txt || { cat err.txt; fail "$name: no tasks"; }
		check "$name"
		case $? in
		0) tried=$((tried + 1)); break ;;
		77) [ $attempt -lt 4 ] || { (few_stacks precord.txt); [ $? = 77 ] || fail "$name: tasks are not read"; } ;;
		*) cat task.csv; fail "$name: tasks have not their shares" ;;
		esac
	done
done
[ $tried -gt 0 ] || skip "no CPython that is known, or no time to read its stacks"
exit 0

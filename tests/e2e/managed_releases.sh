#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Interpreters of other Debian releases, older and newer than this machine's, each in a container (own root, mounts and
# process numbers): functions have the shares that the program says, and lines are there. Their packages come from the
# servers of this machine's apt, into the build folder.
# slow: it downloads some 100 MB the first time
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/releases.bash"
need_recording
need_interpreters
unshare -pfm true 2>/dev/null || skip "no namespaces can be made here"
[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] || skip "offsets were only tried on amd64"

# awaiters NAME COMMAND...: tasks that a coroutine gathers have the task that awaits them
awaiters() {
	local name=$1
	shift
	precord -q -e cpu-clock -F 999 -o t.trace -- unshare -pfm "$@" 60 >said.txt || fail "$name does not run tasks"
	preport --by label:task,label:awaiters --format=csv -i t.trace >tasks.csv 2>/dev/null || fail "$name: no tasks"
	grep -q -E ',heavy,boss( < Task-1)?$' tasks.csv || { cat tasks.csv; fail "$name: who awaits a task is not there"; }
}

# share NAME COMMAND...: two_lines and recursive have the time between them that the program says
share() {
	local name=$1 attempt
	shift
	for attempt in 1 2 3 4 5 6; do
		precord -v -e cpu-clock -F 999 -o s.trace -- unshare -pfm "$@" $((40 * attempt)) >shares.txt 2>precord.txt ||
			{ cat precord.txt; fail "$name does not run"; }
		preport --by total --limit 100000 --format=csv -i s.trace >total.csv 2>/dev/null || fail "$name: no functions"
		columns function samples <total.csv | awk -F'\t' -v name="$name" '
			FILENAME == "shares.txt" { split($0, part, " "); if (part[2] == "0") ns[part[1]] = part[3]; next }
			{ sub(/^Object#/, "", $1) }
			$1 == "two_lines" || $1 == "recursive" { hits[$1] += $2 }
			END { n = hits["two_lines"] + hits["recursive"]
				if (n < 200) { print name ": only " n + 0 " stacks"; exit 77 }
				p = ns["two_lines"] / (ns["two_lines"] + ns["recursive"]); got = hits["two_lines"] / n
				sigma = sqrt(p * (1 - p) / n)
				printf "%s: %.4f of %d stacks, %.4f as the program says\n", name, got, n, p
				exit got < p - 6 * sigma - 0.01 || got > p + 6 * sigma + 0.01 }' shares.txt -
		case $? in
		0) break ;;
		77) [ $attempt -lt 6 ] || { (few_stacks precord.txt); [ $? = 77 ] || fail "$name: stacks are not read"; return; } ;;
		*) cat precord.txt; fail "$name: shares are not where the program says" ;;
		esac
	done
	case $name in rb*)
		grep -q '"\?Integer#times"\?,' total.csv || { cut -d, -f2-4 total.csv | head -n 30; fail "$name: a method in C has no name"; }
		grep -q 'Item#<=>' total.csv || fail "$name: a method has no class" ;;
	esac
	preport --by script-line --format=csv -i s.trace 2>/dev/null | grep -q "shares\.[a-z]*:$(grep -n 'LINE B' "$TOP/tests/programs/shares.${name%%[0-9]*}" | cut -d: -f1)" ||
		fail "$name: the hot line is not there"
	tried=$((tried + 1))
}

tried=0
while read -r release packages; do
	release_root $release $packages || { echo "$release: $(tail -n 1 $release.log)"; continue; }
	cp "$TOP"/tests/programs/{shares.*,tasks.py} "$releases/$release/"
	for package in $packages; do
		program=${package%-cli}
		chroot "$releases/$release" $program --version >version.txt 2>&1 ||
			{ echo "$release: $program cannot run here"; continue; }
		case $program in
		python*)
			share py${program#python} chroot "$releases/$release" $program /shares.py
			case $program in python3.14 | python3.15) awaiters $program chroot "$releases/$release" $program /tasks.py ;; esac
			;;
		ruby*) share rb${program#ruby} chroot "$releases/$release" $program /shares.rb ;;
		php*) share php${program#php} chroot "$releases/$release" $program /shares.php ;;
		esac
	done
done <<<"$interpreters_of_releases"
[ $tried -gt 0 ] || skip "no packages of other releases are to be had"
echo "$tried interpreters"

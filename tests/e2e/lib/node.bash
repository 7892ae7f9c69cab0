# SPDX-License-Identifier: Apache-2.0
# Programs with V8, and what is compared with each. Sourced after recording.bash.

# knows_node NODE: is its V8 among those that precord(1) names?
knows_node() {
	case $("$1" -p process.versions.v8) in 10.2.* | 11.3.* | 12.4.* | 13.6.* | 14.6.*) return 0 ;; esac
	return 1
}

# node_chains NODE [OPTION]: 1,500 ms of a running tests/programs/node_chains.js, each stack beside what the program's text says
node_chains() {
	local stacks whole lines right functions nameless
	"$1" ${2:+"$2"} "$TOP/tests/programs/node_chains.js" 600 & victim=$!
	burn 1000 $victim
	record_burning 1500 $victim chains.trace -e cpu-clock:u -F 999 2>err.txt || { cat err.txt; fail 'cannot record'; }
	kill $victim
	wait $victim 2>/dev/null
	preport script -i chains.trace 2>/dev/null | python3 "$TOP/tests/e2e/lib/node_chains.py" "$TOP/tests/programs/node_chains.js" >compared
	read -r stacks whole lines right functions nameless <compared
	echo "$("$1" --version) ${2:-}: $stacks stacks, $whole with all functions; $lines lines, $right right; $functions functions, $nameless without names"
	[ "$stacks" -ge 100 ] || { echo "only $stacks samples of busy functions"; return; }
	compared=1
	# 98.5, 99 and 99.5 % are promised; a few more may be chance
	[ $(((stacks - whole) * 1000)) -le $((stacks * 15 + 4000)) ] || { cat compared; fail "$1 ${2:-}: functions are missing or wrong"; }
	[ $(((lines - right) * 1000)) -le $((lines * 10 + 10000)) ] || { cat compared; fail "$1 ${2:-}: lines are wrong"; }
	[ $((nameless * 1000)) -le $((functions * 5 + 4000)) ] || { cat compared; fail "$1 ${2:-}: functions have no names"; }
}

# names_by_time MIN WHAT OPTION...: "node OPTION... FILE", which prints when each of its functions ran, for each Node that is known (NODES may
# name more than the one on the PATH). No sample may have a name of WHAT. Fewer than MIN names: skipped, as they are left out where not certain.
names_by_time() {
	local least=$1 what=$2 all=0 right wrong node
	shift 2
	for node in $( (command -v node; printf '%s\n' ${NODES:-}) 2>/dev/null | xargs -rn 1 readlink -f | sort -u); do
		knows_node "$node" || { echo "$node is none of those that precord(1) names"; continue; }
		precord -q -e cpu-clock:u -F 499 -o names.trace -- "$node" "$@" >times 2>err.txt || { cat err.txt; fail 'cannot record'; }
		preport -i names.trace export --to perf-script >script.txt 2>/dev/null || fail 'cannot export'
		python3 "$TOP/tests/e2e/lib/names_in_time.py" times script.txt '\b(fn[0-9]{4})' >score || fail 'cannot compare'
		read -r right wrong < <(tail -n 1 score)
		echo "$node: $right right, $wrong wrong"
		[ "$wrong" = 0 ] || { head -n 5 score; fail "samples have the name of $what"; }
		all=$((all + right))
	done
	[ "$all" -ge "$least" ] || skip "only $all samples have a name"
}

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# preport export of what other tools' files have no place for: the counts of groups, branches, losses and damage are named,
# and every function has the weight in the file that it has in preport's table.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/fakepmu.bash"
command -v python3 >/dev/null || skip "python3 is not installed"
need_system_wide
formats='firefox speedscope chrome callgrind perf-script'

# same TRACE EVENT: each format adds up to the table.
same() {
	preport -i "$1.trace" --by leaf --event "$2" --limit 0 --format=csv >"$1.csv" 2>err || fail "$1: $(cat err)"
	for format in $formats; do
		preport -i "$1.trace" export --to $format -o "$1.$format" 2>"$1.$format.err" || fail "$1 as $format"
		if [ $format != callgrind ]; then
			"$TOP/tests/e2e/export/leaves" $format "$1.$format" "$1.csv" || fail "$1 as $format"
		elif command -v callgrind_annotate >/dev/null; then
			callgrind_annotate --threshold=100 "$1.callgrind" >annotated 2>warnings
			[ ! -s warnings ] || fail "callgrind_annotate: $(cat warnings)"
			"$TOP/tests/e2e/export/leaves" callgrind annotated "$1.csv" || fail "$1 as callgrind"
		fi
	done
}

on intel precord -q -a -e '{cycles,instructions}:S' -o group.trace -- true || fail "a group"
same group cycles
for format in $formats; do
	expect "left out: the counts of instructions that each sample carries" group.$format.err
done

on intel precord -q -a -b -e cycles -o branches.trace -- true || fail "-b"
same branches cycles
samples=$(preport -i branches.trace script --format=json | grep -c '"kind": "sample"')
for format in firefox speedscope chrome callgrind; do
	grep -q "left out: the branches of [0-9,]* samples; 'preport --by branch' has them" branches.$format.err ||
		fail "$format: no word about branches"
done
grep -q 'left out' branches.perf-script.err && fail "perf-script has branches, and says that it does not"
[ "$samples" -gt 0 ] && [ "$(grep -c ' 0x[0-9a-f]*/0x' branches.perf-script)" = "$samples" ] ||
	fail "perf-script has not the branches of each sample"

# Damage and losses are said by those whose files do not.
"$BUILD/tests/tools/write_trace" whole.trace <<'END' || fail "write_trace"
event cpu-clock ns 1000
process 1 prog
sample 0 1 1 0 1000000 9 main;work
lost 0 3
END
head -c $(($(wc -c <branches.trace) - 40)) branches.trace >cut.trace
for command in 'folded' 'pprof' 'export --to speedscope' 'export --to callgrind'; do
	preport -i cut.trace $command -o out 2>err || fail "$command of a file that is cut"
	grep -q 'damaged at offset\|end \(of the file \)\?is missing' err || fail "$command: no word that the file is cut"
	preport -i whole.trace $command -o out 2>err || fail "$command"
	expect 'lost 25.0 % (3)' err
	preport -i group.trace $command -o out 2>err || fail "$command"
	grep -q 'does not tell' err && fail "$command complains about a whole file"
done
exit 0

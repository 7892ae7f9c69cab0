#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Branch stacks as a table: counts, mispredictions and cycles are those that the stand-in's samples carry by construction.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/fakepmu.bash"
need_system_wide

# 200 samples on each CPU with 7 branches of a loop (2 of them mispredicted; 10 to 16 cycles) and one call (17).
on intel precord -q -a -b -e cycles -o t.trace -- true || fail "-b"
samples=$(preport -i t.trace script --format=json | grep -c '"kind": "sample"')
preport -i t.trace --by branch --format=csv >branches.csv || fail "--by branch"
columns branches mispredicted cycles from to from_module <branches.csv >found
cat >wanted <<EOF
$((7 * samples))	0.285714	13.000000	fakepmu_hot	fakepmu_hot	libfakepmu.so
$samples	0.000000	17.000000	fakepmu_hot	fakepmu_cold	libfakepmu.so
EOF
diff wanted found || fail "counts by construction"
columns share low high <branches.csv | awk '!($2 < $1 && $1 < $3) { exit 1 }' || fail "intervals hold the share"

preport -i t.trace --by branch >text || fail "as text"
grep -q '^[0-9,]* branches in [0-9,]* samples, by branch$' text || fail "the heading"
expect 'cycles are those since the branch before' text
[ "$(preport -i t.trace --by branch=address --format=csv | columns branches from from_address | grep -c "^$((7 * samples))	fakepmu_hot	0x")" = 1 ] ||
	fail "addresses of the loop"
preport -i t.trace --by branch=line --format=json >json || fail "as JSON"
expect '"by": "branch=line"' json
expect '"from_line": "' json

# A filter with a function keeps branches that have an end there; the others choose samples.
[ "$(preport -i t.trace --by branch --symbol fakepmu_cold --format=csv | columns branches share to)" = \
	"$samples	1.000000	fakepmu_cold" ] || fail "--symbol"
[ "$(preport -i t.trace --by branch --limit 1 | grep -c 'more)')" = 1 ] || fail "--limit says what is left out"
[ "$(preport -i t.trace --by branch --min 50 --format=csv | columns from | wc -l)" = 1 ] || fail "--min"
[ "$(preport -i t.trace --by branch --cpu 0 --format=csv | columns branches | head -n 1)" -lt $((7 * samples)) ] ||
	[ "$(nproc)" = 1 ] || fail "--cpu"
preport -i t.trace --by branch --comm absent 2>out && fail "a filter that nothing passes"
expect "that passes --comm=absent carries a branch" out

# annotate has them beside the instruction, the arrow of the loop is heavy.
preport -i t.trace annotate fakepmu_hot --no-source >text || fail "annotate"
expect 'recorded branches leave from here, 25.0 %' text
grep -qE '28\.6 % +13\.0 .*(┗━|#=) +[0-9a-f]+ +(jne|b\.ne)' text || { cat text; fail "the jump back"; }
grep -qE '(┏|#)>' text || { cat text; fail "a heavy arrow leads to the loop"; }
preport -i t.trace annotate fakepmu_hot --format=csv | columns taken mispredicted cycles entered | grep -v '^0	' >found
printf '%s\t0.285714\t13.000000\t0\n' $((7 * samples)) >wanted
grep -qxFf wanted found || { cat found; fail "annotate as CSV"; }
[ "$(preport -i t.trace annotate fakepmu_cold --format=csv | tr -d '\r' | awk -F, 'NR == 2 { print $NF }')" = "$samples" ] ||
	fail "fakepmu_cold is entered at its first instruction"

# So do the pages, and those of a recording without any have no such columns.
preport -i t.trace annotate fakepmu_hot --html=code.html 2>out || { cat out; fail "annotate --html"; }
preport -i t.trace html -o report.html 2>out || fail "html"
for page in code.html report.html; do
	expect '>taken</th>' $page
	expect 'recorded branches leave from here, 25.0 %' $page
	tr -d ',' <$page | grep -q "<td>$((7 * samples))</td><td>28.6 %</td><td>13.0</td>" || fail "$page: the jump back"
done

# script has them as perf does, newest first.
preport -i t.trace script >text || fail "script"
grep -m 1 brstack text | grep -qE '^	brstack( 0x[0-9a-f]+/0x[0-9a-f]+/[MP]/-/-/1[0-7]){8}$' || { grep -m 1 brstack text; fail "brstack"; }
grep -m 1 brstack text | grep -qE 'brstack \S+/M/-/-/10 \S+/P/-/-/11 ' || fail "the first is mispredicted"

preport -i t.trace export --to=perf-script -o t.txt 2>/dev/null || fail "export"
[ "$(grep -cE '^( 0x[0-9a-f]+/0x[0-9a-f]+/[MP]/-/-/1[0-7]){8}$' t.txt)" = "$samples" ] || fail "branches of each sample"

# As perf.data they are the same to perf, and to preport when it reads that.
preport -i t.trace perf-data -o t.data 2>out || { cat out; fail "perf-data"; }
preport -i t.data --by branch --format=csv 2>/dev/null | cmp - branches.csv || fail "branches of perf.data"
if perf script -i t.data -F brstack >perf.txt 2>/dev/null; then
	[ "$(grep -oE '0x[0-9a-f]+/0x[0-9a-f]+/[MP]/' perf.txt | wc -l)" = $((8 * samples)) ] || fail "branches by perf script"
fi

# What cannot be is said.
on intel precord -q -a -e cycles -o none.trace -- true || fail "no branches"
preport -i none.trace annotate fakepmu_hot | grep -q missed && fail "columns of branches without any"
preport -i none.trace html -o none.html 2>/dev/null || fail "html without branches"
grep -q '>taken</th>' none.html && fail "columns of branches in a page without any"
preport -i none.trace --by branch 2>out && fail "branches without any"
expect "no sample of 'none.trace' carries a branch" out
expect 'precord -b' out
preport -i t.trace --by process,branch 2>out && fail "branches inside a level"
expect 'branches cannot be combined with other levels' out
preport -i t.trace --by branch --tree 2>out && fail "a tree of branches"
expect '--tree is about stacks' out
preport -i t.trace --by branhc 2>out && fail "a slip"
expect "did you mean 'branch'?" out
exit 0

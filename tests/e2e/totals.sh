#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One recording, many outputs: every one of them adds up to the same samples and the same weight, and pprof sees the
# functions that --by leaf sees.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording

cat >busy.sh <<'CODE'
echo 'int f(int x) { return x * 3; } int main(void) { return f(4); }' >t.c
for i in 1 2 3 4 5 6; do ${CC:-cc} -O2 -c t.c; done
awk 'BEGIN { for (i = 0; i < 3000000; i++) s += i * i; print s }'
seq 200000 | sort -r | gzip -9 >/dev/null
CODE
precord -q -e cpu-clock -F 999 -o t.trace -- sh busy.sh >/dev/null

sum() { columns "$1" | awk '{ s += $1 } END { printf "%.0f\n", s }'; }
table() { preport -i t.trace --by "$1" --limit 1000000 --format=csv; }

samples=$(table leaf | sum samples)
weight=$(table leaf | sum weight)
[ "$samples" -gt 100 ] || fail "only $samples samples"
echo "$samples samples, weight $weight"

same() { [ "$2" = "$3" ] || fail "$1 gives $2, --by leaf $3"; }
for level in module thread process cpu line address caller depth=1; do
	same "samples by $level" "$(table $level | sum samples)" "$samples"
	same "weight by $level" "$(table $level | sum weight)" "$weight"
done
same "folded" "$(preport -i t.trace folded | awk '{ s += $NF } END { printf "%.0f\n", s }')" "$weight"
same "folded --samples" "$(preport -i t.trace folded --samples | awk '{ s += $NF } END { print s }')" "$samples"
same "script" "$(preport -i t.trace script --format=json | grep -c '"kind": "sample"')" "$samples"
same "script's weight" "$(preport -i t.trace script --format=json | sed -n 's/.*"period": \([0-9]*\).*/\1/p' | awk '{ s += $1 } END { printf "%.0f\n", s }')" "$weight"
same "info" "$(preport -i t.trace info --format=csv | tr -d '\r' | awk -F, '$1 == "samples" { print $2 }')" "$samples"

preport -i t.trace pprof -o t.pb.gz 2>/dev/null
if command -v go >/dev/null; then
	export HOME=$PWD
	go tool pprof -symbolize=none -top -nodecount=1000000 -nodefraction=0 -sample_index=samples t.pb.gz 2>/dev/null >top.txt
	same "pprof -top" "$(awk 'seen { s += $1 } /flat%/ { seen = 1 } END { print s }' top.txt)" "$samples"
	# Function by function, of all modules together as pprof has them. Names of C++ are shortened there: only plain ones.
	table leaf | columns function samples | awk -F'\t' '$1 ~ /^[A-Za-z0-9_]+$/ { n[$1] += $2 } END { for (f in n) print n[f], f }' | sort >ours
	awk 'seen && $1 > 0 { sub(/ \((partial-)?inline\)$/, ""); if (NF == 6 && $6 ~ /^[A-Za-z0-9_]+$/) print $1, $6 } /flat%/ { seen = 1 }' top.txt | sort >theirs
	[ "$(wc -l <ours)" -ge 5 ] || fail "only $(wc -l <ours) functions have plain names"
	diff ours theirs || fail "pprof -top and --by leaf disagree about a function"
	# Callers, of functions that called nothing that was sampled: there pprof's edges are the leaf's callers.
	awk 'seen && $1 == $4 && NF == 6 && $6 ~ /^[A-Za-z_0-9]+$/ { print $6 } /flat%/ { seen = 1 }' top.txt | head -n 5 >leaves
	[ -s leaves ] || fail "pprof shows no function that is only a leaf"
	table caller >callers.csv
	while read -r leaf; do
		# Callers' names with commas: columns takes plain cells only. Other names of C++ and Rust are shortened there. And a
		# leaf that nothing calls has no edge.
		grep -E ",$leaf,(\"|[^,]*([<(]|::)|,)" callers.csv && continue
		columns function caller samples <callers.csv | awk -F'\t' -v f="$leaf" '$1 == f { n[$2] += $3 } END { for (c in n) print n[c], c }' | sort >ours
		go tool pprof -symbolize=none -peek "^$leaf\$" -sample_index=samples t.pb.gz 2>/dev/null |
			awk '/^-+\+-+$/ { on++; next } on == 2 && $2 ~ /%$/ && $3 == "|" { sub(/ \((partial-)?inline\)$/, ""); n = $1; sub(/^.*\|   /, ""); print n, $0; next } on == 2 { exit }' | sort >theirs
		diff ours theirs || fail "pprof -peek and --by caller disagree about '$leaf'"
	done <leaves
else
	echo "Go is not here: the file is decoded by the unit tests only"
fi

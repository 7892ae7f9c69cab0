#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One thread or several: the same bytes, warnings included. And memory grows with distinct stacks, not with samples or
# with the length of the file.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording

cat >busy.sh <<'CODE'
echo 'int f(int x) { return x * 3; } int main(void) { return f(4); }' >t.c
for i in 1 2 3 4 5 6; do ${CC:-cc} -O2 -c t.c & ${CC:-cc} -O0 -g -c -o u.o t.c; done
wait
awk 'BEGIN { for (i = 0; i < 2000000; i++) s += i * i; print s }'
(seq 200000 | sort -r) & seq 100000 | gzip -9 >/dev/null
wait
CODE
precord -q -e cpu-clock -F 1999 -o t.trace -- sh busy.sh >/dev/null
"$BUILD/tests/tools/multiply_trace" --rounds 3 t.trace long.trace # several blocks
"$BUILD/tests/tools/multiply_trace" --each 100 t.trace many.trace

compare() {
	for n in 1 2 3 8; do
		preport -i "$@" --threads $n >out.$n 2>err.$n || fail "$* with $n threads: $(cat err.$n)"
		[ -s out.$n ] || fail "$*: no output"
		cmp -s out.1 out.$n || fail "$*: $n threads give another output than one"
		cmp -s err.1 err.$n || fail "$*: $n threads give other warnings than one: $(cat err.$n)"
	done
}
for file in t.trace long.trace many.trace; do
	compare $file --by leaf --limit 100000 --format=csv
	compare $file --by caller --limit 100000
done
compare t.trace --by total --limit 100000 # all frames are named, not only the leaves
compare long.trace
compare long.trace folded
compare long.trace info
compare long.trace --by total --comm awk --limit 1000
compare long.trace script

# Every sample a hundred times: a hundred times as many, and the same share of each function.
samples() { preport -i $1 --by leaf --limit 100000 --format=csv 2>/dev/null | columns samples | awk '{ s += $1 } END { print s }'; }
a=$(samples t.trace) b=$(samples many.trace)
[ "$b" -eq $((100 * a)) ] || fail "$a samples became $b"

[ -n "${SAN-}" ] && exit 0
command -v python3 >/dev/null || exit 0
cat >peak.py <<'CODE'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
CODE
peak() { python3 peak.py "$BUILD/preport" -i "$1" --by leaf --threads 1; }
a=$(peak t.trace) b=$(peak many.trace)
echo "peak memory, KiB: $a, with a hundred times the samples $b"
# A full block, which the short one does not have, expands to 24 MiB.
[ "$b" -lt $((a + 36000)) ] || fail "a hundred times the same samples need $b KiB instead of $a"

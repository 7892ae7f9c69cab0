#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# After 'preport bundle' lines and inlined calls are the same without the binaries and their debug information, in a root that holds
# nothing else; also if the recorder was told to embed nothing.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ "$(id -u)" = 0 ] || skip "chroot needs root"
[ -z "$SAN" ] || skip "the sanitizers' libraries look around in the system"

mkdir root
$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread
cat >inl.c <<'CODE'
#include <stdlib.h>
volatile unsigned sink;
static inline unsigned mix(unsigned x) { return x * 2654435761u ^ x >> 7; }
static inline unsigned twice(unsigned x)
{
	for (int i = 0; i < 50; i++)
		x = mix(x);
	return x;
}
int main(void)
{
	for (unsigned i = 0; i < 20000000; i++)
		sink = twice(sink + i);
}
CODE
$CC -O2 -g -o inl inl.c
cp "$BUILD/preport" root/
ldd "$BUILD/preport" | grep -o '/[^ ]*' | while read -r library; do
	mkdir -p "root$(dirname "$library")"
	cp -L "$library" "root$library"
done

for what in symbols none; do
	precord -q --bundle=$what -e cpu-clock -F 999 -o m.trace -- sh -c './shares recursive 1 & (ulimit -c 0 -t 1; exec ./inl); wait'
	preport bundle m.trace -o root/b.trace 2>bundled.err || { cat bundled.err; fail "bundle failed"; }
	[ "$(stat -c %a root/b.trace)" = 600 ] || fail "others may read the trace"
	mv inl inl.away
	grep -q "with lines and inlined calls of" bundled.err || { cat bundled.err; fail "bundle does not say what it added"; }
	there() { chroot root /preport -i b.trace "$@" 2>>there.err; }
	mv inl.away inl
	here() { preport -i m.trace "$@" 2>>here.err; }
	for view in "--by line" "--by leaf" "--by total"; do
		here $view --limit 100000 --module 'inl' --format=csv >h.csv
		there $view --limit 100000 --module 'inl' --format=csv >t.csv
		diff h.csv t.csv || fail "--bundle=$what: $view differs elsewhere"
		here $view --limit 100000 --module 'shares' --format=csv >h.csv
		there $view --limit 100000 --module 'shares' --format=csv >t.csv
		diff h.csv t.csv || fail "--bundle=$what: $view of shares differs elsewhere"
	done
	there --by line --module inl --format=csv | grep -q 'inl.c:' || fail "no lines elsewhere"
	there --by total --module inl --format=csv | grep -q mix || fail "no inlined calls elsewhere"
	there annotate inl:main --format=csv >t.csv || { cat there.err; fail "annotate fails elsewhere"; }
	there folded >t.folded
	here folded >h.folded
	diff <(grep -o 'mix\|twice' h.folded | sort | uniq -c) <(grep -o 'mix\|twice' t.folded | sort | uniq -c) ||
		fail "--bundle=$what: inlined calls differ in folded stacks"
done
# What the function's instructions have, line by line.
here annotate inl:main --format=csv >h.csv
diff h.csv t.csv || fail "annotate differs elsewhere"
grep -q 'inl.c' t.csv || fail "annotate has no lines elsewhere"

# In place, twice: the same bytes the second time.
cp root/b.trace again.trace
preport bundle again.trace 2>/dev/null
cp again.trace once.trace
preport bundle again.trace 2>/dev/null
cmp once.trace again.trace || fail "a second bundle changes the file"

# A file that is not there any more is named.
cp m.trace gone.trace
id=$(readelf -n inl | sed -n 's/.*Build ID: //p')
mkdir -p "perf/.build-id/${id:0:2}/${id:2}"
mv inl "perf/.build-id/${id:0:2}/${id:2}/elf"
PERF_BUILDID_DIR=$PWD/none preport bundle gone.trace 2>gone.err
grep -q "inl': no lines were found" gone.err || { cat gone.err; fail "a file that vanished is not named"; }
# perf's cache is looked into, where it is.
PERF_BUILDID_DIR=$PWD/perf preport bundle gone.trace 2>kept.err
! grep -q "inl': no lines were found" kept.err || { cat kept.err; fail "perf's cache is not looked into"; }

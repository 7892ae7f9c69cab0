#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A stripped program is named as the whole one: from its debug file by build ID or by debug link, and, without
# lines, from the symbols in .gnu_debugdata. A debug file of another build is not used.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
command -v objcopy >/dev/null || skip "there is no objcopy"

cat >main.c <<'END'
#include <stdio.h>

static inline __attribute__((always_inline)) int twice(int x) { return x * 2 + 1; }
static __attribute__((noinline)) int hidden(int x) { return twice(x) ^ 5; }
__attribute__((noinline)) int shown(int x) { return hidden(x) + twice(x + 1); }
int main(int argc, char **argv) { (void)argv; return printf("%d\n", shown(argc)); }
END
"$CC" -O2 -g -Wl,--build-id main.c -o whole
nm whole | sed -nE 's/^0*([0-9a-f]+) [tT] (hidden|shown|main)$/\1/p' >starts
awk '{ print; for (i = 1; i < 4; i++) printf "%s+%d\n", $1, i }' starts |
	while IFS=+ read -r base add; do printf '%x\n' $((0x$base + ${add:-0})); done >addresses
[ "$(wc -l <addresses)" = 12 ] || fail "hidden, shown and main are not there"
"$BUILD/tests/tools/symbol_probe" "$PWD/whole" <addresses >expected
grep -q '^twice$' expected || fail "no inlined call in the whole program"
grep -q '^hidden$' expected || fail "no local function in the whole program"

objcopy --only-keep-debug whole link.debug
strip -o link whole
objcopy --add-gnu-debuglink=link.debug link
"$BUILD/tests/tools/symbol_probe" "$PWD/link" <addresses >found
diff expected found || fail "other answers through the debug link"

# The link is the same, the file another: its checksum is wrong, and its build ID too.
mkdir other
"$CC" -O1 -g -Wl,--build-id main.c -o other/whole
objcopy --only-keep-debug other/whole other/link.debug
cp link other/
"$BUILD/tests/tools/symbol_probe" "$PWD/other/link" <addresses >found
! grep -q '^hidden$' found || fail "a debug file of another build was used"

if command -v xz >/dev/null; then
	printf 'hidden\nshown\nmain\n' >kept
	objcopy -S --remove-section .gnu_debuglink --keep-symbols kept link.debug mini
	xz -k mini
	strip -o packed whole
	objcopy --add-section .gnu_debugdata=mini.xz packed
	"$BUILD/tests/tools/symbol_probe" "$PWD/packed" <addresses >found
	[ "$(grep -c '^hidden$' found)" = 4 ] || { cat found; fail "the symbols in .gnu_debugdata are not used"; }
fi

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A process whose owner locks its mappings, so that who reads its command line or its mappings waits: the recording begins without
# it, says so, and has everything else.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_system_wide
[ -z "${SAN-}" ] || skip "sanitizers do not let a library be preloaded"
$CC -O2 -fPIC -shared -o hold.so "$TOP/tests/programs/hold_mmap.c" -ldl || fail "cannot compile"
cat >main.c <<'END_C'
__attribute__((noinline)) static void spin_here(void)
{
	for (volatile long i = 0; i < 200000000; i++)
		;
}
int main(void)
{
	spin_here();
	return 0;
}
END_C
$CC -O1 -g -o main main.c || fail "cannot compile"
sleep 1000 & victim=$!
trap 'kill $victim' EXIT

begins() { # begins WHEN TARGET...: in spite of it
	local when=$1
	shift
	LD_PRELOAD=$PWD/hold.so timeout -s KILL 300 precord -F 499 -o $when.trace "$@" -- env -u LD_PRELOAD ./main 2>err.txt || { cat err.txt; fail "$when: $?"; }
	grep -q '^precord: warning: the mappings of 1 of the processes that ran before could not be read' err.txt || { cat err.txt; fail "$when: no word of it"; }
	preport -i $when.trace info >info.txt 2>&1 && grep -q '^File  *complete' info.txt || { cat info.txt; fail "$when: the file is not complete"; }
}

for file in cmdline maps; do
	HOLD_READ=/$victim/$file begins $file -a
	preport -i $file.trace --by leaf --limit 1000 --format=csv 2>/dev/null | columns function | grep -q '^spin_here$' || fail "$file: the command has no names"
done
HOLD_READ=/$victim/maps begins one -p $victim
exit 0

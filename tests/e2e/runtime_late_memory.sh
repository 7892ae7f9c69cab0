#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a runtime says of its code is not in memory when that code is sampled first, but later: it has its name, all the time.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
cc=${CC:-cc}
$cc -O1 -o late_object "$TOP/tests/programs/late_object.c" || fail 'cannot build what registers code'
cat >work.c <<'END_C'
unsigned long registered(unsigned long n)
{
	unsigned long x = n + 1;
	for (unsigned long i = 0; i < n; i++)
		x ^= x << 13, x ^= x >> 7;
	return x;
}
END_C
$cc -O1 -fno-pic -c work.c -o work.o || fail 'cannot build code'
precord -q -e cpu-clock:u -F 199 -o late.trace -- ./late_object work.o 1.2 2>err.txt || { cat err.txt; fail 'cannot record'; }
preport -i late.trace folded --samples 2>/dev/null >folded
awk '{ all += $NF } /;registered/ { named += $NF } END { print all + 0, named + 0 }' folded >counts
read -r all named <counts
echo "$named of $all samples are named"
[ "$all" -ge 40 ] || skip "only $all samples"
[ $((named * 100)) -ge $((all * 85)) ] || { cat folded; fail 'code whose names came late has none'; }
exit 0

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# preport diff names the function that was made slower, by how much, and no other.
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
command -v cc >/dev/null || skip "there is no C compiler"

# Six functions with the same work; "changed" has FACTOR times as much. Each step waits for the one before it, so that
# where the loops happen to lie in memory does not matter.
for name in one two three four five changed; do
	factor=1
	[ "$name" = changed ] && factor=FACTOR
	echo "__attribute__((noinline)) static unsigned long $name(unsigned long n) {
		unsigned long x = n;
		for (unsigned long i = 0; i < n * $factor; i++) { x = x * 6364136223846793005ul + 1; __asm__ volatile(\"\" : \"+r\"(x)); }
		return x; }"
done >program.c
cat >>program.c <<'C'
int main(void)
{
	for (int i = 0; i < 400; i++) {
		one(100000); two(100000); three(100000); four(100000); five(100000); changed(100000);
	}
	return 0;
}
C
mkdir before after
cc -O1 -g0 -DFACTOR=1 -o before/program program.c || fail "the program is not built"
cc -O1 -g0 -fno-pie -no-pie -DFACTOR=2 -o after/program program.c || fail "the changed program is not built"
for run in before again after; do
	dir=$run
	[ $run = again ] && dir=before
	precord -q -F 1999 -o $run.trace -- ./$dir/program || fail "recording $run"
done

# named FILE [OPTION...]: functions of the program that are more than noise, with the words
named() {
	preport diff before.trace "$@" --module=program --format=csv | columns sure verdict function | awk -F '\t' '$1 == "true" { print $2, $3 }' | sort
}

[ -z "$(named again.trace)" ] || fail "nothing changed, but: $(named again.trace)"
for scale in typical none; do
	found=$(named after.trace --scale=$scale | head -n 3)
	[ $scale = none ] && found=$(grep changed <<<"$found") # the machine may have been slower on the whole
	[ "$found" = "grew changed" ] || fail "by $scale: '$found' instead of 'grew changed'"
done

# One of six becomes two of seven: 16.67 % becomes 28.57 %, 11.9 points more.
preport diff before.trace after.trace --module=program --format=csv | columns function low high |
	awk -F '\t' '$1 == "changed" { found = 1; if ($2 > 0.119 || $3 < 0.119) { print "from", $2, "to", $3; exit 1 } } END { exit !found }' >range ||
	fail "11.9 points are not within the range: $(cat range)"

preport diff before.trace after.trace --module=program --fail-above=5 >/dev/null
[ $? = 3 ] || fail "--fail-above=5 does not fail"
preport diff before.trace after.trace --module=program --fail-above=50 >/dev/null || fail "--fail-above=50 fails"
preport diff before.trace again.trace --module=program --fail-above=0 >/dev/null || fail "--fail-above=0 fails though nothing changed"

# What other formats say of the same recordings is the same.
for run in before after; do
	preport pprof -i $run.trace -o $run.pb.gz 2>/dev/null || fail "pprof of $run"
	preport folded -i $run.trace --with-module -o $run.folded || fail "folded $run"
done
shares() {
	preport diff "$@" --scale=share --format=csv 2>/dev/null | columns function a b | awk -F '\t' '$1 ~ /^(one|two|three|four|five|changed)$/ { printf "%s %.4f %.4f\n", $1, $2, $3 }' | sort
}
shares before.trace after.trace >want
for kind in pb.gz folded; do
	shares before.$kind after.$kind >got
	cmp -s want got || fail "shares of .$kind differ from those of the traces: $(diff want got | head -n 4)"
	shares before.trace after.$kind >got
	cmp -s want got || fail "shares of a trace and a .$kind differ: $(diff want got | head -n 4)"
done

# Two windows of one file.
preport diff before.trace --time-a=0%,50% --time-b=50%,100% --format=csv >windows.csv || fail "two windows"
! columns sure function <windows.csv | grep -q '^true.*\(one\|two\|three\|four\|five\|changed\)$' || fail "the halves of a steady program differ"
exit 0

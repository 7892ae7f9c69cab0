#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# preport diff names the function that was made slower, by how much, and no other.
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
command -v cc >/dev/null || skip "there is no C compiler"

# Six functions with the same work; "changed" has FACTOR times as much. Each step waits for the one before it, so that
# where the loops happen to lie in memory does not matter. A turn takes a tenth of the time between two samples and differs
# from the next, so that no CPU's speed lets them keep step with the samples.
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
	for (unsigned i = 0, random = 12345; i < 12000; i++) {
		random = random * 1664525 + 1013904223;
		unsigned long n = 1000 + (random >> 16) % 12000;
		one(n); two(n); three(n); four(n); five(n); changed(n);
	}
	return 0;
}
C
mkdir before after
cc -O1 -g0 -DFACTOR=1 -o before/program program.c || fail "the program is not built"
cc -O1 -g0 -fno-pie -no-pie -DFACTOR=4 -o after/program program.c || fail "the changed program is not built"
for run in before again after; do
	dir=$run
	[ $run = again ] && dir=before
	precord -q -F 1999 -o $run.trace -- ./$dir/program || fail "recording $run"
done

# rows FILE [OPTION...]: functions of the program with the words, of those that are more than noise.
rows() {
	preport diff before.trace "$@" --module=program --format=csv | columns sure p_adjusted verdict function | awk -F '\t' '$1 == "true"'
}
grown() { rows "$@" | awk -F '\t' '$3 == "grew" { print $4 }'; }
# One report in twenty may call noise a change, and does: that it never may is said of p below a millionth.
certain() { rows "$@" | awk -F '\t' '$2 < 1e-6 { print $3, $4 }'; }

[ -z "$(certain again.trace)" ] || fail "nothing changed, but: $(certain again.trace)"
grown after.trace | grep -qx changed || fail "'changed' is not what grew: $(rows after.trace)"
# A machine that was slower on the whole is what "typical" takes out, and "none" does not.
[ "$(certain after.trace --scale=typical)" = "grew changed" ] ||
	fail "by typical: '$(certain after.trace --scale=typical)' instead of 'grew changed'"
grown after.trace --scale=none | grep -qx changed || fail "by none: $(rows after.trace --scale=none)"

# One of six becomes four of nine: 16.67 % becomes 44.44 %, 27.78 points more. Three times as wide, the 95 % range holds that
# but once in 250 million (six standard deviations).
preport diff before.trace after.trace --module=program --format=csv | columns function low high |
	awk -F '\t' '$1 == "changed" { found = 1; middle = ($2 + $3) / 2; off = (middle - 5 / 18) / ($3 - $2) * 2
		if (off < -3 || off > 3) { print "from", $2, "to", $3; exit 1 } } END { exit !found }' >range ||
	fail "27.8 points are far from the range: $(cat range)"

preport diff before.trace after.trace --module=program --fail-above=5 >/dev/null
[ $? = 3 ] || fail "--fail-above=5 does not fail"
preport diff before.trace after.trace --module=program --fail-above=50 >/dev/null || fail "--fail-above=50 fails"
preport diff before.trace before.trace --module=program --fail-above=0 >/dev/null || fail "--fail-above=0 fails though nothing changed"

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
[ "$(columns samples_a samples_b function <windows.csv | awk '$1 > 0 && $2 > 0 && $3 ~ /^(one|two|three|four|five|changed)$/' | wc -l)" = 6 ] ||
	fail "a window lacks a function"
[ -z "$(certain --time-a=0%,50% --time-b=50%,100%)" ] || fail "the halves of a steady program differ"
exit 0

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The annotation of a function says where in it the time went: instruction, block, loop, inlined call and line.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording

# What takes the time is a chain of short steps: the samples of a long one are its successor's on some CPUs.
cat >hot.c <<'END_C'
#include <stdio.h>

static inline __attribute__((always_inline)) unsigned mix(unsigned x)
{
	return (((x ^ x >> 3) * 31 ^ x >> 5) * 37 ^ x >> 7) * (x | 41); /* line 5 */
}

__attribute__((noinline)) unsigned hot(unsigned n)
{
	unsigned sum = 0;

	for (unsigned k = 0; k < n; k++)
		for (unsigned i = 0; i < 1000; i++)
			sum += mix(sum + i);
	return sum;
}

__attribute__((noinline)) unsigned cold(unsigned n)
{
	unsigned sum = n;

	for (unsigned i = 0; i < 100000000; i++)
		sum = sum * 7 + (sum >> 2);
	return sum;
}

int main(void)
{
	return printf("%u %u\n", hot(200000), cold(2)) < 0;
}
END_C
"$CC" -g -O1 -fno-unroll-loops -o hot hot.c
precord -q -F 499 -e cpu-clock -e task-clock -o h.trace -- ./hot >/dev/null
annotate() { preport -i h.trace annotate "$@"; }
csv() { annotate "$@" --format=csv | plain_csv; }

# Each event has shares of its own, which add up to one; and so do blocks.
csv hot >hot.csv
for event in cpu-clock task-clock; do
	columns event share block block_share <hot.csv | awk -v event="$event" '
		$1 == event { sum += $2; if (!($3 in seen)) blocks += $4; seen[$3] = 1 }
		END { exit !(sum > 0.999 && sum < 1.001 && blocks > 0.999 && blocks < 1.001) }' ||
		fail "shares of $event do not add up"
done
# Nearly all of it is in the inner one of two loops.
columns event loop_depth loop_share <hot.csv | awk '$1 == "cpu-clock" && $2 == 2 && $3 > 0.9 { found = 1 } END { exit !found }' ||
	fail "the inner loop does not have the time"
[ "$(columns loop <hot.csv | sort -u | grep -vc '^0$')" = 2 ] || fail "there are not two loops"
columns inlined share <hot.csv | awk '$1 == "mix" { sum += $2 } END { exit !(sum > 0.5) }' || fail "the inlined call does not have the time"

annotate hot >hot.txt
for text in 'cpu-clock *task-clock' 'inlined mix, called at hot.c:14: ' '[0-9.]* % ([0-9.-]*) in the inner loop from' 'hot.c:5' '>$\|> ' \
	'a timer interrupt'; do
	grep -q -- "$text" hot.txt || { cat hot.txt; fail "the listing does not have '$text'"; }
done
# A code address, a line and a name mean the same function; a share of all is smaller.
address=$(columns address <hot.csv | sed -n 3p)
for operand in "$address" "hot:$address" hot.c:5 'h?t' hot:hot; do
	csv "$operand" >other.csv || fail "$operand is not found"
	cmp -s hot.csv other.csv || fail "$operand shows something else"
done
csv hot --percent=global | columns event share | awk '$1 == "cpu-clock" { sum += $2 } END { exit !(sum < 0.99) }' ||
	fail "shares of all samples add up to one"

# The hottest ones at once, in the order of the table of leaves.
csv --hot 2 | columns function | uniq >hottest
preport -i h.trace -e cpu-clock --by leaf --format=csv -n 20 | columns function >leaves
head -n 1 hottest | grep -qx "$(grep -x 'hot\|cold\|mix' leaves | head -n 1 | sed 's/mix/hot/')" || fail "the hottest function is another"
[ "$(wc -l <hottest)" -le 2 ] || fail "there are more than two"
annotate --hot 1 --no-source | grep -q 'hot.c:[0-9]*  ' && fail "--no-source shows source"
annotate hot --source=beside | grep -qE '^ .*[0-9a-f]+ +[a-z]+ .*hot\.c:5' || fail "no source beside the instructions"
annotate hot --intel | grep -q ' xor e' || fail "no Intel syntax"

# On a narrow terminal without UTF-8 nothing is too wide, and arrows are plain.
LC_ALL=C COLUMNS=80 annotate hot >narrow.txt
[ "$(wc -L <narrow.txt)" -le 80 ] || fail "a line has $(wc -L <narrow.txt) columns"
LC_ALL=C grep -q '[^ -~]' narrow.txt && fail "not plain ASCII"
grep -q "['+]-" narrow.txt || fail "there are no arrows"

# Without an operand it is the function with the most samples.
preport -i h.trace annotate >most.txt || fail "no function is chosen"
head -n 1 most.txt | grep -q '^hot in ' || { head -n 3 most.txt; fail "not the one with the most samples is chosen"; }
# main() has no samples of its own, but for one in a hundred thousand recordings: then there is nothing to see.
if ! preport -i h.trace --by leaf --format=csv -n 0 | columns function | grep -qx main; then
	preport -i h.trace annotate main 2>err && fail "main has no samples"
	grep -q "no sample was taken in 'main' itself" err || { cat err; fail "main is not found as a caller"; }
fi
echo "all there"

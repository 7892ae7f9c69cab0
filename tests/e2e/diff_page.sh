#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The page of preport diff --flamegraph, in Chromium: its figures equal the table of preport diff, code that vanished is
# seen, all works by keyboard, hostile names do nothing, axe-core finds nothing serious. A broken side is an error.
# slow: a browser draws large pages
set -eu
skip() { echo "$1"; exit 77; }
fail() { echo "FAILED: $1"; exit 1; }
write_trace=$BUILD/tests/tools/write_trace

# side OURS THEIRS: 200 times 10 ms of a server, of which OURS is one half, and of a client that does THEIRS.
side() {
	printf 'event cpu-clock ns 1000\nprocess 10 server\nprocess 20 client\n'
	for i in $(seq 200); do
		printf 'at %d.%02d5\n' $((i / 100)) $((i % 100))
		printf 'sample 0 10 10 0 1000000 1 main;parse;lex\nsample 0 10 10 0 1000000 1 main;%s\n' "$1"
		[ $((i % 3)) = 0 ] || printf 'sample 0 20 20 0 1000000 1 run;%s\n' "$2"
	done
}
side 'old_code;vanished' 'send;sum' | $write_trace a.trace
side 'parse;lex' 'send;fresh' | $write_trace b.trace
preport diff a.trace b.trace --flamegraph -o page.html 2>/dev/null
preport diff a.trace b.trace --by leaf --format=csv >leaf.csv 2>/dev/null
preport diff a.trace b.trace --by total --format=csv >total.csv 2>/dev/null
preport diff a.trace a.trace --flamegraph -o same.html 2>/dev/null

# 150 functions, all the same but for chance; and one that has few samples, all on one side.
chance() {
	printf "event cpu-clock ns 1000\nprocess 10 server\n"
	awk -v seed="$1" 'BEGIN { srand(seed); for (i = 0; i < 6000; i++) print "sample 0 10 10 0 1000000 1 main;f" int(rand() * 150) }'
}
for pair in "chance 1 2" "few 1 1"; do
	set -- $pair
	chance "$2" | $write_trace $1.a.trace
	chance "$3" | awk -v add=$1 '{ print } add == "few" && NR % 40 == 9 { print "sample 0 10 10 0 1000000 1 main;added" }' |
		$write_trace $1.b.trace
	preport diff $1.a.trace $1.b.trace --run-noise=0 --flamegraph -o $1.html 2>/dev/null
	preport diff $1.a.trace $1.b.trace --run-noise=0 --by total --format=csv >$1.csv 2>/dev/null
done

# Names that would be markup, move text or fill the page, on either side.
evil=$(printf '%s;' '</script><script>evil=1</script>' '"><svg/onload=evil=1>' '\xe2\x80\xaeltr' '\x1b[31mred' \
	'<img/src=x/onerror=evil=1>')
long=$(printf 'x%.0s' $(seq 10000))
mkdir -p 'dir<' # of "</script>": a file name has no slash, a path has
printf 'event c ns 99\nprocess 1 <b>evil</b>\nsample 0 1 1 0 1000 40 %s\n' "$evil$long" |
	$write_trace 'dir</script><script>evil=1<script>.trace'
printf 'event c ns 99\nprocess 1 <b>evil</b>\nsample 0 1 1 0 1000 40 %sother\n' "$evil" |
	$write_trace 'b"><svg onload=evil=1>.trace'
preport diff 'dir</script><script>evil=1<script>.trace' 'b"><svg onload=evil=1>.trace' --flamegraph -o hostile.html \
	2>/dev/null
! grep -q '<script>evil\|<svg onload\|<img/src' hostile.html || fail 'a name is markup'

# An error, not an empty page.
: >none.trace
head -c 100 a.trace >cut.trace
printf 'event c ns 99\nprocess 1 idle\n' | $write_trace idle.trace
for bad in none cut idle; do
	for pair in "a.trace $bad.trace" "$bad.trace a.trace"; do
		! preport diff $pair --flamegraph -o bad.html 2>err || fail "a page of $pair"
		[ ! -e bad.html ] && grep -q "$bad.trace" err || fail "$pair: no word about why"
	done
done

command -v node >/dev/null || skip 'node is not installed'
export CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
[ -n "$CHROMIUM" ] || skip 'chromium is not installed'
"$TOP/tests/web/packages" || skip 'playwright-core and axe-core cannot be had from npm, or not for this node'
node "$TOP/tests/web/diff.mjs" "$PWD"

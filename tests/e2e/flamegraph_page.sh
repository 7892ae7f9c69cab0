#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The page of preport flamegraph, in Chromium: figures equal preport's tables, all works by keyboard, hostile names
# do nothing, axe-core finds nothing serious. The viewer is small, and the page of a broken input is an error.
# slow: a browser draws large pages
set -eu
skip() { echo "$1"; exit 77; }
fail() { echo "FAILED: $1"; exit 1; }
write_trace=$BUILD/tests/tools/write_trace

# 40 times 100 ms: what runs changes with time; weights differ from sample to sample.
{
	printf 'event cpu-clock ns 1000\nevent faults events 10\nprocess 10 server\nthread 10 11 worker\nprocess 20 client\n'
	for i in $(seq 0 29); do
		echo "at $((i / 10)).$((i % 10))05"
		echo "sample 0 10 10 0 $((1000000 + i * 1000)) $((i % 4 + 1)) main;parse;lex;parse;next"
		echo "sample 0 10 11 1 1000000 $((i % 3 + 2)) main;work;hash"
		[ $i -lt 12 ] || echo "sample 0 20 20 0 1500000 2 run;send;sum"
		echo "sample 1 10 10 1 7 3 main;parse;grow"
	done
	echo 'lost 0 3'
} >plain.txt
$write_trace plain.trace <plain.txt
preport -i plain.trace flamegraph -o page.html
[ -s page.html ] || fail 'there is no page'
for level in leaf total; do
	preport -i plain.trace --by $level --event cpu-clock --limit 0 --format=csv >$level.csv
	preport -i plain.trace --by $level --event faults --limit 0 --format=csv >${level}_other.csv
	preport -i plain.trace --by $level --event cpu-clock --time 0.5,1.5 --limit 0 --format=csv >${level}_window.csv
done
$write_trace hostile.trace <"$TOP/tests/data/report/hostile.txt"
long=$(printf 'x%.0s' $(seq 10000))
printf 'event c ns 99\nprocess 1 </script><script>evil=1</script>\nsample 0 1 1 0 1000 5 %s\n' \
	"</script><script>evil=1</script>;\"><svg/onload=evil=1>;\\xe2\\x80\\xaeltr;\\x1b[31mred;<img/src=x/onerror=evil=1>;$long" >evil.txt
$write_trace hostile.trace <evil.txt
preport -i hostile.trace flamegraph -o hostile.html 2>/dev/null
sed 's/\(id="profile">.\{200\}\).\{40\}/\1/' page.html >cut.html

# The size that the viewer may have: the page without its data.
viewer=$(sed '/id="profile"/d' page.html | wc -c)
[ "$viewer" -lt 41000 ] || fail "the viewer has $viewer bytes"

# An error, not an empty page.
printf 'event c ns 99\nprocess 1 idle\n' | $write_trace empty.trace
! preport -i empty.trace flamegraph -o empty.html 2>err || fail 'a page of nothing'
[ ! -e empty.html ] && grep -q 'holds no samples' err || fail 'no word about why'
head -c 100 plain.trace >broken.trace
! preport -i broken.trace flamegraph -o broken.html 2>err && [ ! -e broken.html ] || fail 'a page of a broken file'

command -v node >/dev/null || skip 'node is not installed'
# As modules: node before 22 does not see by itself that these scripts are.
mkdir -p model/report/page model/tests/web
cp -r "$TOP/report/page/web" model/report/page/
cp "$TOP/tests/web/model.mjs" model/tests/web/
echo '{ "type": "module" }' >model/package.json
node model/tests/web/model.mjs
export CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
[ -n "$CHROMIUM" ] || skip 'chromium is not installed'
"$TOP/tests/web/packages" || skip 'playwright-core and axe-core cannot be had from npm, or not for this node'
node "$TOP/tests/web/page.mjs" "$PWD"

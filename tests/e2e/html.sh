#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One file with everything: the flame graph, whose frames lead to instructions, the summary, the tables and the code.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording

cat >'a<b>.c' <<'END_C'
#include <stdio.h>

__attribute__((noinline)) unsigned hot(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum = sum * 7 + (sum >> 2); /* </script><script>evil=1</script> */
	return sum;
}

__attribute__((noinline)) void evil(unsigned *sum, unsigned n) __asm__("evil<img/src=x/onerror=evil=1>");
void evil(unsigned *sum, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		*sum ^= *sum * 3 + i;
}

int main(void)
{
	unsigned sum = hot(300000000);

	evil(&sum, 100000000);
	return printf("%u\n", sum) < 0;
}
END_C
"$CC" -g -O1 -o '<b>prog' 'a<b>.c' 2>/dev/null || { # not every assembler takes such a name
	sed -i 's/ __asm__(.*);/;/' 'a<b>.c'
	"$CC" -g -O1 -o '<b>prog' 'a<b>.c'
}
precord -q -F 499 -e cpu-clock -o h.trace -- './<b>prog' >/dev/null

preport -i h.trace html -o report.html 2>err || { cat err; fail "there is no page"; }
grep -q "wrote 'report.html'" err || fail "it does not say what was written"
for text in 'id="profile"' '<h2>Summary</h2>' 'Functions, with what they call' 'data-name="hot"' 'loop from [0-9a-f]* to' '</html>'; do
	grep -q -- "$text" report.html || fail "the page does not have '$text'"
done
sections=$(preport -i h.trace html --hot 1 --title 'A <b>title' -o one.html 2>/dev/null && grep -c '<section class="code"' one.html)
[ "$sections" = 1 ] || fail "--hot 1 shows $sections functions"
grep -q '<title>A &lt;b&gt;title</title>' one.html || fail "the title is not escaped"
# Escaped everywhere: no tag or script of the recorded names or sources.
for file in report.html one.html; do
	! grep -q '<script>evil\|<img\|<b>prog' $file || fail "a name is markup in $file"
done
cp report.html hostile.html

preport -i h.trace annotate hot --html code.html || fail "annotate writes no page"
grep -q 'script-src' code.html && fail "the page of annotate lets scripts in"
grep -q '95 % intervals' code.html && tail -n 1 code.html | grep -q '</html>' || fail "the page of annotate is not whole"
preport -i h.trace annotate hot --html x.html --format=csv 2>err && fail "a page as CSV"
preport -i h.trace annotate nothing --html none.html 2>err && fail "a page of nothing"
[ ! -e none.html ] || fail "a page though there is an error"

command -v node >/dev/null || skip 'node is not installed'
export CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
[ -n "$CHROMIUM" ] || skip 'chromium is not installed'
"$TOP/tests/web/packages" || skip 'playwright-core and axe-core cannot be had from npm, or not for this node'
node "$TOP/tests/web/report.mjs" "$PWD"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A PHP program that says how long each of its functions and lines ran: the shares that the report has are the same, and
# stacks have the callers in their order.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_interpreters
php=$(command -v php) || skip "there is no php"
php -r 'exit(PHP_VERSION_ID >= 80600 || PHP_ZTS && PHP_VERSION_ID < 70400 ? 1 : 0);' || skip "this php is too new, or has thread safety before 7.4"
grep -q executor_globals "$(readlink -f "$php")" || skip "this php has no symbols"

program="$TOP/tests/programs/shares.php"
# Until stacks were read, each time for longer: a recorder that gets no CPU comes too late.
for attempt in 1 2 3 4 5 6; do
	precord -v -e cpu-clock -F 999 -o s.trace -- php "$program" $((60 * attempt)) >shares.txt 2>precord.txt || { cat precord.txt; fail "php failed"; }
	preport script -a -i s.trace 2>/dev/null | grep -q 'managed: whole' && break
done
preport --by line --limit 100000 --format=csv -i s.trace >lines.csv 2>/dev/null || fail "no lines"
preport --by total --limit 100000 --format=csv -i s.trace >total.csv 2>/dev/null || fail "no functions"
preport folded -i s.trace >folded.txt 2>/dev/null
grep -q 'stack was read' precord.txt || { cat precord.txt; fail "no interpreter was noticed"; }

# Samples with a stack of PHP are those whose stack has run(); a share six standard deviations away comes once in a billion.
total=$(columns function samples <total.csv | awk -F'\t' '$1 == "run" { print $2 }')
[ "${total:-0}" -ge 300 ] || few_stacks precord.txt
columns function samples <total.csv | awk -F'\t' -v total="$total" '
	FILENAME == "shares.txt" { if ($1 ~ / 0 /) { split($1, part, " "); ns[part[1]] = part[3]; whole += part[3] } next }
	{ hits[$1] = $2 }
	END { for (name in ns) { p = ns[name] / whole; got = hits[name] / total; sigma = sqrt(p * (1 - p) / total)
		if (got < p - 6 * sigma - 0.01 || got > p + 6 * sigma + 0.01) { printf "%s has %.4f instead of %.4f of %d\n", name, got, p, total; bad = 1 } }
		exit bad }' shares.txt - || fail "shares are not where the program says"

# The first of the two lines had a third of its function's time, in all the calls of now() on it too; so it is the rarer one.
line() { plain_csv <lines.csv | columns line samples | awk -F'\t' -v at=":$1\$" '$1 ~ at { n += $2 } END { print n + 0 }'; }
a=$(line "$(grep -n 'LINE A' "$program" | cut -d: -f1)") b=$(line "$(grep -n 'LINE B' "$program" | cut -d: -f1)")
awk -v a="$a" -v b="$b" 'BEGIN { n = a + b; sigma = sqrt(n * 2 / 9); exit !(n > 20 && a > n / 3 - 6 * sigma && a < n / 3 + 6 * sigma) }' ||
	fail "line A has $a and line B $b samples instead of one third and two"
grep -qE ';<main>;run;array_map;Item::callback[; ]' folded.txt || { cat folded.txt; fail "a method that C calls back is not below its caller"; }
grep -q ';run;recursive;recursive;recursive' folded.txt || fail "recursion is not there"
grep -qE ';run;generator[; ]' folded.txt || fail "the generator is not there"
# Xdebug has a loop of its own around it, xdebug_execute_ex.
grep -qE ';execute_ex;(.*;)?run;|;run;(.*;)?execute_ex[; ]' folded.txt && fail "the loop is still beside its frames"
preport info -i s.trace 2>/dev/null | grep -A3 '^Interpreters' | grep -qE '^ *[0-9,]+ .*read$' || fail "info does not say how many stacks were read"
preport -i s.trace 2>/dev/null | grep -q 'scripts unread' || fail "the summary does not say how many stacks were not read"
exit 0

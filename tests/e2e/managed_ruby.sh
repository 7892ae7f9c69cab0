#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A Ruby program that says how long each of its methods and lines ran, and what its stack was there: the report has the same
# shares and the same stacks, of the main thread, of a second one and of a fiber.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_interpreters
ruby=$(command -v ruby) || skip "there is no ruby"
"$ruby" -e 'v = RUBY_VERSION.to_f; exit(RUBY_ENGINE == "ruby" && v >= 2.5 && v < 3.5)' || skip "this ruby is not one that is known"

program="$TOP/tests/programs/shares.rb"
# Until stacks were read, each time for longer: a recorder that gets no CPU comes too late.
for attempt in 1 2 3 4 5 6; do
	precord -v -e cpu-clock -F 999 -o s.trace -- "$ruby" "$program" $((60 * attempt)) >said.txt 2>precord.txt || { cat precord.txt; fail "ruby failed"; }
	preport script -a -i s.trace 2>/dev/null | grep -q 'managed: whole' && break
done
grep -v '^STACK' said.txt >shares.txt
preport --by line --limit 100000 --format=csv -i s.trace >lines.csv 2>/dev/null || fail "no lines"
preport folded -i s.trace >classes.txt 2>/dev/null
# Before 3.4 Ruby says no classes.
sed 's/\(;\|block in \|levels) in \|rescue in \)[A-Z][A-Za-z:]*[#.]/\1/g' classes.txt >folded.txt
for name in 'Object#run' 'Integer#times' 'Array#sort' 'Item#<=>' 'block in Object#generator'; do
	grep -qF ";$name" classes.txt || { cat classes.txt; fail "$name is not there"; }
done
grep -q 'stack was read' precord.txt || { cat precord.txt; fail "no interpreter was noticed"; }

# Samples with a stack of Ruby are those whose stack has one of the methods; six standard deviations come once in a billion.
total=$(grep -cE 'managed: whole' <(preport script -a -i s.trace 2>/dev/null))
[ "${total:-0}" -ge 300 ] || few_stacks precord.txt
awk '
	FILENAME == "shares.txt" { ns[$1] = $3; whole += $3; next }
	{ weight = $NF; sub(/ [0-9]+$/, "")
	  for (name in ns) { in_it = name == "generator" ? "block in generator" : name
		if (index($0 ";", ";" in_it ";")) { hits[name] += weight; all += weight; break } } }
	END { total = all / (1e9 / 999)
		if (total < 300) { print "only", total + 0, "samples in the methods"; exit 1 }
		for (name in ns) { p = ns[name] / whole; got = hits[name] / all; sigma = sqrt(p * (1 - p) / total)
		if (got < p - 6 * sigma - 0.01 || got > p + 6 * sigma + 0.01) { printf "%s has %.4f instead of %.4f of %d\n", name, got, p, total; bad = 1 } }
		exit bad }' shares.txt folded.txt || fail "shares are not where the program says"

# The first of the two lines had a third of its method's time.
line() { plain_csv <lines.csv | columns line samples | awk -F'\t' -v at=":$1\$" '$1 ~ at { n += $2 } END { print n + 0 }'; }
a=$(line "$(grep -n 'LINE A' "$program" | cut -d: -f1)") b=$(line "$(grep -n 'LINE B' "$program" | cut -d: -f1)")
awk -v a="$a" -v b="$b" 'BEGIN { n = a + b; sigma = sqrt(n * 2 / 9); exit !(n > 20 && a > n / 3 - 6 * sigma && a < n / 3 + 6 * sigma) }' ||
	fail "line A has $a and line B $b samples instead of one third and two"

# What Ruby says of its stack is a stack of the report, frame by frame, but for how sort() of the C library came to call back.
grep '^STACK' said.txt | cut -d' ' -f2- | while read -r stack; do
	sed 's/ [0-9]*$/;/; s/;qsort_r\|;msort_with_tmp[a-z0-9.]*//g' folded.txt | grep -qF ";$stack;" || { echo "$stack"; false; } || exit 1
done || { cat folded.txt; fail "a stack is not there as Ruby tells it"; }
grep -q 'rb_vm_exec.*;run;\|;run;.*rb_vm_exec' folded.txt && fail "the loop is still beside its frames"
preport info -i s.trace 2>/dev/null | grep -A3 '^Interpreters' | grep -qE '^ *[0-9,]+ .*read$' || fail "info does not say how many stacks were read"
preport -i s.trace 2>/dev/null | grep -q 'scripts unread' || fail "the summary does not say how many stacks were not read"

# Several ractors (3.0 and on): each runs the method.
"$ruby" -e 'exit(RUBY_VERSION.to_f >= 3.0)' || exit 0
cat >ractors.rb <<'END'
def spin(n) = (i = 0; i += 1 while i < n)
def now = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
2.times.map { Ractor.new { spin(20000) while now < 0.3 } }.each(&:take)
END
precord -q -e cpu-clock -F 999 -o r.trace -- "$ruby" -W0 ractors.rb || fail "the recording failed"
read -r samples spins < <(preport folded -i r.trace 2>/dev/null | awk '{ n++; w = $NF; all += w } /;Object#spin/ { s += w } END { printf "%d %d\n", all / 1e6, s / 1e6 }')
echo "ractors: $spins of $samples ms in their method"
[ $((spins * 2)) -ge "$samples" ] || [ "$samples" -lt 200 ] || fail "ractors have no stacks"
exit 0

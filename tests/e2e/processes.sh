#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A tree of processes: who started whom, under which names, and what each cost with its descendants; command lines, programs,
# users and cgroups as levels; command lines are left out and taken out on request.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
$CC -O2 -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread || fail "cannot compile"

# The child burns for long enough to be sampled and to be looked at.
cat >parent.sh <<'END'
./shares plain 1 &
wait $!
exit 7
END
precord -q -F 499 -o p.trace -- sh parent.sh
[ $? = 7 ] || fail "precord does not pass the status on"
preport processes -i p.trace --format=csv >p.csv 2>err.txt || { cat err.txt; fail "preport processes failed"; }
columns process pid parent_pid exit samples whole cmdline <p.csv >rows.txt

parent=$(awk -F'\t' '$1 ~ /sh$/ && $4 == 7 { print $2 }' rows.txt)
[ -n "$parent" ] || { cat rows.txt; fail "the command is not there with its exit status"; }
awk -F'\t' -v p="$parent" '$3 == p && $1 ~ /> shares$/ && $5 > 0 { found = 1 } END { exit !found }' rows.txt ||
	{ cat rows.txt; fail "the child is not below its parent, with samples, as sh > shares"; }
# What the parent cost with its children is at least what the child did.
awk -F'\t' -v p="$parent" '$2 == p { all = $6 } $3 == p { child += $6 } END { exit !(all >= child && child > 0) }' rows.txt ||
	{ cat rows.txt; fail "costs do not add up"; }
preport processes -i p.trace >p.txt 2>/dev/null
grep -q 'with children' p.txt || { cat p.txt; fail "no table"; }

# The exec is seen within a few milliseconds, while the program runs for a second.
grep -q 'shares plain 1' rows.txt || { cat rows.txt; fail "no command line"; }
preport -i p.trace --by cmdline --format=csv 2>/dev/null | columns cmdline | grep -q 'shares plain 1' ||
	fail "--by cmdline does not tell it"
preport -i p.trace --by exec --format=csv 2>/dev/null | columns exec | grep -q '/shares$' || fail "--by exec does not tell it"
preport -i p.trace --by user --format=csv >user.csv 2>err.txt || { cat err.txt; fail "--by user"; }
for level in cgroup container pod unit; do
	preport -i p.trace --by $level --format=csv >level.csv 2>err.txt && continue
	grep -q 'does not have the' err.txt || { cat err.txt; fail "--by $level"; }
done

# Left out when it is recorded, and taken out afterwards.
precord -q -F 499 --no-cmdline -o n.trace -- sh parent.sh
zstd -dc n.trace | grep -aq 'shares plain 1' && fail "--no-cmdline leaves command lines in"
preport -i n.trace --by cmdline >n.txt 2>&1 && fail "--by cmdline of a trace without any"
grep -q "does not have the cmdline" n.txt || { cat n.txt; fail "the reason is missing"; }
preport strip --command-lines -o s.trace p.trace 2>/dev/null || fail "strip --command-lines failed"
zstd -dc s.trace | grep -aq 'shares plain 1' && fail "strip --command-lines leaves command lines in"
preport processes -i p.trace --no-cmdline | grep -q 'shares plain 1' && fail "processes --no-cmdline shows one"
exit 0

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What 'preport strip' takes out is in no part of the new file; what stays says the same.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording

$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread
precord -q -e cpu-clock -F 999 -o run.trace -- sh -c './shares recursive 1' command-line-secret >/dev/null
zstd -dc run.trace >whole.raw 2>/dev/null || skip "no zstd to look into the file with"
grep -q command-line-secret whole.raw || fail "the test looks for what is not there to begin with"

preport strip --command-lines --host --stacks run.trace 2>strip.err || { cat strip.err; fail "strip failed"; }
[ "$(stat -c %a run.stripped.trace)" = 600 ] || fail "others may read the new file"
zstd -dc run.stripped.trace >stripped.raw
if grep -q command-line-secret stripped.raw; then fail "the command line is still there"; fi
if preport info -i run.stripped.trace 2>/dev/null | grep '^Host'; then fail "the host is still there"; fi
preport info --sizes --format=csv -i run.stripped.trace >sizes.csv
if grep -E '^(stacks,(shapes|pointers into the stack)|registers),' sizes.csv; then fail "registers or stacks are still there"; fi
for view in leaf module thread total; do
	preport -i run.trace --by $view --limit 10000 --format=csv 2>/dev/null >a.csv
	preport -i run.stripped.trace --by $view --limit 10000 --format=csv 2>/dev/null >b.csv
	diff a.csv b.csv || fail "--by $view differs"
done
# Nothing named is a mistake, and the input stays as it is.
before=$(cksum <run.trace)
if preport strip run.trace 2>none.err; then fail "nothing to take out, and no error"; fi
grep -q 'say --stacks' none.err || fail "no remedy"
[ "$before" = "$(cksum <run.trace)" ] || fail "the input was changed"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# precord top: a program that runs is seen, chosen, paused, its instructions shown, the last moments saved; nothing is left.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/terminal.bash"
precord -q -F 99 -o try.trace -- true 2>/dev/null || skip "events cannot be opened"
cat >burn.c <<'C'
__attribute__((noinline)) long work(long n) { long s = 0; for (long i = 0; i < n; i++) s += i * i % 7; return s; }
int main(int argc, char **argv) { volatile long t = 0; (void)argv; for (;;) t += work(1000000 + argc); }
C
$CC -O1 -g -fno-inline -fno-ipa-pure-const -o burn burn.c || fail "cannot compile"
mkdir tmp
./burn &
burn=$!
trap 'tmux kill-server 2>/dev/null; kill $burn 2>/dev/null' EXIT

precord top -p $burn </dev/null >out 2>err && fail "it runs without a terminal"
grep -q 'must be a terminal' err || fail "what is missing is not said"
precord top -p $burn --refresh 0.1 2>err && fail "a refresh of 0.1 s is accepted"

terminal
key "clear; export TMPDIR=$PWD/tmp; unset XDG_RUNTIME_DIR; TERM=screen LC_ALL=C.UTF-8 precord top -r 0.5 -k 30 -F 499 -p $burn; echo status=\$?" Enter
sees 'leaves of .*last [0-9.]+ m?s, ' || fail "no live view"
sees ' work  +burn' || fail "the function is not seen"
first=$(sed -n 's/.*last .*, \([0-9,]*\) samples.*/\1/p' shown)
for i in $(seq 1200); do
	sees 'samples'
	[ "$(sed -n 's/.*last .*, \([0-9,]*\) samples.*/\1/p' shown)" != "$first" ] && break
	sleep 0.1
done
[ "$i" -lt 1200 ] || fail "the view does not go on"
[ "$(stat -c %a tmp/precord-top.*)" = 700 ] || fail "others can read the folder"
key p
sees "processes of .*" && sees "burn +pid $burn" || fail "processes"
key Enter
sees "only process burn" || fail "Enter chooses a process"
key D
sees 'decaying' || fail "D"
key x
sees 'paused' || fail "x pauses"
key x
sees 'last ' || fail "x goes on"
key Home a
sees 'of all samples' && sees '^ *[0-9.]+ % ' || fail "no instructions"
key q S
sees 'save the last moments as' || fail "S asks for a name"
key saved.trace Enter
sees 'wrote saved.trace' || fail "S saves"
key q
sees 'status=0' || fail "q quits with 0"
[ -z "$(ls tmp)" ] || { ls -R tmp; fail "something is left"; }
[ "$(stat -c %a saved.trace)" = 600 ] || fail "others can read what was saved"
preport -i saved.trace --by leaf --format=csv >saved.csv || fail "what was saved cannot be read"
grep -q ',work,burn' saved.csv || { cat saved.csv; fail "the function is not in what was saved"; }
# Each interval counts its samples, and so does their sum.
samples=$(preport info -i saved.trace --color=never | sed -n 's/^Samples  *//p' | tr -d ,)
sum=$(awk -F, 'NR > 1 { n += $5 } END { print n }' saved.csv)
[ "$samples" -gt 0 ] && [ "$sum" = "$samples" ] || fail "$sum of $samples samples"
exit 0

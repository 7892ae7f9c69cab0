#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A trace is enough by itself: in a root that holds preport, its libraries and the trace, and nothing else, stacks are walked as on the
# recording machine, and functions have the names that the recorded files' own symbol tables give.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ "$(id -u)" = 0 ] || skip "chroot needs root"
[ -z "$SAN" ] || skip "the sanitizers' libraries look around in the system"

$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread
cat >mix.sh <<'CODE'
./shares recursive 1 &
echo 'int f(int x) { return x * 3; }' >t.c
for i in 1 2 3 4; do ${CC:-cc} -O2 -g -c t.c; done
seq 300000 | sort -r | gzip -9 >/dev/null
wait
CODE
precord -q -e cpu-clock -F 999 -o m.trace -- sh mix.sh >/dev/null

mkdir root
cp "$BUILD/preport" m.trace root/
ldd "$BUILD/preport" | grep -o '/[^ ]*' | while read -r library; do
	mkdir -p "root$(dirname "$library")"
	cp -L "$library" "root$library"
done
there() { chroot root /preport -i m.trace "$@" --format=csv 2>>there.err; }
here() { preport -i m.trace "$@" --format=csv 2>>here.err; }

for level in module process thread; do
	here --by $level >h.csv
	there --by $level >t.csv
	diff h.csv t.csv || fail "--by $level differs elsewhere"
done
# How stacks end, in the same numbers.
here info | tr -d '\r' | awk '/^stacks,share/ { on = 1 } on && !NF { exit } on' >h.csv
there info | tr -d '\r' | awk '/^stacks,share/ { on = 1 } on && !NF { exit } on' >t.csv
[ -s h.csv ] || fail "info has no table of stacks"
diff h.csv t.csv || fail "stacks end differently elsewhere"

# Functions of the program, all of them; those of stripped libraries may have names only where debug packages are.
own() { awk -F'\t' '$3 == "shares"' | sort; }
for level in leaf total; do
	there --by $level --no-inline --limit 100000 --module shares | columns function samples module | own >t.txt
	here --by $level --no-inline --limit 100000 --module shares | columns function samples module | own >h.txt
	diff h.txt t.txt || fail "--by $level of the program differs elsewhere"
done
for function in heavy medium light rest recurse; do
	grep -q "^$function	" t.txt || fail "'$function' has no name elsewhere"
done
chroot root /preport -i m.trace annotate heavy --no-source >annotated.txt 2>>there.err || fail "no code elsewhere"
grep -qE '[0-9.]+ % ' annotated.txt || { cat annotated.txt; fail "no instruction of 'heavy' has a share"; }

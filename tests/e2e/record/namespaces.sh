#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs are read through their own root: one that lives in a mount and PID namespace, where another file has its
# path outside, and one whose file is gone have the names of their functions in the trace.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread || fail "cannot compile"

mkdir empty
named() { # named TRACE WHEN: functions of the program have names, from the trace alone, and the right ones
	preport -i "$1" --symfs=empty --debug-dir=empty --limit 1000 --format=csv >leaves.csv 2>err.txt ||
		{ cat err.txt; fail "$2: the file does not read"; }
	for function in heavy medium rest; do
		columns function <leaves.csv | grep -qx "$function" || { head leaves.csv; fail "$2: '$function' has no name"; }
	done
}

cat >begins.sh <<'END'
# begins.sh PID NAME: wait until a process is this program, but not for ever
for i in $(seq 500); do
	readlink /proc/$1/exe | grep -q "/$2" && exit
	sleep 0.01
done
END

# Its file goes while it runs; recorded from its start, and while it runs already.
cp shares gone
precord -q -F 999 -o gone.trace -- sh -c './gone plain 1 & sh begins.sh $! gone; sleep 0.2; rm gone; wait' || fail "precord: $?"
named gone.trace "a file that went"
cp shares gone
./gone plain 1000 & victim=$!
trap 'kill $victim' EXIT
runs $victim gone
rm gone
record_burning 500 $victim gone.trace -F 999 || fail "precord -p: $?"
named gone.trace "a file that was gone"

# Compiled, run and removed at once, one after another under the same name, and in a mount namespace that ends with it.
# No ring is ever full enough to wake the recorder, a new program is; and it is the first to run then if it may have
# real-time priority.
cat >brief.sh <<'END'
for i in 1 2 3; do
	echo "long spin$i(void) { volatile long x = $i; for (long i = 0; i < 300000000; i++) x += i * $i; return x; }
		int main(void) { return spin$i() == 0; }" >brief.c
	${CC:-cc} -O1 -o brief brief.c
	if [ $i = 3 ] && unshare -m true 2>/dev/null; then
		mkdir -p brief.d
		unshare -m sh -c 'mount -t tmpfs tmpfs brief.d && mv brief brief.d && brief.d/brief'
	else
		./brief & sh begins.sh $! brief
		sleep 0.25
		rm brief
		wait
	fi
done
END
if [ "$(id -u)" = 0 ]; then
	precord -F 199 -g none -m 8M -o brief.trace -- sh brief.sh 2>said.txt || { cat said.txt; fail "precord: $?"; }
	preport -i brief.trace --limit 1000 --format=csv 2>/dev/null | columns function >functions.txt
	for i in 1 2 3; do
		grep -qx spin$i functions.txt ||
			{ cat said.txt; preport -i brief.trace --limit 20; head functions.txt; fail "'spin$i', which was removed at once, has no name"; }
	done
fi

# One that begins a moment after another one, while the recorder pauses after that, and after which nothing begins that wakes it.
cat >chain.c <<'END'
#include <time.h>
#include <unistd.h>
long spins(void)
{
	volatile long x = 0;
	while (clock() < CLOCKS_PER_SEC / 4)
		for (long i = 0; i < 100000; i++)
			x += i;
	return x;
}
int main(int argc, char **argv)
{
	unlink(argv[0]);
	if (argc > 1)
		execv(argv[1], argv + 1);
	return spins() == 1;
}
END
$CC -O1 -o chain chain.c || fail "cannot compile"
pinned=$(command -v taskset) && pinned="$pinned -c $(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')" # elsewhere another CPU may wake it
for _ in 1 2 3; do
	cp chain one && cp chain two
	$pinned precord -F 199 -g none -m 8M -o chain.trace -- ./one ./two 2>said.txt || { cat said.txt; fail "precord: $?"; }
	preport -i chain.trace --limit 1000 --format=csv 2>/dev/null | columns function | grep -qx spins ||
		{ cat said.txt; preport -i chain.trace; fail "a program that began in a pause has no names"; }
done

# Another file takes its place.
cp shares replaced
printf 'int main(void) { volatile long i; for (i = 0; i < 1000000000; i++) ; }\n' >other.c
$CC -O2 -g -o other other.c || fail "cannot compile"
precord -q -F 999 -o replaced.trace -- sh -c './replaced plain 1 & sh begins.sh $! replaced; sleep 0.2; rm replaced; cp other replaced; wait' || fail "precord: $?"
named replaced.trace "a file that was replaced"

# What ran before is told with the build ID of what is mapped, not of what lies at its path by now.
build_id() { readelf -n "$1" | sed -n 's/^ *Build ID: //p'; }
cp shares replaced
./replaced plain 1000 & changed=$!
trap 'kill $victim $changed' EXIT
runs $changed replaced
rm replaced
cp other replaced
record_burning 200 $changed id.trace -F 999 --bundle=none || fail "precord -p: $?"
preport -i id.trace script --all --format=json >events.json 2>/dev/null
sed -n 's/.*"kind": "mmap".*"build_id": "\([^"]*\)", "path": "[^"]*\/replaced[^/]*$/\1/p' events.json |
	sort -u >ids.txt
grep -q "$(build_id other)" ids.txt && fail "a file that was replaced has the other's build ID"
if grep -q '"build_id": "[^"].*/libc' events.json; then # Linux 6.11 and later
	[ "$(cat ids.txt)" = "$(build_id shares)" ] ||
		{ cat ids.txt; fail "a file that was replaced has not its own build ID"; }
fi
preport -i id.trace --by leaf --format=csv 2>/dev/null | columns function | grep -qx main &&
	fail "functions of a file that was replaced are named from the other"

[ "$(id -u)" = 0 ] && unshare -mpf --mount-proc true 2>/dev/null || exit 0
mkdir hidden
cp other hidden/shares
cat >inside.sh <<'END'
mount -t tmpfs tmpfs hidden && cp shares hidden/shares && exec hidden/shares plain ${1-1}
END
precord -q -F 999 -o inside.trace -- unshare -mpf --mount-proc sh inside.sh || fail "precord in a namespace: $?"
named inside.trace "in a namespace"
unshare -mpf --mount-proc --kill-child sh inside.sh 1000 & outer=$!
for _ in $(seq 1200); do
	inner=$(tr -d ' ' </proc/$outer/task/$outer/children)
	[ "$inner" ] && [ "$(cat /proc/$inner/comm)" = shares ] && break
	sleep 0.05
done
[ -n "$inner" ] || fail "the namespace is empty"
trap 'kill $victim $changed; kill -KILL $inner' EXIT
record_burning 500 "$inner" inside.trace -F 999 || fail "precord -p into a namespace: $?"
named inside.trace "a process in a namespace"
exit 0

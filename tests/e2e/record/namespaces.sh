#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs are read through their own root: one that lives in a mount and PID namespace, where another file has its
# path outside, and one whose file is gone have the names of their functions in the trace.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread || fail "cannot compile"

named() { # named TRACE WHEN: functions of the program have names, from the trace alone, and the right ones
	preport -i "$1" --symfs=/nonexistent --debug-dir=/nonexistent --limit 1000 --format=csv >leaves.csv 2>err.txt ||
		{ cat err.txt; fail "$2: the file does not read"; }
	for function in heavy medium rest; do
		columns function <leaves.csv | grep -qx "$function" || { head leaves.csv; fail "$2: '$function' has no name"; }
	done
}

# Its file goes while it runs; recorded from its start, and while it runs already.
cp shares gone
precord -q -F 999 -o gone.trace -- sh -c './gone plain 1 & sleep 0.2; rm gone; wait' || fail "precord: $?"
named gone.trace "a file that went"
cp shares gone
./gone plain 100 & victim=$!
trap 'kill $victim' EXIT
sleep 0.2
rm gone
precord -q -F 999 -o gone.trace --duration 1 -p $victim || fail "precord -p: $?"
named gone.trace "a file that was gone"

# Another file takes its place.
cp shares replaced
printf 'int main(void) { volatile long i; for (i = 0; i < 1000000000; i++) ; }\n' >other.c
$CC -O2 -g -o other other.c || fail "cannot compile"
precord -q -F 999 -o replaced.trace -- sh -c './replaced plain 1 & sleep 0.2; rm replaced; cp other replaced; wait' || fail "precord: $?"
named replaced.trace "a file that was replaced"

[ "$(id -u)" = 0 ] && unshare -mpf --mount-proc true 2>/dev/null || exit 0
mkdir hidden
cp other hidden/shares
cat >inside.sh <<'END'
mount -t tmpfs tmpfs hidden && cp shares hidden/shares && exec hidden/shares plain ${1-1}
END
precord -q -F 999 -o inside.trace -- unshare -mpf --mount-proc sh inside.sh || fail "precord in a namespace: $?"
named inside.trace "in a namespace"
unshare -mpf --mount-proc --kill-child sh inside.sh 100 & outer=$!
sleep 0.5
inner=$(tr -d ' ' </proc/$outer/task/$outer/children)
[ -n "$inner" ] || fail "the namespace is empty"
trap 'kill $victim; kill -KILL $inner' EXIT
precord -q -F 999 -o inside.trace --duration 1 -p "$inner" || fail "precord -p into a namespace: $?"
named inside.trace "a process in a namespace"
exit 0

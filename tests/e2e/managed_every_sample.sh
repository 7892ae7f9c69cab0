#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every sample of a program that ran before the recording began has its interpreter's stack, or says why not: no sample is forgotten
# because the recorder emptied its ring while the stack was read, and the first have one, too.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_interpreters
python=$(command -v python3) || skip "no python3 here"

cat >busy.py <<'END'
import time
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
end = time.monotonic() + 60
while time.monotonic() < end: fib(12)
END
"$python" busy.py & program=$!
trap "kill $program 2>/dev/null" EXIT
burn 50 $program

# has_stacks PID FILE EVENTS: no sample of the process is without a word of its stack
has_stacks() {
	local samples first
	preport script -a -i "$2" 2>/dev/null | awk -v tid="$1" '
		index($2, tid "/") != 1 { next }
		/: managed: / { read = 1; next }
		/ cpu-clock: / { n++; if (!read && n <= 3) first++; missed += !read; read = 0 }
		END { print n + 0, missed + 0, first + 0 }' >count.txt
	read -r samples missed first <count.txt
	echo "$2: $samples samples, $missed without a word of their stack, $first of them among the first three"
	few=$((samples < $3))
	[ "$few" = 0 ] && [ "$missed" = 0 ]
}

record_burning 400 $program every.trace -e cpu-clock -F 4999 || fail "the recording failed"
has_stacks $program every.trace 300
[ "$few" = 0 ] || skip "the program had too few samples"
[ "$missed" = 0 ] || fail "samples have no stack, and no reason why not"
kill $program

# One that waits when a recording of all begins is known before it wakes up.
cat >waits.py <<'END'
import sys, time
open("asleep", "w")
sys.stdin.readline()
end = time.process_time() + 0.1
while time.process_time() < end: pass
open("awake", "w")
time.sleep(60)
END
mkfifo wake
"$python" -I -S waits.py <wake & program=$!
exec 3>wake
until [ -e asleep ]; do kill -0 $program || fail "it did not start"; sleep 0.05; done
precord -q -a -e cpu-clock -F 999 -o idle.trace -- sh -c 'sleep 0.3; echo >&3; until [ -e awake ]; do sleep 0.05; done' || fail "the recording failed"
kill $program
has_stacks $program idle.trace 30
[ "$few" = 0 ] || skip "the program had too few samples"
[ "$missed" = 0 ] || fail "an interpreter that waited when the recording began has no stack at first, and no reason why not"
exit 0

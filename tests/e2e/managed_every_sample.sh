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

# Under load the thread that finds interpreters may come late to the first.
for attempt in 1 2 3; do
	record_burning 400 $program every.trace -e cpu-clock -F 4999 || fail "the recording failed"
	preport script -a -i every.trace 2>/dev/null | awk '
		/: managed: / { read = 1; next }
		/ cpu-clock: / { n++; if (!read && n <= 3) first++; missed += !read; read = 0 }
		END { print n + 0, missed + 0, first + 0 }' >count.txt
	read -r samples missed first <count.txt
	echo "$samples samples, $missed without a word of their stack, $first of them among the first three"
	[ "$samples" -ge 300 ] && [ "$missed" = 0 ] && exit 0
done
[ "$samples" -ge 300 ] || skip "the program had too few samples"
fail "samples have no stack, and no reason why not"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Forty times as long a trace takes 1.5 times the memory at most, and what several threads read ahead has a limit; and
# while one waits for it, a terminal says how far it is.
# slow: it makes and reads traces of hundreds of megabytes
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
command -v python3 >/dev/null || skip "python3 is not installed"

cat >busy.sh <<'CODE'
echo 'int f(int x) { return x * 3; } int main(void) { return f(4); }' >t.c
for i in 1 2 3 4 5 6; do ${CC:-cc} -O2 -c t.c & ${CC:-cc} -O0 -g -c -o u.o t.c; done
wait
python3 -c 'print(sum(sum(i for i in range(j)) for j in range(4000)))'
CODE
precord -q -e cpu-clock -F 4999 -o t.trace -- sh busy.sh >/dev/null
rounds=80
[ -n "${SAN-}" ] && rounds=20
"$BUILD/tests/tools/multiply_trace" --rounds 10 t.trace short.trace # more than a block, as the long one
"$BUILD/tests/tools/multiply_trace" --rounds $rounds t.trace long.trace

cat >peak.py <<'CODE'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
CODE
peak() { python3 peak.py "$BUILD/preport" -i "$1" --by leaf --threads $2; }
size() { stat -c %s "$1"; }
[ -n "${SAN-}" ] || for n in 1 2 8; do # a sanitizer's own memory is most of it
	a=$(peak short.trace $n) b=$(peak long.trace $n)
	echo "$n threads: $(size short.trace) bytes need $a KiB, $(size long.trace) bytes $b KiB"
	ahead=$((n > 1 ? 130000 : 0)) # blocks read ahead, which the short one does not have: 5 times 24 MiB at most
	[ "$b" -lt $((a * 3 / 2 + ahead)) ] || fail "$n threads: $b KiB for $(size long.trace) bytes, but $a KiB for $(size short.trace)"
	[ "$b" -lt $((n > 2 ? 460800 : 307200)) ] || fail "$n threads: $b KiB"
done

command -v script >/dev/null || exit 0
on_terminal() { # on_terminal COMMAND: all that a terminal gets, and on the last line the seconds it worked
	local TIMEFORMAT=%U
	{ time script -qec "stty cols 100 rows 30; $1" typed </dev/null >/dev/null; } 2>seconds
}
line='% of long.trace, [0-9,]* samples, [0-9]* s left'
on_terminal 'TERM=xterm preport -i long.trace --by leaf --threads 1 >/dev/null'
if grep -q "$line" typed; then
	sed $'s/.*\r\033\\[K//' typed | grep -q "$line" && fail "the line of progress stays: $(cat -v typed)"
else # from half a second on, of which work before and behind the reading has a little
	awk '{ exit $1 > 1.5 }' seconds || fail "$(cat seconds) s, and the terminal shows no progress"
fi
for quiet in 'TERM=dumb preport' 'TERM=xterm preport --no-progress' 'TERM=xterm preport script --no-progress'; do
	on_terminal "$quiet -i long.trace --threads 1 >/dev/null"
	grep -q "samples, [0-9]* s left" typed && fail "'$quiet' shows progress"
done
TERM=xterm preport -i long.trace --by leaf 2>err >/dev/null
grep -q 'left' err && fail "a file gets progress"
exit 0

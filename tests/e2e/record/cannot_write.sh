#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A disk that is full, a limit on the size of files, a pipe that closes: precord says so and leaves with 125, the
# command runs to its end, and what was written reads.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread || fail "cannot compile"
rate='-F 4999' # the more, the sooner it is full

# ended STATUS MESSAGE WHEN: 125, the message once or twice, the command finished, and the file reads if there is one
ended() {
	[ "$1" = 125 ] || { cat err.txt; fail "$3: status $1"; }
	grep -q "^precord: cannot write the trace: $2" err.txt || { cat err.txt; fail "$3: no word of it"; }
	[ -e done ] || fail "$3: the command did not run to its end"
	rm -f done
}

reads() { # reads FILE WHEN
	preport -i "$1" info >info.txt 2>&1 || { cat info.txt; fail "$2: the file does not read"; }
	grep -qE '^File  *(its end is missing|damaged at)' info.txt || { cat info.txt; fail "$2: the file says that it is complete"; }
}

# work SECONDS: burn so much CPU time, and leave the mark that they did
cat >work.sh <<'END'
./shares plain $1
echo >done
END

(
	ulimit -f 4
	exec timeout 120 precord $rate -o limited.trace -- sh work.sh 2
) 2>err.txt
ended $? 'File too large' 'ulimit -f'
reads limited.trace 'ulimit -f'

precord $rate -o /dev/full -- sh work.sh 0.1 2>err.txt
status=$?
[ ! -e done ] || fail "/dev/full: the command ran although nothing can be recorded"
: >done
ended $status 'No space left' '/dev/full'

timeout 120 precord $rate -o - -- sh work.sh 2 2>err.txt | head -c 1000 >piped.trace
ended "${PIPESTATUS[0]}" 'Broken pipe' 'a closed pipe'
reads piped.trace 'a closed pipe'

# The failure is told when it happens, not when the command ends.
mkfifo fifo
timeout 120 precord $rate -o - -- sh -c './shares plain 2; while [ ! -e go ]; do sleep 0.1; done; echo >done' 2>err.txt | head -c 1000 >fifo &
head -c 1000 fifo >piped.trace
for i in $(seq 300); do
	grep -q 'the command goes on' err.txt && break
	sleep 0.1
done
[ "$i" -lt 300 ] || { cat err.txt; fail "a closed pipe: nothing is said while the command runs"; }
: >go
wait

# Without a command it just ends.
./shares plain 100 & victim=$!
trap 'kill $victim; umount small 2>/dev/null' EXIT
mkdir small
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=16k tmpfs small 2>/dev/null; then
	timeout 60 precord $rate --duration 50 -o small/full.trace -p $victim 2>err.txt
	status=$?
	: >done
	ended $status 'No space left' 'a full disk'
	reads small/full.trace 'a full disk'
	grep -q '^Samples  *[1-9]' info.txt || { cat info.txt; fail "a full disk: no samples"; }
fi
kill -0 $victim || fail "the target of a recording that failed is gone"
[ "$(awk '{ print $3 }' /proc/$victim/stat)" != T ] || fail "the target of a recording that failed is stopped"
exit 0

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A disk that is full or breaks, a limit on the size of files, a pipe that closes: precord says so and leaves with 125,
# the command runs to its end, and what was written reads.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread &&
	$CC -O2 -o fail_write "$TOP/tests/programs/fail_write.c" || fail "cannot compile"
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

# A disk that breaks: the block that does not fit in what it still takes is missing as a whole.
./fail_write 5 1000000 true 2>filter.txt || echo "not tried here: a disk that breaks: $(cat filter.txt)"
breaks() { # breaks LEN ARGUMENT...: record with errors of input and output after LEN bytes
	[ ! -s filter.txt ] || return 0
	timeout 120 ./fail_write 5 "$1" precord $rate "${@:2}" 2>err.txt
	ended $? 'Input/output error' "an I/O error after $1 bytes"
	grep -q 'can be read; look at the disk' err.txt || { cat err.txt; fail "an I/O error: no remedy"; }
}
up_to_whole_block() { # up_to_whole_block FILE
	[ ! -s filter.txt ] || return 0
	reads "$1" 'an I/O error'
	grep -q '^File  *its end is missing' info.txt || { cat info.txt; fail "an I/O error: a block is in pieces"; }
	grep -q '^Samples  *[1-9]' info.txt || { cat info.txt; fail "an I/O error: no samples"; }
}
breaks 20000 -o broken.trace -- sh work.sh 1
up_to_whole_block broken.trace

# Without a command it just ends.
ahead ./shares plain 100 & victim=$!
trap 'kill $victim; umount small 2>/dev/null' EXIT
: >done
breaks 20000 --duration 50 -o target.trace -p $victim
up_to_whole_block target.trace
# Volumes that were full before are whole, the last one reads.
: >done
breaks 100000 --switch-output=1s --duration 50 -o parts.trace -p $victim
if [ ! -s filter.txt ]; then
	parts=(parts.trace.*)
	[ -e "${parts[0]}" ] || fail "an I/O error: there is no earlier volume"
	for part in "${parts[@]}"; do
		preport -i "$part" info >info.txt 2>&1 && grep -q '^File  *complete' info.txt ||
			{ cat info.txt; fail "an I/O error: $part is not whole"; }
	done
	reads parts.trace 'an I/O error in a later volume'
fi
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

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A disk that is full or breaks, a limit on the size of files, a pipe that closes: precord says so and leaves with 125,
# the command runs to its end, and what was written reads.
# slow: it fills disks
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread &&
	$CC -O2 -o fail_write "$TOP/tests/programs/fail_write.c" || fail "cannot compile"
# A block is written every two seconds: at this rate one of samples fits into what the disks below take, several do not.
rate='-F 999'

# ended STATUS MESSAGE WHEN: 125, the message once or twice, the command finished, and not before it was told
ended() {
	[ "$1" = 125 ] || { cat err.txt; fail "$3: status $1"; }
	grep -q "^precord: cannot write the trace: $2" err.txt || { cat err.txt; fail "$3: no word of it"; }
	[ -e done ] || fail "$3: the command did not run to its end"
	[ ! -s done ] || { cat err.txt; fail "$3: $(cat done)"; }
	rm -f done
}

reads() { # reads FILE WHEN
	preport -i "$1" info >info.txt 2>&1 || { cat info.txt; fail "$2: the file does not read"; }
	grep -qE '^File  *(its end is missing|damaged at)' info.txt || { cat info.txt; fail "$2: the file says that it is complete"; }
}

# Burn CPU time until the failure is told, which is when it happens and not when the command ends, and leave a mark.
cat >work.sh <<'END'
for second in $(seq 60); do
	./shares plain 1
	grep -q 'the command keeps running' err.txt && { : >done; exit; }
done
echo 'nothing is said while the command runs' >done
END

(
	ulimit -f 4
	exec timeout 250 precord $rate -o limited.trace -- sh work.sh
) 2>err.txt
ended $? 'File too large' 'ulimit -f'
reads limited.trace 'ulimit -f'

precord $rate -o /dev/full -- sh work.sh 2>err.txt
status=$?
[ ! -e done ] || fail "/dev/full: the command ran although nothing can be recorded"
: >done
ended $status 'No space left' '/dev/full'

timeout 250 precord $rate -o - -- sh work.sh 2>err.txt | head -c 2000 >piped.trace
ended "${PIPESTATUS[0]}" 'Broken pipe' 'a closed pipe'
reads piped.trace 'a closed pipe'

# A disk that breaks: the block that does not fit in what it still takes is missing as a whole.
./fail_write 5 1000000 true 2>filter.txt || echo "not tried here: a disk that breaks: $(cat filter.txt)"
breaks() { # breaks LEN ARGUMENT...: record with errors of input and output after LEN bytes
	[ ! -s filter.txt ] || return 0
	timeout 250 ./fail_write 5 "$1" precord $rate "${@:2}" 2>err.txt
	ended $? 'Input/output error' "an I/O error after $1 bytes"
	grep -q 'can be read; look at the disk' err.txt || { cat err.txt; fail "an I/O error: no remedy"; }
}
up_to_whole_block() { # up_to_whole_block FILE
	[ ! -s filter.txt ] || return 0
	reads "$1" 'an I/O error'
	grep -q '^File  *its end is missing' info.txt || { cat info.txt; fail "an I/O error: a block is in pieces"; }
	grep -q '^Samples  *[1-9]' info.txt || { cat info.txt; fail "an I/O error: no samples"; }
}
breaks 40000 -o broken.trace -- sh work.sh
up_to_whole_block broken.trace

# Without a command it just ends.
ahead ./shares paced 1000 & victim=$!
trap 'kill $victim; umount small 2>/dev/null' EXIT
: >done
breaks 40000 --duration 200 -o target.trace -p $victim
up_to_whole_block target.trace
# Volumes that were full before are whole, the last one reads.
: >done
breaks 150000 --switch-output=500ms --duration 200 -o parts.trace -p $victim
if [ ! -s filter.txt ]; then
	parts=(parts.trace.*)
	[ -e "${parts[0]}" ] || fail "an I/O error: there is no earlier volume"
	for part in "${parts[@]}"; do
		preport -i "$part" info >info.txt 2>&1 && grep -q '^File  *complete' info.txt ||
			{ cat info.txt; fail "an I/O error: $part is not whole"; }
	done
	# Of one whose head did not fit nothing is there.
	[ ! -s parts.trace ] || reads parts.trace 'an I/O error in a later volume'
fi
mkdir small
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
	timeout 250 precord -F 1999 --duration 200 -o small/full.trace -p $victim 2>err.txt
	status=$?
	: >done
	ended $status 'No space left' 'a full disk'
	reads small/full.trace 'a full disk'
	grep -q '^Samples  *[1-9]' info.txt || { cat info.txt; fail "a full disk: no samples"; }
	written=$(sed -n 's/^precord: .* samples, .*; \([0-9]*\) of them are in .*/\1/p' err.txt)
	[ "$written" = "$(awk '$1 == "Samples" { gsub(",", ""); print $2 }' info.txt)" ] ||
		{ cat err.txt info.txt; fail "a full disk: not as many samples as it says"; }
fi
kill -0 $victim || fail "the target of a recording that failed is gone"
[ "$(awk '{ print $3 }' /proc/$victim/stat)" != T ] || fail "the target of a recording that failed is stopped"

# So few descriptors that nothing can be embedded: the samples and the end of the file are written.
few=0
for limit in 20 36; do
	rm -f few.trace
	(
		ulimit -n $limit
		exec precord -F 499 -o few.trace -- ./shares plain 1
	) 2>err.txt
	status=$?
	# Fewer than it takes to begin are refused, and leave no file.
	[ -e few.trace ] || { [ $status = 125 ] && continue; }
	[ $status = 0 ] || { cat err.txt; fail "$limit descriptors: status $status"; }
	preport -i few.trace info >info.txt 2>&1 || { cat info.txt; fail "$limit descriptors: the file does not read"; }
	grep -q '^File  *complete' info.txt && grep -q '^Samples  *[1-9]' info.txt || { cat info.txt; fail "$limit descriptors: not complete"; }
	grep -q 'hides its addresses' err.txt && { cat err.txt; fail "$limit descriptors: a wrong reason"; }
	few=$((few + 1))
done
[ $few -gt 0 ] || fail 'no recording with few descriptors was begun'
exit 0

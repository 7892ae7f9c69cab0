#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How long requests to block devices and waits for locks of the kernel took: requests belong to the program that made them, and
# waits add up to what "perf lock contention" says of the same file.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
precord -q --block-io -o none.trace -- true 2>err.txt && fail "--block-io of a command is taken"
grep -q -- '-a' err.txt || { cat err.txt; fail "no remedy for --block-io of a command"; }
precord -q -a --block-io --kernel-locks -o a.trace -- sh -c 'for i in 1 2 3; do dd if=/dev/zero of=file bs=4k count=64 conv=fsync; done' 2>err.txt || {
	grep -qE 'permitted|tracefs|tracepoint|paranoid' err.txt && skip "no tracepoints here: $(head -n 1 err.txt)"
	cat err.txt
	fail "recording"
}
preport -i a.trace --event kernel-lock --by lock,leaf -n 0 --format=csv 2>err.txt | columns lock function >locks.txt
grep -q 'lock 0x\|sem\|mutex' locks.txt || echo "no lock of the kernel was contended"
grep -qE '	(__traceiter|native_queued|mutex_lock$)' locks.txt && { cat locks.txt; fail "the function is the lock's own"; }
preport -i a.trace --event block-io --by file,operation -n 0 --comm dd --format=csv 2>err.txt | columns file operation samples >io.txt
if [ -s io.txt ]; then
	grep -q '^/dev/[a-z].*	[a-z]' io.txt || { cat io.txt; fail "requests have no device and operation"; }
	preport waits -i a.trace --event block-io --by file >out.txt 2>err.txt || { cat err.txt; fail "waits --event block-io"; }
	grep -q '/dev/' out.txt || { cat out.txt; fail "no lengths of requests"; }
else
	echo "no block device took part: $(df . | tail -n 1)"
fi

command -v perf >/dev/null || { echo "perf is not here"; exit 0; }
# agree: sums of one recording are equal. perf leaves out a wait that is not over at its end, so that one in three must do.
agree() {
	perf record -q -a -g -e lock:contention_begin,lock:contention_end -o p.data -- sh -c 'for i in 1 2 3 4; do ls -R /usr/lib >/dev/null & done; wait' 2>err.txt ||
		{ echo "perf may not record here: $(tail -n 1 err.txt)"; exit 0; }
	perf lock contention -i p.data >perf.txt 2>&1 && grep -q 'total wait' perf.txt || { echo "perf lock: $(tail -n 1 perf.txt)"; exit 0; }
	awk '$1 ~ /^[0-9]+$/ { unit = $3 == "us" ? 1e3 : $3 == "ms" ? 1e6 : $3 == "s" ? 1e9 : 1; n += $1; ns += $2 * unit } END { print n + 0, ns + 0 }' perf.txt >sum.txt
	preport -i p.data --event kernel-lock --by state --format=csv 2>err.txt | columns samples weight >ours.txt
	read -r count ns <sum.txt
	awk -F'\t' -v count="$count" -v ns="$ns" '{ n += $1; w += $2 } END {
		print "perf: " count " waits, " ns " ns; preport: " n + 0 ", " w + 0
		exit !(n >= count * 0.99 && n <= count * 1.01 + 1 && w >= ns * 0.99 && w <= ns * 1.01 + 100 * count) }' ours.txt
}
agree || agree || agree || { cat perf.txt; fail "sums differ"; }

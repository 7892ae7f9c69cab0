#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Another recorder works while precord records the whole machine: the kernel gives build IDs to all recorders as soon as
# one asks for them, and perf 6.1 ends by "stack smashing detected" then. Traces have build IDs all the same, read from the
# files; with --build-ids=kernel the kernel tells them.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_system_wide

# A program of which nothing is left when it has ended.
printf 'int main(void) { return 0; }\n' >gone.c
$CC -O1 -Wl,--build-id=sha1 -o gone gone.c
id=$(readelf -n gone | sed -n 's/.*Build ID: //p')
[ -n "$id" ] || skip "the linker writes no build IDs"

for from in files kernel; do
	precord -q -a --build-ids=$from -o $from.trace -- sh -c './gone; sleep 0.2' 2>$from.txt ||
		fail "--build-ids=$from: precord ends with $?: $(cat $from.txt)"
	[ $from = kernel ] && grep -q 'build IDs of mappings' $from.txt && continue
	preport script -a -i $from.trace >events.txt 2>&1 || fail "preport script: $(tail -n 1 events.txt)"
	grep "/gone" events.txt >maps.txt
	grep -q "$id" maps.txt || fail "--build-ids=$from: the mapping has no build ID: $(cat maps.txt)"
done

command -v perf >/dev/null || skip "perf is not installed; build IDs were tested"
# Processes come and go, so that the kernel has mappings to tell.
busy='i=0; while [ $i -lt 40 ]; do /bin/true; i=$((i+1)); done'
perf record -q -o alone.data -a -- sh -c "$busy" >perf.txt 2>&1 || skip "perf cannot record here: $(tail -n 1 perf.txt)"
precord -q -a -o while.trace -- sleep 600 2>precord.txt &
recorder=$!
trap 'kill -INT $recorder' EXIT
begun $recorder while.trace
for turn in 1 2 3; do
	perf record -q -o with.data -a -- sh -c "$busy" >perf.txt 2>&1 ||
		fail "turn $turn: perf record ends with $? beside precord: $(tail -n 3 perf.txt)"
	perf script -i with.data >/dev/null 2>perf.txt || fail "turn $turn: perf script: $(tail -n 3 perf.txt)"
done
trap - EXIT
kill -0 $recorder || fail "precord ended early: $(cat precord.txt)"
kill -INT $recorder
wait $recorder
exit 0

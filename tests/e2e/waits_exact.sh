#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a thread did adds up to the length of its life in the recording, to 1 ms, for every thread of a machine under load; also
# where the recorder lost records of switches, because it was stopped, and then tables say so.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_system_wide
precord -q -e off-cpu -o try.trace -- sleep 0.01 2>try.err || skip "switches cannot be recorded here: $(head -n 1 try.err)"
$CC -O2 -g -o waits "$TOP/tests/programs/waits.c" -lpthread

# check FILE: each thread's spans beside its life, as its beginning and end tell
check() {
	preport script -a -i "$1" --format=json >events
	preport info -i "$1" --format=json >info
	preport -i "$1" --event wall --by thread -n 0 --format=csv >rows
	python3 - <<'P'
import csv, json
length = int(json.load(open("info"))["duration_ns"])
begun, ended, again, first, last = {}, {}, set(), 0, 0
for line in open("events"):
    event = json.loads(line)
    tid = event.get("tid")
    if event["kind"] == "fork":
        if tid in begun:
            again.add(tid)  # the number of two threads
        begun[tid] = event["time_ns"]
    elif event["kind"] == "exit":
        if tid in ended:
            again.add(tid)
        ended[tid] = event["time_ns"]
    elif event["kind"] == "task-times":
        first = first or event["time_ns"]  # read just after the beginning; threads that begin are recorded before it
        last = event["time_ns"]  # the last ones are read just before the end; mappings and ends of threads still come behind it
spans = {}
for row in csv.DictReader(open("rows")):
    spans[int(row["tid"])] = spans.get(int(row["tid"]), 0) + int(row["weight"])
whole = [tid for tid in begun if tid and begun[tid] == 0 and tid not in ended and tid not in again]
short = [tid for tid in begun if tid and begun[tid] > first and tid in ended and ended[tid] < last and tid not in again]
assert whole and short, (len(whole), len(short))
wrong = [(tid, spans.get(tid, 0), length) for tid in whole if abs(spans.get(tid, 0) - length) > 1e6]
wrong += [(tid, spans.get(tid, 0), ended[tid] - begun[tid]) for tid in short
          if abs(spans.get(tid, 0) - (ended[tid] - begun[tid])) > 1e6]
print(f"{len(whole)} threads lived all along, {len(short)} began and ended; {len(wrong)} do not add up to 1 ms")
assert not wrong, wrong[:5]
P
}

# Load: a flood of switches, waits of all sorts, processes that come and go.
load() {
	for mode in 'pingpong 30' 'mutex 5' 'pipe 20' 'queue 5'; do
		./waits $mode >/dev/null &
	done
	for _ in $(seq 30); do sh -c ':'; done
	wait
}

precord -q -a --off-cpu -o a.trace -- bash -c "$(declare -f load); load" 2>err || { cat err; fail "the recording"; }
check a.trace || fail "spans do not add up"

# A recorder that is stopped for longer than its rings last loses switches.
mkfifo started
precord -q -a --off-cpu -m 128K -o l.trace -- bash -c 'echo >started; ./waits pingpong 400 >/dev/null; sleep 0.3' 2>err &
recorder=$!
read -r _ <started
kill -STOP $recorder
sleep 1.5
kill -CONT $recorder
wait $recorder || { cat err; fail "the recording that loses"; }
lost=$(preport -i l.trace --event wall --by wait -n 0 --format=csv | columns wait weight | awk -F'\t' '$1 ~ /^\[switches (lost|left out)\]$/ { ns += $2 } END { printf "%.0f", ns }')
echo "${lost:-0} ns of threads' time are not known"
[ "${lost:-0}" -gt 0 ] || skip "the rings held everything"
preport -i l.trace --event wall --by wait >table
grep -q '^records of switches were lost\( or left out\)\?: what threads did for .* % of this time is not known' table || { cat table; fail "the loss is not said"; }
grep -q '"lost_weight": '"$lost" <(preport -i l.trace --event wall --by wait --format=json) || fail "JSON does not say it"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recorder that is killed at any moment leaves a file that reads up to its last whole block, with counts that agree;
# so does any beginning of a complete file. KILLS says how often to kill.
# alone: several recorders at once take more counters than there are, and some virtual machines count nonsense then
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread || fail "cannot compile"
kills=${KILLS:-30} at_once=5

number() { sed -n "s/^  \"$1\": \"*\([a-z0-9]*\)\"*,*\$/\1/p" info.json; }

# Reads FILE; sets $samples to what it holds, or to "none" if not even its header is there.
check() {
	preport -i "$1" info --format=json >info.json 2>err.txt
	local status=$?
	if [ $status = 1 ] && [ "$(wc -l <err.txt)" -le 2 ] && grep -q '^preport: ' err.txt; then
		[ ! -s info.json ] || fail "$2: fails with output"
		samples=none
		return
	fi
	[ $status = 0 ] || { cat err.txt; fail "$2: info ends with status $status"; }
	samples=$(number samples)
	complete=$(number complete)
	preport -i "$1" script --no-chain --format=json >script.json 2>err.txt || { cat err.txt; fail "$2: script fails"; }
	[ "$(grep -c '"kind": "sample"' script.json)" = "$samples" ] ||
		fail "$2: script has $(grep -c '"kind": "sample"' script.json) samples, info $samples"
	[ "$samples" = 0 ] && return # a table of nothing is an error
	preport -i "$1" --by thread --limit 1000000 --format=csv >table.csv 2>err.txt || { cat err.txt; fail "$2: the table fails"; }
	[ "$(columns samples <table.csv | awk '{ n += $1 } END { print n + 0 }')" = "$samples" ] || {
		cat table.csv
		fail "$2: the table does not have $samples samples"
	}
}

# Wait until FILE has more than its head, and half a minute at most.
holds_blocks() {
	for _ in $(seq 300); do
		[ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt 1500 ] && return
		sleep 0.1
	done
}

# One busy process for all of them.
./shares threads 2000 & victim=$!
trap 'kill $victim' EXIT
with_samples=0
for ((i = 0; i < kills; i += at_once)); do
	recorders=()
	for ((j = 0; j < at_once; j++)); do
		precord -q -F 999 -o k$j.trace -p $victim >/dev/null 2>&1 &
		recorders+=($!)
	done
	# Most of them after the first block, some before.
	sleep 0.$((RANDOM % 900 + 100))
	if [ $((i / at_once % 3)) != 0 ]; then
		sleep 3
		for ((j = 0; j < at_once; j++)); do holds_blocks k$j.trace.part; done
	fi
	for recorder in "${recorders[@]}"; do
		sleep 0.0$((RANDOM % 90 + 10))
		kill -KILL "$recorder"
	done
	wait "${recorders[@]}"
	for ((j = 0; j < at_once; j++)); do
		[ -e k$j.trace.part ] || continue # killed before it began
		check k$j.trace.part "kill $((i + j))"
		[ "$samples" = none ] && continue
		[ "$samples" -gt 0 ] && ((with_samples++))
		rm -f k$j.trace.part
	done
done
[ $with_samples -ge $((kills / 6)) ] || fail "only $with_samples of $kills killed recordings hold samples"

# A file that was cut anywhere.
precord -q -F 999 -o whole.trace --duration 1 -p $victim >/dev/null 2>&1
check whole.trace "the whole file"
[ "$complete" = true ] || fail "the whole file is not complete"
whole=$samples size=$(stat -c %s whole.trace)
for ((i = 0; i < kills / 3; i++)); do
	len=$(((RANDOM * 32768 + RANDOM) % size))
	head -c $len whole.trace >cut.trace
	check cut.trace "the first $len of $size bytes"
	[ "$samples" = none ] && continue
	# Complete is what lacks no more than the index at the end.
	[ "$complete" = false ] || [ "$samples" = "$whole" ] || fail "the first $len of $size bytes are called complete"
	[ "$samples" -le "$whole" ] || fail "the first $len of $size bytes hold $samples samples, more than $whole"
done

# All events, but nothing that comes after them: what is missing is said, and the kernel's settings are not blamed.
for ((len = size; len > 1000; len -= len / 50)); do
	head -c $len whole.trace >cut.trace
	[ -n "$(preport -i cut.trace info --sizes --format=csv 2>/dev/null | grep -E '^(symbols|modules),')" ] || break
done
check cut.trace "the events alone"
preport -i cut.trace info >info.txt 2>/dev/null
if grep -q '\[kernel\]' info.txt; then
	grep '\[kernel\]' info.txt | grep -q 'the file ends before them' || { grep '\[kernel\]' info.txt; fail "no word of the cut"; }
	if grep 'kernel addresses were hidden' info.txt; then fail "the kernel's settings are blamed"; fi
fi
exit 0

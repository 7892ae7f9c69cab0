#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# alone
# 20,000 short processes, as many mappings as a second of CPU time is good for and 4,096 threads: none is missing, and each has
# the name that it gave itself, whether it was there before the recording or not.
# slow: it starts thousands of processes
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
$CC -O2 -g -o strange "$TOP/tests/programs/strange_tasks.c" -lpthread || fail "cannot compile"

read_events() {
	preport -i $1.trace script --all --no-chain --format=json >events.json 2>err.txt ||
		{ cat err.txt; fail "$1: does not read"; }
	# A machine that is too busy may lose a sample. What must not be missing is counted below.
	grep -m 3 '"kind": "lost"' events.json
	return 0
}

# numbers KIND: "number name" of all these events, or "number" where they have none
numbers() {
	sed -n "s/^{\"kind\": \"$1\".*\"tid\": \([0-9]*\),.*\"comm\": \"\([^\"]*\)\".*/\1 \2/p
		t
		s/^{\"kind\": \"$1\".*\"tid\": \([0-9]*\),.*/\1/p" events.json
}

# all_there WHAT EXPECTED FOUND: every line of EXPECTED is in FOUND, as often
all_there() {
	sort "$2" >expected.txt
	sort "$3" >found.txt
	comm -23 expected.txt found.txt >missing.txt
	[ ! -s missing.txt ] && return
	head -n 3 missing.txt
	fail "$1: $(wc -l <missing.txt) of $(wc -l <expected.txt) are missing"
}

precord -q -F 99 -o swarm.trace -- ./strange swarm 20000 p >swarm.txt || fail "a swarm: $?"
[ "$(wc -l <swarm.txt)" = 20000 ] || fail "only $(wc -l <swarm.txt) processes"
read_events swarm
numbers comm >names.txt
all_there "names of short processes" swarm.txt names.txt
cut -d' ' -f1 swarm.txt >pids.txt
for kind in fork exit; do
	numbers $kind | cut -d' ' -f1 >of_kind.txt
	all_there "$kind of short processes" pids.txt of_kind.txt
done

precord -q -F 99 -o maps.trace -- ./strange mappings 1000 >maps.txt || fail "mappings: $?"
read_events maps
found=$(grep -c '"kind": "mmap".*/strange"' events.json)
echo "$(cat maps.txt) mappings in a second of CPU time, $found recorded"
[ "$(cat maps.txt)" -ge 1000 ] || fail "only $(cat maps.txt) mappings in a second"
[ "$found" -ge "$(cat maps.txt)" ] || fail "$found of $(cat maps.txt) mappings"

# crowd WHEN: crowd.txt has who is who; no sample has another's name, and most have one
crowd() {
	read_events crowd
	grep -v ready crowd.txt >threads.txt
	[ "$(wc -l <threads.txt)" = 4096 ] || fail "$1: only $(wc -l <threads.txt) threads"
	numbers comm >names.txt
	all_there "$1: names of threads" threads.txt names.txt
	sed -n 's/^{"kind": "sample",.*"tid": \([0-9]*\), "thread": "\([^"]*\)".*/\1 \2/p' \
		events.json >samples.txt
	# Until it has called itself something a thread has the name of who began it.
	awk 'NR == FNR { name[$1] = $2; next }
		$1 in name && $2 != "strange" { name[$1] == $2 ? right++ : wrong++ }
		END { print right + 0, wrong + 0
		      exit wrong > 0 || right < 300 }' threads.txt samples.txt >right.txt ||
		fail "$1: samples under the right name and under another: $(cat right.txt)"
}

precord -q -F 999 -o crowd.trace -- ./strange crowd 4096 t </dev/null >crowd.txt ||
	fail "a crowd: $?"
crowd 'a crowd that begins'

mkfifo go
./strange crowd 4096 u <go >crowd.txt & strange=$!
exec 3>go
for _ in $(seq 600); do grep -q ready crowd.txt && break; sleep 0.1; done
precord -q -F 999 -p $strange -o crowd.trace & recorder=$!
for _ in $(seq 600); do [ -s crowd.trace.part ] && break; sleep 0.1; done
sleep 0.3
echo >&3
wait $recorder || fail "a crowd that was there: $?"
crowd 'a crowd that was there'
exit 0

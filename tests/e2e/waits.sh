#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs whose waits are known (tests/programs/waits.c): the function that waits is found, for what it waits, and how long,
# as the program's own clock says. What a thread did adds up to the length of the recording.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
precord -q -e off-cpu -o try.trace -- sleep 0.01 2>try.err || skip "switches cannot be recorded here: $(head -n 1 try.err)"
grep -q 'waits are timed without stacks' try.err && skip "$(head -n 1 try.err)"

$CC -O2 -g -o waits "$TOP/tests/programs/waits.c" -lpthread

# weight FILE COLUMN NAME: the nanoseconds of a row
weight() { columns "$2" weight <"$1" | awk -F'\t' -v f="$3" '$1 == f { print $2; exit }'; }

# first FILE: the function with the most time
first() { columns function <"$1" | head -n 1; }
# holds_truth FILE FUNCTION NS: is that within the interval of the function's row? Beside it by a fiftieth, 5 ms, and 30 us a
# wait: the scheduler counts switching itself as time on a CPU. The program's clock also counts that a thread is preempted at its
# clock or as it reads its account, and waits whose stack is not known, which have rows of their own.
holds_truth() {
	columns low high samples weight function <"$1" | awk -F'\t' -v f="$2" -v own="$3" '
		{ total += $4 }
		$5 == f { low += $1; high += $2; n += $3 }
		$5 ~ /^(off_ns|now_ns|ran_ns|ready_ns|"?\[.*)$/ { more += $4 }
		END { room = 5e6 + 3e4 * n
		      printf "%s: %.3f to %.3f ms, %.3f by its own clock\n", f, low * total / 1e6, high * total / 1e6, own / 1e6
		      exit !(n && own >= low * total * 0.98 - room && own <= high * total * 1.02 + room + more) }'
}

for case in mutex:lock pipe:pipe condition:lock sleep:sleep fsync:disk 'faults:page fault' chain:lock; do
	mode=${case%:*} kind=${case#*:}
	precord -q --off-cpu -o w.trace -- ./waits $mode >truth 2>err || { cat err; fail "$mode"; }
	read -r function own_ns <truth
	# Who waits for its turn on a loaded machine, 0.1 s at a time, waits for work: --idle shows where.
	preport -i w.trace --event off-cpu --by leaf --idle --format=csv >leaf.csv
	preport -i w.trace --event off-cpu --by wait --idle --format=csv >wait.csv
	ns=$(weight leaf.csv function "$function") of_kind=$(weight wait.csv wait "$kind")
	echo "$mode: $function waited ${ns:-0} ns, by its own clock $own_ns; $kind ${of_kind:-0} ns"
	# A file system in memory waits for nothing.
	case $mode in fsync | faults) [ "$own_ns" -lt 100000000 ] && continue ;; esac
	# So does one whose pages come without a wait, at once.
	[ "$mode" = faults ] && [ -z "$of_kind" ] && continue
	[ -n "$ns" ] || { cat leaf.csv; fail "$mode: $function is not in the table"; }
	[ -n "$of_kind" ] || { cat wait.csv; fail "$mode: nothing waits for '$kind'"; }
	holds_truth leaf.csv "$function" "$own_ns" || { cat leaf.csv; fail "$mode: $ns ns instead of $own_ns"; }
	case $mode:$(first leaf.csv) in
	# posix_fadvise() waits for a worker on each CPU, which on a loaded machine took 0.9 s.
	chain:hold_outer | chain:pause_ms | chain:run_chain | faults:run_faults | "$mode:$function") ;;
	*) cat leaf.csv; fail "$mode: the first row is another" ;;
	esac
done

# Eight threads on one lock: the lock is the first row. Threads' times are exact, also of those that are not shown.
precord -q --off-cpu -o w.trace -- ./waits mutex >truth
preport -i w.trace --event off-cpu --by thread -n 2 | grep 'more)' >more
grep -q ' exact .*([0-9]* more)' more || { cat more; fail "threads that are not shown have a range"; }
preport -i w.trace --event off-cpu --format=csv | columns function | head -n 1 >first
grep -qx wait_for_lock first || { preport -i w.trace --event off-cpu; fail "the lock is not the first row"; }
preport -i w.trace >summary
grep -q '^9 threads, .* blocked' summary || { cat summary; fail "the summary does not say that threads waited"; }
precord -q -e cpu-clock -F 999 -o c.trace -- ./waits queue >truth
preport -i c.trace >summary
grep -q 'waiting; record with --off-cpu' summary || { cat summary; fail "the summary does not propose --off-cpu"; }

# The lock has the name of its variable, the pipe its number; conditions and exports know them.
if [ "$(uname -m)" = x86_64 ]; then
	precord -q --off-cpu -o w.trace -- ./waits mutex >truth
	preport -i w.trace --event off-cpu --by lock --format=csv >lock.csv
	ns=$(weight lock.csv lock 'mutex lock (waits)') all=$(preport -i w.trace --event off-cpu --by leaf --format=csv | columns function weight | awk -F'\t' '$1 == "wait_for_lock" { ns += $2 } END { print ns + 0 }')
	echo "mutex: the variable's row has ${ns:-0} of $all ns"
	awk -v ns="${ns:-0}" -v all="$all" 'BEGIN { exit !(ns > 0 && ns >= all * 0.9) }' || { cat lock.csv; fail "the lock has no name"; }
	preport -i w.trace --event off-cpu --where 'lock = "mutex lock (waits)"' --by leaf -n 0 --format=csv | columns function | sort -u | grep -vx '\[.*\]' >only
	echo wait_for_lock | cmp - only || fail "--where lock lets others pass"
	preport pprof -i w.trace --event off-cpu -o w.pb
	zcat -f w.pb | grep -aq 'mutex lock (waits)' || fail "pprof has no label of the lock"

	precord -q --off-cpu -o w.trace -- ./waits pipe 300 >truth
	preport -i w.trace --event off-cpu --by file,leaf --format=csv | columns file function weight >files
	awk -F'\t' '$1 ~ /^pipe:\[[0-9]+\]$/ && $2 == "wait_for_data" { ns += $3 } END { exit !(ns > 0) }' files || { cat files; fail "the pipe has no name"; }
	awk -F'\t' '$1 ~ /^pipe:/ && $2 ~ /^(work_ms|run_pipe)$/ { exit 1 }' files || { cat files; fail "who works or joins waits for no pipe"; }
fi

# Threads that never rest on one CPU wait for it, as the scheduler itself says.
precord -q --off-cpu -o q.trace -- ./waits queue >truth
read -r function own_ns <truth
ns=$(preport -i q.trace --event off-cpu --by wait --format=csv | columns wait weight | awk -F'\t' '$1 == "run queue" { print $2 }')
echo "queue: ${ns:-0} ns, by the scheduler's account $own_ns"
if [ "$own_ns" -gt 0 ]; then
	preport -i q.trace --event off-cpu --by leaf --format=csv >leaf.csv
	holds_truth leaf.csv "$function" "$own_ns" || { cat leaf.csv; fail "queue: ${ns:-0} ns instead of $own_ns"; }
	# Whoever joins the threads waits as long, but not for a CPU.
	preport -i q.trace --event off-cpu --by wait,leaf --format=csv | columns wait function weight >rows
	first=$(awk -F'\t' '$1 == "run queue" && $3 > most { most = $3; f = $2 } END { print f }' rows)
	[ "$first" = "$function" ] || { cat rows; fail "queue: the first row is another"; }
fi

# The scheduler's own account stands beside: threads that burn without rest ran as long by one source as by the other, but for
# interrupts, what a hypervisor took, and a tick.
preport waits -i q.trace >lengths
grep -A1 "^the scheduler's own account of" lengths || { [ ! -e /proc/thread-self/schedstat ] || { cat lengths; fail "no account"; }; }
preport script -a -i q.trace --format=json | python3 -c '
import json, sys
last = {}
for line in sys.stdin:
    event = json.loads(line)
    if event["kind"] == "task-times":
        assert event["run_ns"] >= last.get(event["tid"], 0), event
        last[event["tid"]] = event["run_ns"]
' || fail "the account runs backwards"

# A waits for B, who waits for C.
if precord -q --wakers -o k.trace -- ./waits chain >truth 2>err; then
	preport -i k.trace --event off-cpu --by thread,waker --format=csv | columns thread waker weight >wakers
	for pair in A:B B:C; do
		awk -F'\t' -v t="${pair%:*}" -v by="${pair#*:}" '$1 == t && $2 ~ "^" by " " { ns += $3 } END { exit !(ns > 1e8) }' wakers ||
			{ cat wakers; fail "${pair%:*} does not wait for ${pair#*:}"; }
	done
	preport waits -i k.trace A
	preport waits -i k.trace A --format=csv | columns depth thread function total_ns |
		awk -F'\t' '$4 > 1e8 { print $1, $2, $3 }' >chain.rows
	printf '%s\n' '0 A wait_for_lock' '1 B hold_outer' '2 C pause_ms' | cmp - chain.rows ||
		{ cat chain.rows; fail "the chain from A to C"; }
	# Where wakings are many (a neighbour may make them), some have a stack: but what is said must be so, and of ten recordings one says it.
	for try in {1..10}; do
		preport -i k.trace --event off-cpu --by leaf,waker_function -n 0 --format=csv | columns function waker_function weight |
			awk -F'\t' '$3 > 1e8 && $1 ~ /^(wait_for_lock|hold_outer)$/ { print $1, $2 }' | sort -u >functions
		grep -vxE '(wait_for_lock|hold_outer) \[none\]|wait_for_lock hold_outer|hold_outer hold_inner' functions && fail "another function woke it"
		grep -qx 'wait_for_lock hold_outer' functions && break
		[ $try = 10 ] && { cat functions; fail "no waker has a function"; }
		precord -q --wakers -o k.trace -- ./waits chain >truth 2>err || { cat err; fail "--wakers, again"; }
	done
	preport folded -i k.trace --event off-wake >joined 2>err || { cat err; fail "off-wake"; }
	grep -q ';wait_for_lock;.*;--;.*;hold_outer;.*;\[B\] [0-9]*$' joined || { cat joined; fail "the stacks of sleeper and waker are not joined"; }
else
	grep -q 'tracefs\|tracepoint' err || { cat err; fail "--wakers"; }
	echo "no wakers here: $(head -n 1 err)"
fi

# A thread that sleeps all along is looked at, and long waits beside a flood of short ones that thin the stacks.
if [ "$(id -u)" = 0 ] && [ -s /proc/self/stack ]; then
	sleep 1000 &
	sleeper=$!
	precord -q -e off-cpu --duration 2 -p $sleeper -o s.trace 2>err || { kill $sleeper; cat err; fail "a sleeping thread"; }
	kill $sleeper
	preport -i s.trace --event off-cpu --by wait --idle --format=csv >wait.csv
	ns=$(weight wait.csv wait sleep)
	[ "${ns:-0}" -ge 1900000000 ] || { cat wait.csv; fail "a thread that slept all along: ${ns:-0} ns of sleep"; }

	precord -q --off-cpu -o t.trace -- sh -c './waits pingpong 150 >/dev/null & ./waits chain 300; wait' >truth
	preport -i t.trace --event off-cpu --by leaf --format=csv >leaf.csv
	preport -i t.trace | head -n 3
	for function in wait_for_lock hold_outer; do
		ns=$(weight leaf.csv function $function)
		echo "beside the flood: $function waited ${ns:-0} ns"
		[ "${ns:-0}" -ge 1000000000 ] || { cat leaf.csv; fail "$function: a long wait has no stack where stacks are thinned"; }
	done
fi

# Who lives all along has a row as long as the recording, to the nanosecond.
need_system_wide
precord -q -a --off-cpu -o a.trace -- sleep 0.5
preport -i a.trace --event wall --by thread -n 0 --format=csv | columns tid weight >rows
awk -F'\t' '{ ns[$1] += $2 } END { for (tid in ns) print ns[tid] }' rows | sort -n >lengths
preport info -i a.trace | sed -n 's/^Lasted *//p'
longest=$(tail -n 1 lengths)
same=$(grep -cx "$longest" lengths)
echo "$same of $(wc -l <lengths) threads have the length of the recording, $longest ns"
[ "$longest" -ge 500000000 ] || fail "the longest row has $longest ns"
[ "$same" -ge 2 ] || { cat rows; fail "rows of threads that live all along differ"; }

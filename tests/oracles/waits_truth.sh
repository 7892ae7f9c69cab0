#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Eight programs whose waits are known (tests/programs/waits.c), recorded RUNS times each (20): is the function that waits row 1
# of the default report of waits, and is its share of all waiting, as the program's own clock has it, within its interval? Of
# those that wait for a CPU, that is the kind of wait; of the chain, what the last one does whom all others wait for. Each must
# be so as often as 95 % allow: fewer than chance would have once in a million is a failure. Four minutes on 2 CPUs.
# alone
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
precord -q -e off-cpu -o try.trace -- sleep 0.01 2>try.err || skip "switches cannot be recorded here: $(head -n 1 try.err)"
$CC -O2 -g -o waits "$TOP/tests/programs/waits.c" -lpthread

wakers=--wakers
precord -q --wakers -o try.trace -- true 2>/dev/null || { wakers=; echo "no wakers here: the chain is left out"; }
for mode in mutex pipe condition fsync faults sleep queue ${wakers:+chain}; do
	by=leaf
	[ $mode != queue ] || by=wait
	for _ in $(seq "${RUNS:-20}"); do
		precord -q --off-cpu ${wakers:+$([ $mode != chain ] || echo $wakers)} -o w.trace -- ./waits $mode >truth 2>err ||
			{ cat err; fail "$mode"; }
		preport -q -i w.trace --event off-cpu --by $by -n 0 --format=csv >rows
		[ $mode != chain ] || preport waits -i w.trace A --format=csv >chain
		python3 - $mode <<'P' | tee -a results
import csv, sys
mode = sys.argv[1]
function, own = open("truth").read().split()
rows = list(csv.DictReader(open("rows")))
key, name = ("wait", "run queue") if mode == "queue" else ("function", function)
row = next((row for row in rows if row[key] == name), None)
share = int(own) / sum(int(row["weight"]) for row in rows)
first = rows[0][key]
if mode == "chain":
    last = [row for row in csv.DictReader(open("chain")) if int(row["total_ns"]) > int(own) / 2][-1]
    first, name = last["thread"] + " " + last["function"], "C pause_ms"
within = row is not None and float(row["low"]) <= share <= float(row["high"])
print(mode, int(first == name), int(within), row and row["low"], f"{share:.4f}", row and row["high"], first, sep="\t")
P
	done
done
python3 - <<'P'
import math
def tail(good, of, p=0.95):  # so few or fewer by chance
    return sum(math.comb(of, i) * p**i * (1 - p)**(of - i) for i in range(good + 1))
runs, wrong = {}, []
for line in open("results"):
    mode, first, within = line.split("\t")[:3]
    runs.setdefault(mode, []).append((int(first), int(within)))
for mode, all_runs in runs.items():
    for what, good in zip(("row 1", "within"), (sum(column) for column in zip(*all_runs))):
        print(f"{mode}: {what} {good} of {len(all_runs)}")
        if tail(good, len(all_runs)) < 1e-6:
            wrong.append((mode, what))
assert not wrong, wrong
P

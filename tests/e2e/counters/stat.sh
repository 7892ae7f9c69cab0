#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# precord stat counts what perf stat counts, and never shows 0 for what it did not count.
# alone
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/fakepmu.bash"
need_recording

# value EVENT <CSV
value() { columns event value | awk -F'\t' -v e="$1" '$1 == e { print $2; exit }'; }

# A program that touches a known number of pages, at addresses that are the same each time.
cat >pages.c <<'END'
#include <stdlib.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	volatile char *p = mmap(NULL, n * 4096 + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise((void *)p, n * 4096 + 4096, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i++)
		p[i * 4096] = 1;
	return 0;
}
END
$CC -static -O1 -o pages pages.c 2>/dev/null || $CC -O1 -o pages pages.c || fail "no program"
# The kernel maps the pages around a fault that are in memory and not locked just then: the least of five runs counts.
least() { for _ in 1 2 3 4 5; do "$@"; done | sort -n | head -n 1; }
once() { setarch -R precord stat --format=csv -e page-faults -o counts.csv -- ./pages "$1" && value page-faults <counts.csv; }
faults() { least once "$1"; }
few=$(faults 10) many=$(faults 1010)
[ $((many - few)) = 1000 ] || fail "1000 pages more, and $((many - few)) faults more"

if command -v perf >/dev/null; then
	perf_once() { setarch -R perf stat -x, -o perf.csv -e page-faults ./pages 1010 2>/dev/null; grep -o '^[0-9]*,,page-faults' perf.csv | cut -d, -f1; }
	perf_faults=$(least perf_once)
	[ "$perf_faults" = "$many" ] || fail "perf stat counts $perf_faults page faults, we count $many"
fi

# As many context switches as the kernel tells a shell of its own account and its children's, but for a few at the ends.
cat >switches.py <<'END'
import resource, subprocess
for i in range(9):
    subprocess.run(['sleep', '0.01'])
who = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
print(sum(u.ru_nvcsw + u.ru_nivcsw for u in map(resource.getrusage, who)))
END
precord stat --format=csv -e context-switches -o counts.csv -- python3 switches.py >switches.txt
got=$(value context-switches <counts.csv) want=$(cat switches.txt)
[ "$got" -ge $((want / 2)) ] && [ "$got" -le $((want * 2 + 20)) ] || fail "$got context switches, the program's own count: $want"

# The clock is the time that the kernel charged the command with, within a tenth.
cp /proc/stat before
precord stat --format=json -e task-clock -o counts.json -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done' || fail "stat"
cp /proc/stat after
python3 - <<'END' || fail "task-clock is not the CPU time"
import json, os
s = json.load(open('counts.json'))
clock, cpu = s['counts'][0]['value'] / 1e9, s['user_s'] + s['system_s']
# What interrupts and the hypervisor took is the clock's, but some kernels do not charge it (irq, softirq, steal).
taken = [sum(map(int, open(f).readline().split()[6:9])) / os.sysconf('SC_CLK_TCK') for f in ('before', 'after')]
assert -0.1 * cpu - 0.02 < clock - cpu < 0.1 * cpu + 0.02 + taken[1] - taken[0], (clock, cpu, taken)
END

# Repeated runs, intervals, places.
precord stat -r 3 -e page-faults -- true 2>out || fail "-r"
expect '+-' out
precord stat -a -I 50 -e context-switches --format=csv -- sleep 1.5 2>out || fail "-I"
[ "$(columns time_s event <out | sort -u | wc -l)" -ge 4 ] || fail "intervals are missing"
precord stat -a --per-cpu -e cpu-clock --format=csv -o counts.csv -- sleep 0.1 || fail "--per-cpu"
[ "$(columns place <counts.csv | sort -u | wc -l)" = "$(nproc --all)" ] || [ "$(nproc)" != "$(nproc --all)" ] || fail "a CPU is missing"
precord stat -a --per-core -e cpu-clock -- true 2>out || fail "--per-core"
expect 'core 0/0' out
sleep 300 & runs $! sleep
precord stat -p $! --per-thread -e task-clock --duration 1 >out || fail "--per-thread"
kill $!
expect "thread $! sleep" out

# All threads of the machine: the busiest first, what counted nothing is not shown. A busy thread tells that it is there.
sh -c 'while :; do :; done' & runs $! sh
precord stat -a --per-thread -e task-clock --duration 1 >out || fail "-a --per-thread"
precord stat -a --per-thread -e task-clock --format=csv --duration 0.1 >counts.csv || fail "-a --per-thread --format=csv"
kill $!
grep -q "^thread $! sh  *[1-9][0-9.]* ms  task-clock" out || { head out; fail "the busy thread has no row"; }
sed -n 's/^thread .* \([0-9.]*\) ms .*/\1/p' out >times
sort -rn times | cmp -s - times || fail "the busiest thread is not the first"
grep -q ' 0.00 ms' times && fail "idle threads have rows"
[ "$(columns place <counts.csv | grep -c "^$! sh")" = 1 ] || fail "CSV lacks the thread"

# Its exit status is the command's.
precord stat -e page-faults -- sh -c 'exit 7' 2>/dev/null; [ $? = 7 ] || fail "the exit status"
precord stat -e page-faults -- ./missing 2>/dev/null; [ $? = 127 ] || fail "a missing command"
precord stat -r 2 -a 2>out; [ $? = 125 ] || fail "-r without a command"

# On machines with PMUs: shared counters are scaled and marked, what never ran is not 0.
on arm precord stat -a -e '{cycles,r1,r2,r3,r4,r5,r6,r7},instructions' --format=csv -o counts.csv -- true || fail "arm"
grep -q '^,,r7,,events,,.*not counted' counts.csv || fail "an event that never ran has a count"
grep -q '^,,instructions,400000,events' counts.csv || fail "an event beside it has none"
NMI=1 on arm precord stat -a -e '{cycles,r1,r2,r3,r4,r5,r6}' -- true 2>out || fail "watchdog"
expect 'the NMI watchdog holds a counter' out
on intel precord stat -a -e r1,r2,r3,r4,r5,r6,r7,r8,r9,ra -- true 2>out || fail "multiplexing"
expect 'counted 80 % of the time, scaled up' out
on intel precord stat -a -e '{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,topdown-be-bound}' -- true 2>out || fail "topdown"
expect '2,400,000  slots' out
on intel precord stat -a -e stalled-cycles-backend -- true 2>out || fail "not supported"
expect 'not supported' out
on intel precord stat -a -e topdown-retiring -- true 2>out || fail "a metric alone"
expect 'not supported' out
on hybrid precord stat -a -e cycles -- true 2>out || fail "hybrid"
expect 'cpu_core/cycles/' out
expect 'cpu_atom/cycles/' out

# -d has caches, counted or with the reason why not.
precord stat -d -- true 2>&1 | grep -q L1-dcache-loads || fail "-d prints nothing of caches"
exit 0

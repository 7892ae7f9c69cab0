#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# preport perf-data: perf opens the file, adds up to the same, has the same chains, and unwinds the snapshots by itself.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
command -v perf >/dev/null && perf version >/dev/null 2>&1 || skip "perf is not installed"
need_recording

cat >chain.c <<'CODE'
#include <fcntl.h>
#include <unistd.h>
#define NEVER __attribute__((noinline, noclone))
static volatile unsigned long sum;
NEVER void inner(int n) { for (int i = 0; i < n * 1000; i++) sum += i; }
NEVER void middle(int n) { inner(n); sum++; }
NEVER void outer(int n) { middle(n); read(open("/dev/zero", O_RDONLY), (char[512]){0}, 512); sum++; }
int main(void) { for (int i = 0; i < 3000; i++) { outer(100); close(3); } }
CODE
cc -O1 -g -fomit-frame-pointer -o chain chain.c 2>/dev/null || skip "no C compiler is installed"
precord -q -e cpu-clock -F 999 -o run.trace -- ./chain
preport -i run.trace perf-data --chains -o chains.data 2>chains.err
preport -i run.trace perf-data -o stacks.data 2>stacks.err
grep -q 'look at it with: perf report -i stacks.data' stacks.err || fail "it does not say what opens the file"

# What preport reads of both is what it reads of the trace.
for data in chains stacks; do
	for by in leaf total line; do
		preport -i run.trace --by $by --limit 0 --format=csv >want.csv 2>/dev/null
		preport -i $data.data --by $by --limit 0 --format=csv >$data.csv 2>/dev/null
		cmp want.csv $data.csv || fail "--by $by of $data.data differs"
	done
done

# The same chains, address by address; lines of inlined functions have none.
addresses() {
	preport -i $1 script 2>/dev/null | sed -nE 's/^[^\t]* ([0-9.]+): ([0-9]+) .*/\1 \2/p; s/^\t +([0-9a-f]{6,}) .*/\1/p'
}
addresses run.trace >want.chains
addresses chains.data >chains
cmp want.chains chains || fail "the chains of chains.data differ"

# perf's own words: samples, the sum of periods, and times.
preport -i run.trace script --no-chain 2>/dev/null | sed -nE 's/^[^\t]* ([0-9.]+): ([0-9]+) .*/\1 \2/p' >want.samples
for data in chains stacks; do
	perf script -i $data.data --ns -F time,period 2>perf.err | sed -E 's/^ *([0-9.]+): *([0-9]+).*/\1 \2/' | grep . >perf.samples
	cmp want.samples perf.samples || fail "perf script reads other samples of $data.data: $(head -n 3 perf.err)"
done

# perf unwinds the pruned snapshots down to main, and finds the chains whole. Kernel and libc are the machine's own.
# Of those that reach main for preport: others were taken before it began, or in the kernel at exec. Four may fail whatever their number.
total=$(preport -i run.trace folded --samples 2>/dev/null | awk '/;main;/ { n += $NF } END { print n + 0 }')
for data in chains stacks; do
	whole=$(perf script -i $data.data --no-inline -F comm,ip,sym 2>/dev/null |
		awk '/^$/ { if (s ~ /inner middle outer main/ || s ~ / outer main/) n++; s = "" } /^\t/ { s = s " " $2 } END { print n + 0 }')
	[ $(((whole + 4) * 100)) -ge $((total * 90)) ] || fail "perf finds only $whole of $total stacks of $data.data whole"
done
perf annotate -i chains.data --stdio -s inner >annotated 2>/dev/null || fail "perf annotate does not open it"
grep -q 'inner' annotated || fail "perf annotate shows nothing of inner"
perf buildid-list -i chains.data | grep -q '/chain$' || fail "the build ID is missing"

# The period of a wait is its length, from the switch off the CPU to the next one onto it; preport finds the same from the switches alone.
precord -q --off-cpu -o off.trace -- bash -c 'sleep 0.1; sleep 0.1'
preport -i off.trace perf-data --chains -o off.data 2>/dev/null
perf script -i off.data --ns --show-switch-events -G -F tid,time,event,period 2>/dev/null | awk '
	{ sub(":", "", $2); sub("[.]", "", $2) }
	/off-cpu/ { period[$1] = $3 }
	/SWITCH OUT/ { out[$1] = $2 }
	/SWITCH IN/ && period[$1] && out[$1] { n++; if ($2 - out[$1] != period[$1]) { print; exit 1 } }
	/SWITCH IN/ { period[$1] = out[$1] = 0 }
	END { exit !n }' || fail "a wait has another period in off.data than it is long"
waits_of() { preport -i $1 --by comm --event off-cpu --format=csv 2>/dev/null | awk -F, '/,(sleep|bash)$/ { n += $6 } END { print n + 0 }'; }
# Not twice, as waits and as periods; the trace has the scheduler's account as well.
[ $(waits_of off.data) -le $(($(waits_of off.trace) * 6 / 5)) ] || fail "preport finds $(waits_of off.data) ns of waiting in off.data, $(waits_of off.trace) in the trace"

! preport perf-data -i - <run.trace 2>err || fail "standard input cannot be read twice"
grep -q 'reads its input twice' err || fail "no reason is given"
preport -i run.trace perf-data 2>err | cat >piped || :
grep -q "needs a file" err || fail "a pipe cannot hold it, and nothing says so"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which memory samples accessed: the stand-in's accesses are known, page faults are the kernel's own.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/fakepmu.bash"
need_system_wide

# Each fifth access comes from RAM in 300 cycles, the others from level 1 in 5; 16 cache lines of fakepmu_table.
on intel precord -q -a -d --weight -e cycles:P -o t.trace -- true 2>/dev/null || fail "-d"
samples=$(preport -i t.trace script --format=json | grep -c '"kind": "sample"')
preport -i t.trace --by data-symbol --format=csv 2>/dev/null | columns samples latency data_object data_module >found
printf '%s\t64.000\tfakepmu_table\tlibfakepmu.so\n' "$samples" >wanted
diff wanted found || fail "all in one variable, (4 * 5 + 300) / 5 cycles"
preport -i t.trace --by data-source --format=csv 2>/dev/null | sed 's/"load, /"load /' |
	columns samples latency latency_low latency_deviation data_source tlb snoop >found
printf '%s\t%s\n' $((samples * 4 / 5)) '5.000	5.000	0.000	"load L1 hit"	hit L1 L2	' \
	$((samples / 5)) '300.000	300.000	0.000	"load RAM hit"	miss walk	snoop miss' >wanted
diff wanted found || fail "sources"
[ "$(preport -i t.trace --by data-line --limit 0 --format=csv 2>/dev/null | columns data_line | grep -c '[048c]0$')" = 16 ] ||
	fail "16 cache lines"
preport -i t.trace --by data-symbol,leaf >text 2>/dev/null || fail "levels inside each other"
expect 'latency' text
expect 'fakepmu_cold' text
[ "$(preport -i t.trace --by data-symbol --symbol fakepmu_cold --format=csv 2>/dev/null | columns samples)" = $((samples / 4)) ] ||
	fail "--symbol chooses samples"
preport -i t.trace script --format=json >json || fail "script"
expect '"data_source": "load, L1 hit"' json
preport -i t.trace script >text || fail "script as text"
grep -qE 'cycles:P: data 0x[0-9a-f]+ load, RAM hit, TLB miss walk, snoop miss, weight 300$' text || fail "data as text"

# Without -d there is nothing to tell, and mappings without code are not recorded.
on intel precord -q -a -e cycles -o none.trace -- true || fail "no data"
preport -i none.trace --by data-symbol 2>out && fail "no addresses"
expect "no sample of 'none.trace' has a data address" out
preport -i none.trace --by data-source 2>out && fail "no sources"
expect 'tells where its data came from' out
[ "$(preport -i none.trace script --all --format=json | grep '"kind": "mmap"' | grep -vc '"exec": true')" = 0 ] ||
	fail "data mappings without -d"

# Page faults of a program of our own: in its heap, in a variable, on its stack.
cat >touch.c <<'EOF'
#include <stdlib.h>
#include <string.h>
char zeroed[64 << 12];
static int deep(int n)
{
	volatile char page[4096];

	page[0] = (char)n;
	return n ? deep(n - 1) + page[0] : 0;
}
int main(void)
{
	for (int i = 0; i < 64; i++) {
		char *heap = malloc(4096);

		heap[0] = zeroed[i << 12] = 1;
	}
	return deep(64) == 1;
}
EOF
${CC:-cc} -O0 -o touch touch.c || fail "no compiler"
precord -q -d -e page-faults -c 1 -g dwarf -o faults.trace -- ./touch || fail "page faults"
preport -i faults.trace --by data-symbol --format=csv 2>/dev/null | columns data_object samples data_module >found
# The kernel calls the heap so only once it has grown.
for what in '[heap]' zeroed '[stack]'; do
	awk -F'\t' -v what="$what" '$1 == what && $2 >= 25 { ok = 1 } END { exit !ok }' found || { cat found; fail "$what"; }
done
exit 0

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Of a recorded compilation: chains are the same whether callers are taken over from the last sample or not, and
# 99 of 100 stacks that were not cut, and four, reach the root.
set -eu
cat >load.c <<'END'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void)
{
	static int n[200000];
	for (int i = 0; i < 200000; i++)
		n[i] = rand();
	qsort(n, 200000, sizeof(int), compare);
	double s = 0;
	for (int i = 0; i < 200000; i++)
		s += sin(n[i]);
	return printf("%f\n", s) < 0;
}
END
precord -q -F 999 -o load.trace -- sh -c "for i in 1 2 3 4; do $CC -O2 load.c -o load -lm && ./load; done" >log 2>&1 || {
	tail -n 1 log
	exit 77
}
"$BUILD/tests/tools/unwind_bench" --check load.trace | tee found
grep -q '^0 chains differ' found
awk '/stacks,/ { all = $1 } /^ *[0-9]+  complete/ { ok += $1 } /completed by the kernel/ { ok += $1 }
	/snapshot ended|no stack recorded|no user part|just entering/ { cut += $1 }
	END { printf "%d of %d rooted\n", ok, all - cut; exit all < 100 || ok + 4 < 0.99 * (all - cut) }' found

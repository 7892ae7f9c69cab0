#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A sample that debug-unwind --cut wrote alone is walked as it was in the recording, frame by frame, rule by rule; and
# the small trace holds neither names nor command lines nor data.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
dump=$BUILD/tests/tools/dump_trace hidden=SECRET
# The host's own name may be a word that is in any file: while it is recorded, it has another where that is allowed.
on_host() { "$@"; }
! unshare -u sh -c 'hostname SECRETHOST' 2>host.err ||
	on_host() { unshare -u sh -c 'hostname SECRETHOST && exec "$@"' - "$@"; }

cat >load.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char secret[] = "SECRETDATA";
static volatile unsigned long sink;
static int compare(const void *a, const void *b)
{
	sink++;
	return *(const int *)a - *(const int *)b;
}
static void sort(void)
{
	static int n[100000];
	for (int i = 0; i < 100000; i++)
		n[i] = rand();
	qsort(n, 100000, sizeof(int), compare);
}
static void handler(int signal) { sort(); (void)signal; }
int main(void)
{
	/* In a frame that is on the stack all the time: what a leaf function holds may lie below the stack pointer. */
	volatile char copy[64];
	for (unsigned i = 0; i < sizeof(secret); i++)
		copy[i] = secret[i];
	signal(SIGUSR1, handler);
	for (int i = 0; i < 10; i++)
		i % 2 ? sort() : (void)raise(SIGUSR1);
	return copy[0] != 'S';
}
END
"$CC" -O2 -w -o secretname load.c
for raw in '' --raw-stacks; do
	: >walked
	on_host precord -q $raw -F 999 -o load.trace -- ./secretname SECRETARGUMENT
	total=$(preport -i load.trace info --format=csv | tr -d '\r' | awk -F, '$1 == "samples" { print $2 }')
	[ "$total" -gt 20 ] || skip "only $total samples"
	[ -z "$raw" ] || "$dump" load.trace | grep -aq SECRETDATA || fail 'the recording itself holds no data: nothing is tested'
	[ -s host.err ] || preport -i load.trace info | grep -q SECRETHOST || fail 'the recording does not name the host'
	chain() { # chain TRACE SAMPLE: addresses, rules and how they were found, without where files are
		preport -i "$1" debug-unwind --sample "$2" >walk
		awk '/^#/ { at = $2; next } /found by.*in the kernel/ { next } at ~ /^0xffff[8-f]/ { next }
			/found by|rule  |^End/ { sub(", in /.*", ""); print at, $0 }' walk
	}
	for n in $(seq 1 $((total / 6)) "$total"); do
		preport -i load.trace debug-unwind --cut "$n" cut.trace
		chain load.trace "$n" >whole
		chain cut.trace 1 >alone
		cat alone >>walked
		diff whole alone || fail "sample $n is walked in another way alone"
		! "$dump" cut.trace | grep -aq "$hidden" || fail "sample $n alone holds data or names"
	done
	[ "$(stat -c %s cut.trace)" -lt 20000 ] || fail "a cut of $(stat -c %s cut.trace) bytes"
	grep -q 'unwind table' walked || fail 'nothing was walked'
done
preport -i load.trace debug-unwind --cut $((total + 1)) none.trace 2>err && fail 'a sample that is not there'
grep -q "the last one is $total" err || fail "$(cat err)"
[ ! -e none.trace ] || fail 'a file without a sample'

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A JIT compiler that puts one function after the other at the same address: each sample gets the one that was there at its time.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip 'the code is x86-64'
command -v cc >/dev/null || skip 'there is no C compiler here'

# Six times in turn: three parts of the work in one_N, one part in two_N, of 60 ms of CPU time each part. Work is counted in time, so
# that the shares are the same on any processor.
cat >reuse.c <<'END_C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static FILE *dump;
static uint64_t now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}
static void u32(uint32_t v) { fwrite(&v, 4, 1, dump); }
static void u64(uint64_t v) { fwrite(&v, 8, 1, dump); }
static const uint8_t loop[] = { 0xb9, 0, 0, 1, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3 }; /* mov $65536, %ecx; 1: dec %ecx; jnz 1b; ret */

static void load(uint8_t *at, const char *name)
{
	memcpy(at, loop, sizeof(loop));
	u32(0);
	u32(16 + 40 + strlen(name) + 1 + sizeof(loop));
	u64(now(CLOCK_MONOTONIC));
	u32(getpid());
	u32(getpid());
	u64((uintptr_t)at);
	u64((uintptr_t)at);
	u64(sizeof(loop));
	u64(0);
	fwrite(name, strlen(name) + 1, 1, dump);
	fwrite(loop, sizeof(loop), 1, dump);
	fflush(dump);
}
int main(void)
{
	char path[64];
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd;

	snprintf(path, sizeof(path), "jit-%d.dump", getpid());
	dump = fopen(path, "w+");
	u32(0x4a695444); u32(1); u32(40); u32(62); u32(0); u32(getpid()); u64(now(CLOCK_MONOTONIC)); u64(0);
	fflush(dump);
	fd = open(path, O_RDONLY);
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return 1;
	for (int i = 0; i < 12; i++) {
		char name[16];
		uint64_t end = now(CLOCK_PROCESS_CPUTIME_ID) + 60000000ULL * (i % 2 ? 1 : 3);

		snprintf(name, sizeof(name), i % 2 ? "two_%d" : "one_%d", i / 2);
		load(code, name);
		while (now(CLOCK_PROCESS_CPUTIME_ID) < end)
			((void (*)(void))code)();
	}
	return 0;
}
END_C
cc -O2 -o reuse reuse.c || fail 'the program does not compile'
precord -q -e cpu-clock:u -F 997 -o reuse.trace -- ./reuse 2>err.txt || { cat err.txt; fail 'cannot record'; }
preport -i reuse.trace --by leaf --format=csv 2>/dev/null >leaves.csv
preport -i reuse.trace folded --samples 2>/dev/null >folded
for i in 0 1 2 3 4 5; do
	for f in one two; do
		n=$(awk -v f="${f}_$i" '$0 ~ ";" f " " { n += $NF } END { print n + 0 }' folded)
		echo "${f}_$i: $n"
		echo "$f $n" >>counts
	done
done
# Each within five standard deviations of its eighth or twenty-fourth; the timer, not the number of samples, decides how many there are.
awk '{ all += $2; n[NR] = $2; f[NR] = $1 } END {
	if (all < 200) { print "only " all " samples"; exit 77 }
	for (i = 1; i <= NR; i++) {
		p = f[i] == "one" ? 1 / 8 : 1 / 24; d = n[i] - p * all
		if (d * d > 25 * p * (1 - p) * all) { print "number " i " of 12 has " n[i] " of " all; bad = 1 }
	}
	exit bad }' counts
status=$?
[ $status != 77 ] || skip 'too few samples'
[ $status = 0 ] || { cat counts; fail 'samples have the name of code that was there at another time'; }
preport -i reuse.trace annotate one_3 2>/dev/null >code
grep -q dec code || fail 'annotate shows no code of a function that was replaced'
# Addresses are those of the process, whichever code they are of: all functions begin at one.
[ "$(preport -i reuse.trace --by address --limit 0 --format=csv 2>/dev/null | columns address function | awk -F'\t' '
	$2 ~ /^(one|two)_/ { print substr($1, 1, length($1) - 3) }' | sort -u | wc -l)" = 1 ] || fail 'addresses of one page differ'
page=$(preport -i reuse.trace --by address --limit 0 --format=csv 2>/dev/null | columns address function |
	awk -F'\t' '$2 == "one_0" { print substr($1, 3, length($1) - 5); exit }')
for i in 0 3 5; do
	preport -i reuse.trace annotate "one_$i" --format=csv 2>/dev/null | columns address >addresses
	[ -s addresses ] || fail "annotate one_$i"
	grep -v "^0x$page" addresses && fail "annotate one_$i shows other addresses"
done
preport -i reuse.trace export --to perf-script 2>/dev/null | awk '/ (one|two)_/ { print $1 }' | sort -u >exported
grep -v "^$page" exported && fail 'exported addresses are others'
exit 0

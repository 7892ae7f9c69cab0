#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An event that one CPU has no room for is sampled on the others and named, on the terminal and in the file; one that
# no CPU of the recording has room for is an error. The breakpoints of the last CPU, then those of the first, are taken
# by another program.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_system_wide
cpu=$(sed -n 's/^Cpus_allowed_list:.*[-,]//p' /proc/self/status)
[ -n "$cpu" ] || skip "there is only one CPU"

cat >hold.c <<'SRC'
#define _GNU_SOURCE
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static char memory[256];
int main(int argc, char **argv)
{
	int held = 0;
	for (int i = 0; i < 64; i++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_BREAKPOINT,
			.size = sizeof(attr),
			.bp_type = HW_BREAKPOINT_W,
			.bp_addr = (unsigned long)&memory[i * 4],
			.bp_len = 4,
		};
		held += syscall(SYS_perf_event_open, &attr, -1, atoi(argv[argc - 1]), -1, 0) >= 0;
	}
	printf("%d\n", held);
	fflush(stdout);
	pause();
	return 0;
}
SRC
$CC -O1 -o hold hold.c 2>err.txt || skip "no breakpoints to be had: $(head -n 1 err.txt)"
# Something that is written to often, wherever it runs.
cat >write.c <<'SRC'
#include <stdlib.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
	char *at = (char *)0x10000000UL;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	volatile int *word = mmap(at, 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
	for (int i = 0; i < atoi(argv[argc - 1]); i++)
		*word = i;
	return 0;
}
SRC
$CC -O1 -o write-often write.c || fail "cannot compile"

trap 'kill $holder 2>/dev/null' EXIT
hold() { # hold CPU: all of its breakpoints
	rm -f held.txt
	./hold "$1" >held.txt & holder=$!
	for _ in $(seq 600); do [ -s held.txt ] && break; sleep 0.1; done
	[ "$(cat held.txt)" -gt 0 ] && [ "$(cat held.txt)" -lt 64 ] ||
		skip "breakpoints cannot be used up here: $(cat held.txt) of 64 were granted"
}

goes_on() { # goes_on FULL OTHER: without the first CPU, on the other
	precord -a -e mem:0x10000000/4:w -c 100 -o one.trace -- \
		taskset -c "$2" ./write-often 5000 2>err.txt ||
		{ cat err.txt; fail "CPU $1 is full: precord: $?"; }
	words="not sampled on CPU $1: event 'mem:0x10000000/4:w'"
	grep -q "^precord: warning: $words" err.txt || { cat err.txt; fail "CPU $1 is not named"; }
	preport -i one.trace info >info.txt 2>&1
	grep -q "^Note .*$words" info.txt || { cat info.txt; fail "the file does not name CPU $1"; }
	preport -i one.trace info --format=json 2>/dev/null | grep -q "\"cpu\": \"$2\", \"samples\": [1-9]" ||
		{ cat info.txt; fail "CPU $2 was not sampled"; }
}

first=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
hold "$first"
goes_on "$first" "$cpu"
kill "$holder"
wait "$holder" 2>/dev/null
hold "$cpu"
goes_on "$cpu" "$first"

precord -C "$cpu" -e mem:0x10000000/4:w -o none.trace -- true 2>err.txt &&
	fail "an event without a CPU is no error"
[ "$(wc -l <err.txt)" = 2 ] && [ ! -e none.trace ] || { cat err.txt; fail "not two lines, or a file"; }
exit 0

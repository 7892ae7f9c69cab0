#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Code that a program makes while it runs is named by the perf map that it writes, blanks and all, and where
# memory was reused by the line written last; also after the map is gone.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip "the machine code in this test is x86-64's"

cat >jit.c <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* loop: dec %rdi; jne loop; ret */
static const unsigned char code[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };

int main(void)
{
	char path[64];
	char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	clock_t end = clock() + CLOCKS_PER_SEC;

	memcpy(memory + 64, code, sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	FILE *map = fopen(path, "w");
	fprintf(map, "%lx 200 LazyCompile:old code\n", (unsigned long)memory);
	fprintf(map, "%lx 40 LazyCompile:*spin /srv/app.js:3:9\n", (unsigned long)memory + 64);
	fclose(map);
	while (clock() < end)
		((void (*)(unsigned long))(memory + 64))(10000000);
	puts(path);
	return 0;
}
END
"$CC" -O1 -o jit jit.c
precord -q -F 499 -o jit.trace -- ./jit >path
rm -f "$(cat path)"
preport -i jit.trace --by leaf --format=csv >leaves.csv
cat leaves.csv
awk -F, 'NR == 2 && index($0, "LazyCompile:*spin /srv/app.js:3:9") { found = $2 > 0.8 } END { exit !found }' leaves.csv ||
	fail "the code is not named by its map"
preport -i jit.trace --by caller --format=csv | head -n 2 | grep -q main || fail "its caller is not main"

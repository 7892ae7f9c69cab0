#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Code that a program makes while it runs is annotated, with its source: from the dump that it writes,
# also when that is gone; from a dump on disk, if the recorder was killed; and from memory, if there is
# only a perf map.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip "the machine code in this test is x86-64's"

cat >jit.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* loop: dec %rdi; jne loop; ret */
static const unsigned char code[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

#define PUT(type, value) fwrite(&(type){ value }, sizeof(type), 1, file)

static void begin(FILE *file, uint32_t kind, uint32_t len)
{
	PUT(uint32_t, kind);
	PUT(uint32_t, 16 + len);
	PUT(uint64_t, now());
}

static void write_dump(const char *path, uint64_t addr)
{
	FILE *file = fopen(path, "w+");
	const uint32_t head[] = { 0x4a695444, 1, 40, 62, 0, getpid() };

	fwrite(head, sizeof(head), 1, file);
	PUT(uint64_t, now());
	PUT(uint64_t, 0);
	begin(file, 2, 16 + 16 + 9 + 16 + 2);
	PUT(uint64_t, addr);
	PUT(uint64_t, 2);
	PUT(uint64_t, addr);
	PUT(uint64_t, 5);
	fwrite("/srv/a.x", 9, 1, file);
	PUT(uint64_t, addr + 5);
	PUT(uint64_t, 7);
	fwrite("\xff", 2, 1, file);
	begin(file, 0, 40 + 5 + sizeof(code));
	PUT(uint32_t, getpid());
	PUT(uint32_t, getpid());
	PUT(uint64_t, addr);
	PUT(uint64_t, addr);
	PUT(uint64_t, sizeof(code));
	PUT(uint64_t, 1);
	fwrite("spin", 5, 1, file);
	fwrite(code, sizeof(code), 1, file);
	fflush(file);
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0);
}

/* jit KIND SECONDS, KIND: dump or map */
int main(int argc, char **argv)
{
	char path[64];
	char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	clock_t end = clock() + atoi(argv[2]) * CLOCKS_PER_SEC;

	memcpy(memory + 64, code, sizeof(code));
	if (strcmp(argv[1], "dump") == 0) {
		snprintf(path, sizeof(path), "jit-%d.dump", getpid());
		write_dump(path, (uintptr_t)memory + 64);
	} else {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
		FILE *map = fopen(path, "w");
		fprintf(map, "%lx 6 spin\n", (unsigned long)memory + 64);
		fclose(map);
	}
	puts(path);
	fflush(stdout);
	while (clock() < end)
		((void (*)(unsigned long))(memory + 64))(10000000);
	return argc > 3;
}
END
"$CC" -O1 -o jit jit.c

shows_spin() { # shows_spin TRACE: the three instructions, nearly all time on the first two
	preport -i "$1" annotate spin --format=csv | plain_csv >spin.csv || return 1
	columns instruction share <spin.csv | awk '
		/^dec/ { sum += $NF; n++ }
		/^jne/ { sum += $NF; n++ }
		/^ret/ { n++ } END { exit !(n == 3 && sum > 0.9) }'
}

precord -q -F 499 -o d.trace -- ./jit dump 1 >path
mv "$(cat path)" kept.dump
shows_spin d.trace || { cat spin.csv; fail "the code of a dump that is gone is not shown"; }
preport -i d.trace --by line --format=csv | grep -q '/srv/a.x:5' || fail "its line is not known"
preport -i d.trace strip --names -o s.trace 2>/dev/null
preport -i s.trace annotate --hot 1 2>err && fail "stripped, its code is still there"
! grep -q '/srv/a.x' s.trace || fail "stripped, its source is still named"

# A recorder that is killed embeds nothing: the dump on disk serves, if it is of that very process.
precord -q -F 499 -o k.trace -- ./jit dump 600 >path 2>/dev/null &
recorder=$!
for _ in {1..400}; do # until the file has a block with its samples
	sleep 0.5
	preport -i k.trace.part script 2>/dev/null | grep -q spin && break
done
kill -KILL $recorder
wait $recorder 2>/dev/null || true
mv k.trace.part k.trace
dump=$(cat path)
kill "${dump//[!0-9]/}" # whose recorder can no longer end it
shows_spin k.trace || { cat spin.csv; fail "the dump on disk is not used"; }
cp "$dump" right.dump
cp kept.dump "$dump"
preport -i k.trace --by leaf >out 2>err
grep -q "is not used for process [0-9]*: it is of another process" err ||
	{ cat err; fail "another process's dump is used"; }
truncate -s 513M "$dump"
preport -i k.trace --by leaf >out 2>err
grep -q "is longer than 512 MiB" err || { cat err; fail "nobody says that the dump is too long"; }
head -c 60 right.dump >"$dump"
preport -i k.trace --by leaf >out 2>err || fail "a dump that is cut stops everything"
rm "$dump"

# Names alone: as long as the process lives, its memory has the code.
ahead ./jit map 600 >path &
pid=$!
until [ -s path ]; do sleep 0.1; done
precord -q -F 499 -p $pid -o m.trace -- sleep 1
kill $pid
rm -f "/tmp/perf-$pid.map"
shows_spin m.trace || { cat spin.csv; fail "the code in memory is not shown"; }
precord -q -F 499 -o g.trace -- ./jit map 1 >path
rm -f "$(cat path)"
shows_spin g.trace || { cat spin.csv; fail "the code of a process that is gone is not in the pages that were kept of it"; }

command -v node >/dev/null || { echo "without node: only a JIT of our own was recorded"; exit 0; }
cat >app.js <<'END'
function mixer(a) { let s = 0; for (const n of a) s = (s * 31 + n) | 0; return s; }
const numbers = new Int32Array(10000).map((_, i) => i * 7);
let sum = 0, end = Date.now() + 1500;
while (Date.now() < end)
	sum ^= mixer(numbers);
END
precord -q -F 499 -o n.trace -- node --perf-prof app.js >/dev/null
rm -f jit-*.dump
preport -i n.trace annotate '*mixer*' --format=csv 2>err | plain_csv >node.csv ||
	{ cat err; fail "no code of Node's"; }
columns share loop_depth <node.csv | awk '$2 > 0 { sum += $1 } END { exit !(sum > 0.5) }' ||
	{ head -n 40 node.csv; fail "Node's code has no loop with the time"; }
preport -i n.trace --by line --format=csv | grep -q 'app.js:1' || fail "Node's lines are not known"

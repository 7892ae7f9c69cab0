#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# slow: it records programs that have to run for some seconds until their code is compiled
# Stacks through code that a program makes at run time without frame pointers: by the rules in its JIT's dump, or by what the
# code does to the stack; also of a program that has ended before the recording does.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip "the machine code in this test is x86-64's"

whole() { # whole TRACE NAME: 99 in 100 stacks that go through NAME reach their root; three more may not
	preport -i "$1" folded --samples 2>/dev/null | grep -F ";$2" |
		awk '{ n = $NF; all += n } /^[^;]*;\[/ { next } { ok += n } END { print ok + 0, all + 0 }' >rooted
	read -r ok all <rooted
	echo "$1: $ok of $all stacks through $2 are whole"
	[ "$all" -gt 0 ] || return 2
	[ $(((ok + 3) * 100)) -ge $((all * 99)) ] || { preport -i "$1" folded 2>/dev/null | head -n 5; fail "$1: broken stacks"; }
}

cat >jit.c <<'END_C'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* sub $24, %rsp; mov %rdi, 8(%rsp); call *%rsi; add $24, %rsp; ret */
static const unsigned char code[] = { 0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x7c, 0x24, 0x08, 0xff, 0xd6, 0x48, 0x83, 0xc4, 0x18, 0xc3 };
/* sub $24, %rsp; mov %rsi, %rax; mov %rdx, %rsi; call *%rax; add $24, %rsp; ret */
static const unsigned char outer[] = { 0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0xf0, 0x48, 0x89, 0xd6, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x18, 0xc3 };
typedef void function(unsigned long, void *);
typedef void outer_function(unsigned long, void *, void *);
static volatile unsigned long sink;
static function *made[3];

__attribute__((noinline)) void burn(unsigned long n, void *unused) { while (n--) sink++; (void)unused; }
__attribute__((noinline)) void twice(unsigned long n, void *unused) { made[1](n, burn); sink++; (void)unused; }

/* Code that nobody names, and that calls such code. */
static int nameless(char *memory)
{
	memcpy(memory, outer, sizeof(outer));
	memcpy(memory + 64, code, sizeof(code));
	for (clock_t end = clock() + CLOCKS_PER_SEC; clock() < end;)
		((outer_function *)memory)(1000000, memory + 64, burn);
	return 0;
}

int main(int argc, char **argv)
{
	char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;

	(void)argv;
	if (argc > 1)
		return nameless(memory);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	for (int i = 0; i < 3; i++) {
		memcpy(memory + 64 * i, code, sizeof(code));
		made[i] = (function *)(memory + 64 * i);
		fprintf(map, "%lx %lx made%d\n", (unsigned long)made[i], sizeof(code), i);
	}
	fclose(map);
	puts(path);
	for (clock_t end = clock() + 2 * CLOCKS_PER_SEC; clock() < end;)
		made[0](1000000, twice);
	return 0;
}
END_C
"$CC" -O2 -fomit-frame-pointer -w -o jit jit.c || fail 'cannot compile'
precord -q -e cpu-clock:u -F 499 -o jit.trace -- ./jit >path || fail 'cannot record'
rm -f "$(cat path)"
preport -i jit.trace folded 2>/dev/null >all.folded
[ -s all.folded ] || skip 'no sample of the program'
whole jit.trace 'made0;twice;made1;burn' || { head -n 5 all.folded; fail 'no stack goes through the code'; }

precord -q -e cpu-clock:u -F 499 -o nameless.trace -- ./jit nameless || fail 'cannot record'
whole nameless.trace burn

cat >work.py <<'END_PY'
import time

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def sorting(n):
    return sorted([i * 7919 % 1000 for i in range(n)], key=lambda x: -x)[0]

end = time.process_time() + 2
while time.process_time() < end:
    fib(15)
    sorting(1000)
END_PY
tried=0
for python in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3 python3; do
	for option in perf perf_jit; do
		command -v "$python" >/dev/null || continue
		# Versions that do not know an option ignore it.
		supports=$("$python" -c 'import sys, sysconfig
print(sys.version_info >= ((3, 12) if sys.argv[1] == "perf" else (3, 13)) and
      bool(sysconfig.get_config_var("PY_HAVE_PERF_TRAMPOLINE")))' $option 2>/dev/null)
		[ "$supports" = True ] || continue
		precord -q -e cpu-clock:u -F 499 -o python.trace -- sh -c "echo \$\$ >pid; exec '$python' -X $option work.py" ||
			fail "cannot record $python"
		rm -f "/tmp/perf-$(cat pid).map" "/tmp/jit-$(cat pid).dump"
		whole python.trace py:: && tried=$((tried + 1))
	done
done
[ $tried -gt 0 ] || skip 'no Python here tells perf of its functions (3.12 -X perf, 3.13 -X perf_jit); the rest passed'
exit 0

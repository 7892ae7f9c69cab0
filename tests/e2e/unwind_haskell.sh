#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Code that has its callers on a stack of its own, as Haskell's does: the C functions that run it are found below StgRun's frame, from the trace alone.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip "StgRun's frame is x86-64's"

cat >heap.c <<'END_C'
#include <stdlib.h>
#include <string.h>

/* run(code, rounds): a frame and a table like StgRun's; what it jumps to has neither, changes rbp, and jumps back behind the jump. */
__asm__(".text\n"
	"run:\n\t.cfi_startproc simple\n\t.cfi_def_cfa %rsp, 8\n\t.cfi_offset %rip, -8\n"
	"\tsub $48, %rsp\n\tmov %rsp, %rax\n\tsub $16384, %rsp\n"
	"\tmov %rbx, (%rax)\n\tmov %rbp, 8(%rax)\n\tmov %r12, 16(%rax)\n\tmov %r13, 24(%rax)\n\tmov %r14, 32(%rax)\n\tmov %r15, 40(%rax)\n"
	"\t.cfi_def_cfa %rsp, 0\n\t.cfi_offset %rip, 16432\n\t.cfi_escape 0x16, 0x07, 0x04, 0x77, 0xb8, 0x80, 0x01\n"
	"\tmov %rsi, %r13\n\tmov %rdi, %rax\n\tjmp *%rax\n"
	"back:\n\tadd $16384, %rsp\n\tmov 8(%rsp), %rbp\n\tmov 24(%rsp), %r13\n\tmov (%rsp), %rbx\n\tadd $48, %rsp\n\tret\n\t.cfi_endproc\n"
	"\t.type run, @function\n\t.size run, .-run\n"
	"\t.type lazy_info, @function\n"
	"lazy_info:\n\tlea heap(%rip), %rbp\n\tmov %r13, %rbx\n"
	"1:\tsub $8, %rsp\n\tcall in_c\n\tadd $8, %rsp\n\tmov $100000, %ecx\n2:\tdec %ecx\n\tjnz 2b\n\tdec %rbx\n\tjnz 1b\n\tjmp back\n"
	"\t.size lazy_info, .-lazy_info\n");

char heap[4096];
static volatile unsigned sink;
void run(void (*code)(void), unsigned long rounds);
void lazy_info(void);

__attribute__((used)) void in_c(void) { for (int i = 0; i < 50000; i++) sink++; }
__attribute__((noinline)) static void schedule(unsigned long rounds) { run(lazy_info, rounds); sink++; }

/* The room for spills is touched, so that the kernel's copy of the stack goes through it. */
__attribute__((noinline)) static void touch(void) { char room[32768]; memset(room, 0, sizeof(room)); __asm__ volatile("" : : "r"(room) : "memory"); }

int main(int argc, char **argv) { touch(); schedule(strtoul(argv[argc - 1], NULL, 10)); return 0; }
END_C
"$CC" -O2 -g -w -o heap heap.c || fail 'the compiler does not work'
precord -q -e cpu-clock:u -F 999 -o heap.trace -- ./heap 1200 || fail "$(tail -n 1 log)"
mv heap elsewhere # the trace is enough

preport -i heap.trace folded --samples 2>/dev/null >folded
awk '/lazy_info/ { all += $NF } /;main;schedule;run;lazy_info(;in_c)? [0-9]+$/ { ok += $NF } /in_c [0-9]+$/ { c += $NF }
	END { print ok + 0, all + 0, c + 0 }' folded >counts
read -r ok all in_c <counts
echo "$ok of $all stacks go on to main, $in_c of them in C"
[ "$all" -ge 20 ] && [ "$in_c" -gt 0 ] && [ $(((ok + 3) * 100)) -ge $((all * 99)) ] || { head -n 5 folded; fail 'stacks end in lazy code'; }
preport -i heap.trace info 2>/dev/null | grep -q "complete but for Haskell's callers" || fail 'info does not say that callers are missing'
preport strip --stacks heap.trace 2>log || fail "$(tail -n 1 log)"
for trace in heap.trace heap.stripped.trace; do
	preport -i $trace info 2>/dev/null | sed -n "s/ *\([0-9]*\) .*complete but for Haskell's callers.*/\1/p" >${trace%.trace}.left
done
[ -s heap.left ] && cmp -s heap.left heap.stripped.left || fail 'after strip it is lost that callers are missing'

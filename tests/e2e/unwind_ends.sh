#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where stacks end, of programs that make it hard to tell: a call of address 0 below a signal handler, a recursion deeper than a chain
# may be, a coroutine, C code that Go calls on another stack. Each goes on to its root, or says that it does not.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording

share() { # share FILE PATTERN: per cent of the weight of FILE's folded lines in lines that match
	pattern="$2" awk '{ all += $NF } $0 ~ ENVIRON["pattern"] { found += $NF } END { print all ? int(100 * found / all) : 0 }' "$1"
}

# sampled TRACE NAME [OPTION...]: its folded lines with function NAME go to NAME.folded; that it was sampled at all is up to the
# machine, that the function is found in the samples is not.
sampled() {
	preport -i "$1" folded "${@:3}" 2>/dev/null >all.folded
	[ -s all.folded ] || skip 'no sample of the program'
	grep ";$2 " all.folded >"$2.folded" || { cut -c 1-300 all.folded; fail "no stack ends in $2"; }
}

cat >null.c <<'END_C'
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
static sigjmp_buf env;
static volatile unsigned long sink;
__attribute__((noinline)) void burn(unsigned long n) { while (n--) sink++; }
static void handler(int s) { burn(3000000); siglongjmp(env, s); }
__attribute__((noinline)) void caller(void (*f)(void)) { f(); sink++; }
__attribute__((noinline)) void outer(void (*f)(void)) { caller(f); sink++; }
int main(void)
{
	signal(SIGSEGV, handler);
	for (volatile int i = 0; i < 60; i++)
		if (!sigsetjmp(env, 1))
			outer((void (*)(void))(uintptr_t)(i & 1 ? 0 : 0x1234));
	return 0;
}
END_C
"$CC" -O2 -w -o null null.c || fail 'cannot compile'
for raw in '' --raw-stacks; do
	precord -q $raw -e cpu-clock:u -F 999 -o null.trace -- ./null || fail 'cannot record'
	sampled null.trace burn
	[ "$(share burn.folded ';main;outer;caller;[^;]*;[^;]*;handler;burn ')" = 100 ] ||
		{ cat burn.folded; fail 'a call of no code below a signal handler is not followed'; }
done

cat >deep.c <<'END_C'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
static volatile unsigned long sink;
static ucontext_t here, other;
__attribute__((noinline)) void burn(unsigned long n) { while (n--) sink++; }
__attribute__((noinline)) void even(int n);
__attribute__((noinline)) void odd(int n) { if (n) even(n - 1); else burn(3000000); sink++; }
__attribute__((noinline)) void even(int n) { if (n) odd(n - 1); else burn(3000000); sink++; }
static void routine(void) { for (;;) { burn(3000000); swapcontext(&other, &here); } }
static void handler(int s) { burn(3000000); sink += s; }
int main(int argc, char **argv)
{
	static char stack[65536];

	getcontext(&other);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = sizeof(stack);
	makecontext(&other, routine, 0);
	signal(SIGUSR1, handler);
	for (int i = 0; i < 60 && argc > 1; i++) {
		if (!strcmp(argv[1], "deep"))
			odd(1501);
		else if (!strcmp(argv[1], "signal"))
			raise(SIGUSR1);
		else
			swapcontext(&here, &other);
	}
	return 0;
}
END_C
"$CC" -O2 -w -fno-optimize-sibling-calls -o deep deep.c || fail 'cannot compile'
precord -q -e cpu-clock:u -F 999 -o deep.trace -- ./deep deep || fail 'cannot record'
sampled deep.trace burn
# Of odd and even, which call each other 1,501 times, one turn and the odd one out are left, and even, which calls something else.
[ "$(share burn.folded ';main;odd;even;odd;even;burn ')" = 100 ] ||
	{ cut -c 1-300 burn.folded; fail 'a deep recursion is not folded up to its root'; }
preport -i deep.trace 2>/dev/null | grep -q 'deeper than 1024 frames: calls that repeat in them are shown once' ||
	fail 'that calls are left out is not said'
# A trampoline and a start routine have names if the file has; those of a shared C library it often has not.
if "$CC" -O2 -w -static -o static deep.c 2>/dev/null && nm static | grep -qw __restore_rt && nm static | grep -qw __start_context; then
	precord -q -e cpu-clock:u -F 999 -o signal.trace -- ./static signal || fail 'cannot record'
	sampled signal.trace burn
	[ "$(share burn.folded ';__restore_rt;handler;burn ')" = 100 ] || { cat burn.folded; fail 'a signal trampoline has no name'; }
	precord -q -e cpu-clock:u -F 999 -o routine.trace -- ./static routine || fail 'cannot record'
	sampled routine.trace burn
	[ "$(share burn.folded ';__start_context;routine;burn ')" = 100 ] || { cat burn.folded; fail 'a start routine has no name'; }
fi

# Neither tables nor frame pointers: the code itself says what it does to the stack, also when the file is gone. musl is built so.
cat >bare.c <<'END_C'
#include <stdlib.h>
static volatile unsigned long sink;
__attribute__((noinline)) void leaf(int n) { for (int i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) int compare(const void *a, const void *b) { leaf(2000); return *(int *)a - *(int *)b; }
__attribute__((noinline)) void sort(int n)
{
	int v[500];
	for (int i = 0; i < 500; i++)
		v[i] = i * n % 499;
	qsort(v, 500, sizeof(int), compare);
	sink += v[7];
}
int main(void) { for (int i = 1; i < 60; i++) sort(i); return 0; }
END_C
mkdir nothing
bare() { # bare NAME COMPILER...
	local name=$1
	shift
	"$@" -O2 -w -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables -o "$name" bare.c || fail 'cannot compile'
	precord -q -e cpu-clock:u -F 999 -o "$name.trace" -- "./$name" || fail 'cannot record'
	for place in / nothing; do
		sampled "$name.trace" leaf --symfs=$place
		[ "$(share leaf.folded ';main;sort;.*qsort_r[^ ]*;compare;leaf ')" = 100 ] ||
			{ cut -c 1-300 leaf.folded; fail "$name: code without tables is not followed, with its file below $place"; }
	done
}
if [ "$(uname -m)" = x86_64 ]; then
	bare bare "$CC"
	! command -v musl-gcc >/dev/null || { bare musl musl-gcc -static && bare shared musl-gcc; }
fi

# Hand-written code without rules, which no symbol knows, in a program that has tables: how it takes down its frame says how large that is.
# One frame is aligned and found by a word in it; callers need the registers that it has saved.
cat >hand.c <<'END_C'
#include <alloca.h>
static volatile unsigned long sink;
__attribute__((noinline)) void burn(void) { for (unsigned long n = 0; n < 3000000; n++) sink++; }
extern void (*const hand[2])(void);
__asm__(".pushsection .text\n"
	".balign 16\n.Lplain: push %rbx; push %r12; push %rbp; sub $48, %rsp; mov $3000000, %ebx\n"
	"1: mov %rbx, 8(%rsp); mov $5, %ebp; dec %rbx; jnz 1b\n"
	"add $48, %rsp; pop %rbp; pop %r12; pop %rbx; ret\n"
	".balign 16\n.Laligned: push %rbp; push %rbx; mov %rsp, %rax; sub $600, %rsp; and $-64, %rsp; mov %rax, 552(%rsp)\n"
	"mov $2, %ebp; mov $1, %ebx\n"
	"2: call burn; dec %rbx; jnz 2b\n"
	"mov 552(%rsp), %rsp; pop %rbx; pop %rbp; ret\n"
	".popsection\n.pushsection .data.rel.ro,\"aw\"\n.globl hand\nhand: .quad .Lplain, .Laligned\n.popsection\n");
__attribute__((noinline)) void outer(int i) { volatile char *p = alloca(i + 40); p[0] = 1; hand[i & 1](); sink += p[0]; }
int main(void) { for (int i = 0; i < 60; i++) outer(i); return 0; }
END_C
if [ "$(uname -m)" = x86_64 ]; then
	"$CC" -O2 -w -o hand hand.c || fail 'cannot compile'
	precord -q -e cpu-clock:u -F 999 -o hand.trace -- ./hand || fail 'cannot record'
	for place in / nothing; do
		sampled hand.trace burn --symfs=$place
		[ "$(share burn.folded ';main;outer;[^;]*;burn ')" = 100 ] || { cat burn.folded; fail "an aligned frame without a rule is not followed, with its file below $place"; }
		preport -i hand.trace folded --symfs=$place 2>/dev/null | grep ';main;outer;[^;]* ' >plain.folded || { cut -c 1-300 all.folded; fail 'code without a rule is not found'; }
		[ "$(share all.folded ';main;outer;[^;]*(;burn)? ')" -ge 98 ] || { cat all.folded; fail "code without a rule is not followed, with its file below $place"; }
	done
fi

# A frame that ends where a register says which a call may change: hand-written code knows what its own function leaves alone (OpenSSL).
cat >kept.c <<'END_C'
volatile unsigned long sink;
void keeps(void), frame(void);
__asm__(".pushsection .text\n.globl keeps\n.type keeps,@function\nkeeps:\n.cfi_startproc\n"
	"mov $3000000, %ecx\n1: dec %ecx\njnz 1b\nret\n.cfi_endproc\n.size keeps, .-keeps\n"
	".globl frame\n.type frame,@function\nframe:\n.cfi_startproc\nmov %rsp, %rax\n.cfi_def_cfa_register rax\n"
	"sub $600, %rsp\nand $-64, %rsp\ncall keeps\nmov %rax, %rsp\n.cfi_def_cfa_register rsp\nret\n.cfi_endproc\n"
	".size frame, .-frame\n.popsection\n");
__attribute__((noinline)) void outer(void) { frame(); sink++; }
int main(void) { for (int i = 0; i < 100; i++) outer(); return 0; }
END_C
if [ "$(uname -m)" = x86_64 ]; then
	"$CC" -O2 -w -o kept kept.c || fail 'cannot compile'
	precord -q -e cpu-clock:u -F 999 -o kept.trace -- ./kept || fail 'cannot record'
	sampled kept.trace keeps
	[ "$(share keeps.folded ';main;outer;frame;keeps ')" = 100 ] || { cat keeps.folded; fail 'a frame whose end is in a register that was left alone is not followed'; }
fi

# Code made at run time of which nobody says anything, with data in the frame pointer. Some is jumped to with a frame that other code has made, and
# jumps back (Guile). Other code runs in the frame of an interpreter, which it makes larger, and pushes a number before it leaves (LuaJIT).
cat >made.c <<'END_C'
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
static volatile unsigned long sink;
unsigned long saved;
void interpreter(void *code);
extern char leave[];
__asm__(".pushsection .text\n.globl interpreter\n.type interpreter,@function\ninterpreter:\n.cfi_startproc\n"
	"push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset rbx, -16\npush %rbp\n.cfi_def_cfa_offset 24\n.cfi_offset rbp, -24\n"
	"sub $56, %rsp\n.cfi_def_cfa_offset 80\nmov %rsp, saved(%rip)\nmov $7, %ebp\njmp *%rdi\n"
	"leave: mov saved(%rip), %rsp\nadd $56, %rsp\n.cfi_def_cfa_offset 24\npop %rbp\n.cfi_def_cfa_offset 16\npop %rbx\n"
	".cfi_def_cfa_offset 8\nret\n.cfi_endproc\n.size interpreter, .-interpreter\n.popsection\n");
static unsigned char *put(unsigned char *at, const char *code, int len) { memcpy(at, code, len); return at + len; }
static unsigned char *jump(unsigned char *at, void *to)
{
	int32_t distance = (int32_t)((char *)to - (char *)at - 5);
	*at = 0xe9;
	memcpy(at + 1, &distance, 4);
	return at + 5;
}
__attribute__((noinline)) void outer(unsigned char *code, int i)
{
	if (i & 1)
		((void (*)(void))code)();
	else
		interpreter(code + 3 * 4096);
	sink++;
}
int main(void)
{
	unsigned char *hint = (unsigned char *)(((uintptr_t)main & ~0xfffUL) - (64UL << 20));
	unsigned char *code = mmap(hint, 16384, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *at;

	if (code == MAP_FAILED || (int32_t)((char *)code - leave) != (char *)code - leave)
		return 77;
	at = put(code, "\x53\x55\x48\x83\xec\x28\xbd\x05\x00\x00\x00", 11); /* push %rbx; push %rbp; sub $40, %rsp; mov $5, %ebp */
	jump(at, code + 8192 + 256);
	put(code + 64, "\x48\x83\xc4\x28\x5d\x5b\xc3", 7); /* add $40, %rsp; pop %rbp; pop %rbx; ret */
	at = put(code + 8192 + 256, "\xbb\xc0\xc6\x2d\x00\xff\xcb\x75\xfc", 9); /* mov $3000000, %ebx; 1: dec %ebx; jnz 1b */
	jump(at, code + 64);
	at = put(code + 3 * 4096, "\x48\x83\xec\x20\xbb\xc0\xc6\x2d\x00\xff\xcb\x75\xfc\x6a\x01", 15); /* sub $32, %rsp; the same; push $1 */
	jump(at, leave);
	for (int i = 0; i < 200; i++)
		outer(code, i);
	return 0;
}
END_C
if [ "$(uname -m)" = x86_64 ]; then
	"$CC" -O2 -w -o made made.c || fail 'cannot compile'
	precord -q -e cpu-clock:u -F 999 -o made.trace -- ./made
	case $? in
	0) sampled made.trace '\[jit [0-9]*\]'
	   [ "$(share all.folded ';main;outer;(interpreter;)?\[jit ')" -ge 95 ] || { cat all.folded; fail 'code made at run time is not followed to where it leaves'; }
	   [ "$(share all.folded ';main;outer;interpreter;\[jit ')" = 0 ] || { cat all.folded; fail 'a frame of an interpreter was made up'; } ;;
	77) ;;
	*) fail 'cannot record' ;;
	esac
fi

# A frame with a page in it that nobody has touched, at which the kernel's copy of the stack ends: the frame pointer leads on, to
# where the kernel's own chain has main. Whole stacks and pruned ones say the same.
cat >gap.c <<'END_C'
#include <stdint.h>
#include <sys/mman.h>
static volatile unsigned long sink;
__attribute__((noinline)) void burn(unsigned long n) { while (n--) sink++; }
__attribute__((noinline)) void gap(unsigned long n)
{
	volatile char frame[n]; /* the frame pointer says where it ends */
	madvise((void *)(((uintptr_t)frame + n / 2) & -4096UL), 4096, MADV_DONTNEED);
	burn(600000000);
	sink += frame[0];
}
int main(void) { gap(40000); sink++; return 0; }
END_C
"$CC" -O2 -w -o gap gap.c || fail 'cannot compile'
precord -q --raw-stacks -e cpu-clock:u -F 999 -o raw.trace -- ./gap || fail 'cannot record'
"$BUILD/tests/tools/prune_trace" raw.trace pruned.trace >log || fail 'cannot prune'
for trace in raw.trace pruned.trace; do
	sampled "$trace" burn
	[ "$(share burn.folded ';(\[snapshot ended\]|__libc_start[^;]*)(;\[libc[^;]*)?;main;gap;burn ')" = 100 ] ||
		{ cat burn.folded; fail "$trace: a page that nobody has touched ends a stack without a word"; }
done
# Once that is seen, what lies behind is read at the moment of the sample, where the kernel tells where the stack ends. How soon is up to the machine.
if [ "$(printf '%s\n' 6.11 "$(uname -r)" | sort -V | head -n 1)" = 6.11 ] && [ "$(id -u)" = 0 ]; then
	for run in 1 2 3 4 5 6 7 8 9 10; do
		precord -q -e cpu-clock:u -F 999 -o gap.trace -- ./gap || fail 'cannot record'
		sampled gap.trace burn
		whole=$(share burn.folded ';__libc_start[^;]*(;\[libc[^;]*)?;main;gap;burn ')
		[ "$whole" -lt 20 ] || break
	done
	[ "$whole" -ge 20 ] || { cat burn.folded; fail 'what lies behind a page that nobody has touched is not read'; }
fi

command -v go >/dev/null || skip 'go is not here; the rest passed'
cat >cgo.go <<'END_GO'
package main

/*
static volatile unsigned long sink;
static __attribute__((noinline)) void burn(unsigned long n) { while (n--) sink++; }
*/
import "C"

var x int

//go:noinline
func inner(n int) { C.burn(C.ulong(n)); x++ }

//go:noinline
func outer(n int) { inner(n); x++ }

func main() {
	done := make(chan int)
	go func() {
		for i := 0; i < 100; i++ {
			outer(3000000)
		}
		done <- 1
	}()
	<-done
}
END_GO
# C code that leaves the frame pointer alone is followed by the kernel, too; with one of its own only by the goroutine's stack, which is
# read as well once it is seen that there is one. How soon the reader comes is up to the machine: of some runs one has such stacks.
for flags in -fomit-frame-pointer -fno-omit-frame-pointer; do
	CGO_CFLAGS="-O2 $flags" CGO_ENABLED=1 GO111MODULE=off GOCACHE=$PWD/cache GOFLAGS= go build -o cgo cgo.go >go.log 2>&1 ||
		skip 'go cannot build a program with C here; the rest passed'
	for run in 1 2 3 4 5 6 7 8 9 10; do
		precord -q -e cpu-clock:u -F 999 -o cgo.trace -- ./cgo || fail 'cannot record'
		sampled cgo.trace burn
		[ "$(share burn.folded '(main.outer;.*main.inner;.*|\[another stack\];)runtime.asmcgocall[^;]*;(_cgo_[^;]*;)?burn ')" -ge 99 ] ||
			{ cat burn.folded; fail 'C code called by Go has other callers'; }
		whole=$(share burn.folded ';runtime.goexit[^;]*;main.main.func1;main.outer;main.inner;.*runtime.cgocall;runtime.asmcgocall[^;]*;(_cgo_[^;]*;)?burn ')
		[ "$whole" -lt 50 ] || break
	done
	[ "$whole" -ge 50 ] || { cat burn.folded; fail "C code called by Go ends at asmcgocall ($flags)"; }
done

# Stripped of symbols and DWARF, Go has its own table, whose rows travel in the trace.
cat >stripped.go <<'END_GO'
package main

var x [64]int

//go:noinline
func leaf(n int) {
	for i := 0; i < n; i++ {
		x[i&63] += i
	}
}

//go:noinline
func inner(n int) { leaf(n); x[0]++ }

//go:noinline
func outer(n int) { inner(n); x[1]++ }

func main() {
	done := make(chan int)
	go func() {
		for i := 0; i < 100; i++ {
			outer(3000000)
		}
		done <- 1
	}()
	<-done
}
END_GO
CGO_ENABLED=0 GO111MODULE=off GOCACHE=$PWD/cache GOFLAGS= go build -ldflags='-s -w' -o stripped stripped.go >go.log 2>&1 ||
	{ cat go.log; fail 'go cannot build a stripped program'; }
precord -q -e cpu-clock:u -F 999 -o stripped.trace -- ./stripped || fail 'cannot record'
for place in here elsewhere; do
	sampled stripped.trace main.leaf
	[ "$(share main.leaf.folded ';runtime.goexit;main.main.func1;main.outer;main.inner;main.leaf ')" = 100 ] ||
		{ cat main.leaf.folded; fail "a stripped Go program is not followed, with its file $place"; }
	rm -f stripped
done

# A goroutine's stack beyond the largest snapshot: the goroutine says where it ends, and how soon the reader comes is up to the machine.
cat >goroutine.go <<'END_GO'
package main

var x [64]int

//go:noinline
func leaf(n int) {
	for i := 0; i < n; i++ {
		x[i&63] += i
	}
}

//go:noinline
func deep(n int, a [40]int) int {
	if n == 0 {
		leaf(1500000000)
		return a[1]
	}
	a[n%40] = n
	return deep(n-1, a) + 1
}

func main() {
	done := make(chan int)
	go func() { done <- deep(500, [40]int{}) }()
	<-done
}
END_GO
CGO_ENABLED=0 GO111MODULE=off GOCACHE=$PWD/cache GOFLAGS= go build -o goroutine goroutine.go >go.log 2>&1 || { cat go.log; fail 'go cannot build a deep program'; }
for run in 1 2 3 4 5 6 7 8 9 10; do
	precord -q -e cpu-clock:u -F 999 -o goroutine.trace -- ./goroutine || fail 'cannot record'
	sampled goroutine.trace main.leaf
	[ "$(share main.leaf.folded ';(runtime.goexit[^;]*;main.main.func1|\[snapshot ended\]);main.deep;.*;main.leaf ')" -ge 99 ] ||
		{ cut -c1-200 main.leaf.folded; fail 'a deep goroutine has other callers'; }
	whole=$(share main.leaf.folded ';runtime.goexit[^;]*;main.main.func1;main.deep;.*;main.leaf ')
	[ "$whole" -lt 50 ] || break
done
[ "$whole" -ge 50 ] || { cut -c1-200 main.leaf.folded; fail "$whole % of a deep goroutine's stacks reach its start"; }
exit 0

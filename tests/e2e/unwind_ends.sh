#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where stacks end, of programs that make it hard to tell: a call of address 0 below a signal handler, C code that Go calls on
# another stack. Each goes on to its root, or says that it does not.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording

share() { # share FILE PATTERN: per cent of the weight of FILE's folded lines in lines that match
	awk -v pattern="$2" '{ all += $NF } $0 ~ pattern { found += $NF } END { print all ? int(100 * found / all) : 0 }' "$1"
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
	preport -i null.trace folded 2>/dev/null | grep ';burn ' >null.folded
	[ -s null.folded ] || skip 'no sample of the program'
	[ "$(share null.folded ';main;outer;caller;[^;]*;[^;]*;handler;burn ')" = 100 ] ||
		{ cat null.folded; fail 'a call of no code below a signal handler is not followed'; }
done

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
CGO_ENABLED=1 GO111MODULE=off GOCACHE=$PWD/cache GOFLAGS= go build -o cgo cgo.go >go.log 2>&1 ||
	skip 'go cannot build a program with C here; the rest passed'
precord -q -e cpu-clock:u -F 999 -o cgo.trace -- ./cgo || fail 'cannot record'
preport -i cgo.trace folded 2>/dev/null | grep ';burn ' >cgo.folded
[ -s cgo.folded ] || skip 'no sample of the C function'
# With a frame pointer of its own in C code, or without the kernel's chain, the goroutine is out of reach: it must say so.
[ "$(share cgo.folded '(main.outer;.*main.inner;.*|\[unreadable memory\];)runtime.asmcgocall[^;]*;burn ')" -ge 99 ] ||
	{ cat cgo.folded; fail 'C code called by Go ends at asmcgocall'; }
exit 0

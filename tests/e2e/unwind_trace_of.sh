#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/tools/trace_of: a core file, and a case of registers, mappings and stack, become traces whose chains are gdb's.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
command -v gdb >/dev/null || skip 'there is no gdb'
[ "$(uname -m)" = x86_64 ] || skip 'the registers of this test are x86-64'"'"'s'
tool=$BUILD/tests/tools/trace_of

cat >subject.c <<'END_C'
#include <alloca.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile int sink;
static void copy_maps(void)
{
	static char bytes[1 << 16];
	int from = open("/proc/self/maps", O_RDONLY), to = open("maps", O_CREAT | O_TRUNC | O_WRONLY, 0600);
	for (ssize_t n; (n = read(from, bytes, sizeof(bytes))) > 0;)
		sink += write(to, bytes, n);
}
__attribute__((noinline)) void stop_here(void) { sink++; }
static int compare(const void *a, const void *b) { if (sink < 1000000) { sink = 1000000; stop_here(); } return *(char *)a - *(char *)b; }
__attribute__((noinline)) void deep(int n)
{
	char *room = alloca(64 + n);
	memset(room, n, 64 + n);
	if (n)
		deep(n - 1);
	else
		qsort(room, 64, 1, compare);
	sink += room[0];
}
int main(void) { copy_maps(); sink = 0; deep(5); return 0; }
END_C
"$CC" -O2 -w -o subject subject.c || fail 'cannot compile'
printf 'set environment PADDING %08000d\n' 0 >commands # some C libraries' qsort has much of the stack, and all that is dumped must be there
cat >>commands <<'END_G'
set confirm off
set backtrace past-main on
break stop_here
run
generate-core-file core.subject
printf "rip %lx\nrsp %lx\nrbp %lx\nrbx %lx\n", $rip, $rsp, $rbp, $rbx
printf "r12 %lx\nr13 %lx\nr14 %lx\nr15 %lx\n", $r12, $r13, $r14, $r15
dump binary memory stack.data $rsp $rsp+8000
frame apply 100 -q printf "pc %016lx\n", (unsigned long)$pc
kill
END_G
gdb -q -nx -iex 'set debug-file-directory /nonexistent' -batch -x commands ./subject >gdb.out 2>gdb.err
[ -s core.subject ] && [ -s stack.data ] || skip "gdb cannot run or write a program here: $(head -n 1 gdb.err)"
sed -n 's/^pc //p' gdb.out >chain
[ "$(wc -l <chain)" -gt 8 ] || { cat gdb.out gdb.err; fail 'gdb has no chain'; }

ours() { # ours TRACE: addresses, leaf first, and the end
	preport -i "$1" script --no-inline --format json 2>/dev/null |
		sed -n 's/{"ip"/\n&/gp' | sed -n -e 's/.*{"ip": "0x\([0-9a-f]*\)".*/\1/p' |
		awk '{ print substr("0000000000000000" $1, length($1) + 1) }'
	preport -i "$1" script --no-inline --format json 2>/dev/null | grep -q '"stop": "complete"' || echo 'not complete'
}

"$tool" core core.subject core.trace || fail 'no trace of a core file'
ours core.trace >core.chain
diff chain core.chain || fail "of a core file: gdb's chain is another"

{
	echo 'arch x86_64'
	sed -n 's/^\(r[a-z0-9]* [0-9a-f]*\)$/reg \1/p' gdb.out
	sed 's/^/map /' maps
	echo "stack $(sed -n 's/^rsp //p' gdb.out) stack.data"
} >subject.case
"$tool" case subject.case case.trace || fail 'no trace of a case'
ours case.trace >case.chain
diff chain case.chain || fail "of a case: gdb's chain is another"

! "$tool" core subject none.trace 2>err || fail 'a program is taken for a core file'
grep -q 'no core file' err || fail "$(cat err)"
! echo 'reg rip 1' | "$tool" case /dev/stdin none.trace 2>err || fail 'a case without arch is taken'
exit 0

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# alone
# A recording that has found its pace allocates nothing for a sample: what it allocates grows with processes and
# code that are new.
# slow: it watches a recorder at work
set -u
. "$TOP/tests/e2e/lib/recording.bash"
[ -z "$SAN" ] || skip "a sanitizer has its own malloc()"
need_recording

# Each call of epoll_wait(), one a pass, writes how often memory was allocated until then.
cat >count.c <<'SRC'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static unsigned long count;
void *malloc(size_t n) { count++; return __libc_malloc(n); }
void *calloc(size_t n, size_t size) { count++; return __libc_calloc(n, size); }
void *realloc(void *old, size_t n) { count++; return __libc_realloc(old, n); }
int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
	static int (*real)(int, struct epoll_event *, int, int);
	static int out = -1;
	char line[32];
	if (!real) {
		real = (int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_NEXT, "epoll_wait");
		out = open("counts", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	}
	if (write(out, line, (size_t)snprintf(line, sizeof(line), "%lu\n", count)) < 0)
		abort();
	return real(fd, events, max, timeout);
}
SRC
$CC -O1 -shared -fPIC -o count.so count.c -ldl 2>err.txt || skip "this C library lets no program count its allocations: $(head -n 1 err.txt)"
cat >deep.c <<'SRC'
#include <string.h>
#include <unistd.h>
static volatile char *deep(int n)
{
	volatile char frame[200];
	memset((char *)frame, n, sizeof(frame));
	if (n)
		return deep(n - 1) + (frame[0] == 0);
	for (;;)
		;
}
int main(void)
{
	alarm(6);
	deep(60);
}
SRC
$CC -O0 -o deep deep.c 2>/dev/null || fail "cannot compile"

# steady_count OPTION...: allocations in the second half of the passes; samples is set
steady_count() {
	./deep & deep=$!
	LD_PRELOAD=$PWD/count.so precord -p $deep -e cpu-clock -F 1999 -m 2M --duration 3 -o steady.trace "$@" 2>err.txt || { cat err.txt; fail "precord: $?"; }
	kill $deep
	wait $deep
	samples=$(sed -n 's/^precord: [0-9.]* s, \([0-9]*\) samples.*/\1/p' err.txt)
	steady=$(awk '{ n[NR] = $1 } END { print NR < 20 ? "few" : n[NR] - n[int(NR / 2)] }' counts)
	[ "$steady" != few ] || skip "hardly a pass: the machine is too busy"
	echo "$*: $samples samples, $steady allocations in the second half of $(wc -l <counts) passes"
	# Half of the samples; other processes that begin meanwhile may cost some.
	[ "$steady" -lt $((samples / 20 + 40)) ] || fail "$steady allocations for half of $samples samples"
}
steady_count -g dwarf
steady_count -g dwarf,8192 --overwrite
steady_count -g fp -m 64K
steady_count -g dwarf,8192 --raw-stacks
exit 0

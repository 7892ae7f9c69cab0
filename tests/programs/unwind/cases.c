/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cases.c - burns CPU time for MS milliseconds in a place that is awkward to unwind.
 *
 *	cases KIND MS [COMMAND…]
 *
 * The callers are main, outer, KIND's function (place_KIND) and then burn and step, in this order, whatever lies between.
 * With STEP in the environment it stops with SIGTRAP in front of that, to be single-stepped.
 * With kind "memfd" the program runs itself as COMMAND out of memory, with "deleted" it removes itself first.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <ucontext.h>
#endif

#ifdef __clang__ /* does not clone, and does not know the word */
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

volatile unsigned sink;
static unsigned long wanted_ms;
static char **rest; /* of the command line */

NOINLINE unsigned step(unsigned x)
{
	for (int i = 0; i < 2000; i++)
		x = x * 1664525 + 1013904223;
	return x;
}

static unsigned long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (unsigned long)t.tv_sec * 1000 + (unsigned long)t.tv_nsec / 1000000;
}

NOINLINE int burn(void)
{
	unsigned long end = cpu_ms() + wanted_ms;

	while (cpu_ms() < end)
		for (int i = 0; i < 50; i++)
			sink = step(sink);
	return 1;
}

NOINLINE int place_plain(int n)
{
	return (n ? place_plain(n - 1) : burn()) + (int)sink;
}

NOINLINE int place_alloca(int n)
{
	volatile char *room = alloca((size_t)n * 24 + 1);

	room[0] = (char)burn();
	return room[0] + (int)sink;
}

NOINLINE int place_vla(int n)
{
	volatile int room[n * 3 + (int)(sink & 1)];

	room[0] = burn();
	return room[0] + (int)sink;
}

/* More than the stack is aligned to: the frame is realigned, and found by another register. */
NOINLINE int place_realigned(int n)
{
	volatile char __attribute__((aligned(64))) block[128];
	volatile char *more = alloca((size_t)n + 16);

	block[n] = (char)burn();
	more[0] = block[n];
	return more[0] + (int)sink;
}

static void place_signal(int signal)
{
	(void)signal;
	burn();
	sink++;
}

NOINLINE int raise_it(int n)
{
	signal(SIGUSR1, place_signal);
	raise(SIGUSR1);
	return n + (int)sink;
}

NOINLINE int raise_on_other_stack(int n)
{
	static char stack[65536];
	struct sigaction action = { .sa_handler = place_signal, .sa_flags = SA_ONSTACK };
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };

	sigaltstack(&other, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	return n + (int)sink;
}

NOINLINE int place_vfork(int n)
{
	pid_t child = vfork();

	if (child == 0) {
		burn();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return n + (int)sink;
}

static void *place_thread(void *data)
{
	burn();
	sink++;
	return data;
}

NOINLINE int run_thread(int n)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, place_thread, NULL) == 0)
		pthread_join(thread, NULL);
	return n + (int)sink;
}

#ifdef __GLIBC__
static ucontext_t caller, callee;

static void place_coroutine(void)
{
	burn();
	sink++;
}

NOINLINE int run_coroutine(int n)
{
	static char stack[65536];

	getcontext(&callee);
	callee.uc_stack.ss_sp = stack;
	callee.uc_stack.ss_size = sizeof(stack);
	callee.uc_link = &caller;
	makecontext(&callee, place_coroutine, 0);
	swapcontext(&caller, &callee);
	return n + (int)sink;
}
#endif

static int compare(const void *a, const void *b)
{
	static int once;

	if (!once++)
		burn();
	return *(const int *)a - *(const int *)b;
}

NOINLINE int place_callback(int n)
{
	int numbers[4] = { 3, 1, 2, n };

	qsort(numbers, 4, sizeof(numbers[0]), compare);
	return numbers[0] + (int)sink;
}

NOINLINE int run_memfd(int n)
{
	char buffer[65536];
	int fd = memfd_create("cases", MFD_CLOEXEC);
	FILE *self = fopen("/proc/self/exe", "r");
	size_t len;

	while ((len = fread(buffer, 1, sizeof(buffer), self)) > 0)
		if (write(fd, buffer, len) != (ssize_t)len)
			return 1;
	fexecve(fd, rest, environ);
	return n;
}

NOINLINE int place_deleted(int n)
{
	char path[4096] = "";

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) > 0)
		unlink(path);
	return burn() + n + (int)sink;
}

static const struct {
	const char *name;
	int (*run)(int n);
} kinds[] = {
	{ "plain", place_plain },	  { "alloca", place_alloca },
	{ "vla", place_vla },		  { "realigned", place_realigned },
	{ "signal", raise_it },		  { "altstack", raise_on_other_stack },
	{ "vfork", place_vfork },	  { "thread", run_thread },
	{ "callback", place_callback },	  { "memfd", run_memfd },
	{ "deleted", place_deleted },
#ifdef __GLIBC__
	{ "coroutine", run_coroutine },
#endif
};

NOINLINE int outer(const char *kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, kind) == 0)
			return kinds[i].run(3) + (int)(sink & 1);
	fprintf(stderr, "cases: no kind '%s'\n", kind);
	exit(2);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	wanted_ms = strtoul(argv[2], NULL, 10);
	rest = argv + 3;
	if (getenv("STEP"))
		raise(SIGTRAP);
	outer(argv[1]);
	return 0;
}

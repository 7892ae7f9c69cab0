/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subject.c - a program whose stacks are awkward to unwind, one way per argument.
 *
 *	subject KIND	call down to a place of that kind and wait there for a debugger;
 *			with CRASH in the environment, die there of SIGSEGV instead
 *	subject step	stop with SIGTRAP, then do a bit of everything, to be single-stepped
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <ucontext.h>
#endif

#define NOINLINE __attribute__((noinline, noclone))

static volatile int sink;
static int ready = -1;

/* Known beforehand: a debugger that steps here is to see no call. */
static int crash;

/* Tell the test that the place is reached, and stay. */
NOINLINE static void wait_here(void)
{
	if (crash)
		*(volatile int *)(uintptr_t)sink = 1;
	if (write(ready, "x", 1) != 1)
		_exit(1);
	for (;;)
		sink++;
}

NOINLINE static int plain(int n)
{
	if (n == 0)
		wait_here();
	return plain(n - 1) + sink;
}

NOINLINE static int with_alloca(int n)
{
	volatile char *room = alloca((size_t)n * 24 + 1);

	room[0] = 1;
	plain(3);
	return room[0] + sink;
}

NOINLINE static int with_vla(int n)
{
	volatile char room[n * 7 + 1];

	room[n] = 2;
	with_alloca(n);
	return room[n] + sink;
}

NOINLINE static int realigned(int n)
{
	_Alignas(64) volatile char room[128];

	room[n] = 3;
	with_vla(n);
	return room[n] + sink;
}

/* Both at once: the frame needs a register of its own for the arguments. */
NOINLINE static int realigned_vla(int n, int a, int b, int c, int d, int e, int f, int g)
{
	_Alignas(64) volatile char room[128];
	volatile char more[n * 5 + 1];

	room[n] = more[n] = (char)(a + b + c + d + e + f + g);
	realigned(n);
	return room[n] + more[n] + sink;
}

static void on_signal(int number)
{
	sink = number;
	plain(2);
}

static void install(int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };

	sigaction(SIGUSR1, &action, NULL);
}

NOINLINE static int in_signal(int n)
{
	install(0);
	raise(SIGUSR1);
	return n + sink;
}

/* An interrupted first instruction: the caller's address less one would be in another function. */
NOINLINE static int in_fault(int n)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGSEGV, &action, NULL);
	*(volatile int *)(uintptr_t)(n - n) = 1;
	return n + sink;
}

NOINLINE static int on_altstack(int n)
{
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };

	sigaltstack(&stack, NULL);
	install(SA_ONSTACK);
	raise(SIGUSR1);
	return n + sink;
}

#ifdef __GLIBC__
static ucontext_t main_context, coroutine;

static void coroutine_main(void)
{
	plain(2);
}

NOINLINE static int in_coroutine(int n)
{
	static char stack[65536];

	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = sizeof(stack);
	coroutine.uc_link = &main_context;
	makecontext(&coroutine, coroutine_main, 0);
	swapcontext(&main_context, &coroutine);
	return n + sink;
}

#else
NOINLINE static int in_coroutine(int n) /* musl has none */
{
	return plain(n);
}
#endif

static int compare(const void *a, const void *b)
{
	plain(1);
	return *(const int *)a - *(const int *)b;
}

/* Through a library and back. */
NOINLINE static int in_callback(int n)
{
	int numbers[] = { 3, 1, 2, n };

	qsort(numbers, 4, sizeof(int), compare);
	return numbers[0] + sink;
}

static void *thread_main(void *argument)
{
	in_callback(*(int *)argument);
	return NULL;
}

NOINLINE static int in_thread(int n)
{
	pthread_t thread;

	pthread_create(&thread, NULL, thread_main, &n);
	pthread_join(thread, NULL);
	return n + sink;
}

NOINLINE static int deep(int n)
{
	return plain(n * 100) + sink;
}

NOINLINE static int all_at_once(int n)
{
	return realigned_vla(n, 1, 2, 3, 4, 5, 6, 7) + sink;
}

static const struct {
	const char *name;
	int (*run)(int n);
} kinds[] = {
	{ "plain", plain },
	{ "alloca", with_alloca },
	{ "vla", with_vla },
	{ "realigned", all_at_once },
	{ "signal", in_signal },
	{ "fault", in_fault },
	{ "altstack", on_altstack },
	{ "coroutine", in_coroutine },
	{ "callback", in_callback },
	{ "thread", in_thread },
	{ "deep", deep },
};

static int compare_quietly(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void on_signal_quietly(int number)
{
	sink += number;
}

NOINLINE static int some_frames(int n)
{
	_Alignas(64) volatile char room[64];
	volatile char *more = alloca((size_t)n * 16 + 1);

	room[0] = more[0] = (char)n;
	return n ? some_frames(n - 1) + room[0] : more[0];
}

static void step_through(void)
{
	struct sigaction action = { .sa_handler = on_signal_quietly };
	int numbers[] = { 5, 2, 9, 1, 7 };
	char text[64];

	sigaction(SIGUSR2, &action, NULL);
	raise(SIGTRAP);
	sink = some_frames(5);
	qsort(numbers, 5, sizeof(int), compare_quietly);
	snprintf(text, sizeof(text), "%d %s %.3f", numbers[0], "text", sink * 0.7);
	sink += (int)strtod(text + 2, NULL) + atoi(text);
	free(realloc(malloc(100), 100000));
	memset(text, numbers[1], sizeof(text));
	sink += (int)strlen(strcpy(text, getenv("PATH") ? "path" : "none"));
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";

	if (strcmp(kind, "step") == 0) {
		step_through();
		return 0;
	}
	ready = STDOUT_FILENO;
	crash = getenv("CRASH") != NULL;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kind, kinds[i].name) == 0)
			return kinds[i].run(6);
	}
	fprintf(stderr, "usage: subject KIND\n");
	return 2;
}

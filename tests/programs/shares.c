/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shares.c - burns CPU time in known shares, by the thread's CPU clock, so that a profile of it can be
 * checked: heavy 30 %, medium 20 %, light 10 %, and 40 % in rest.
 *
 * Usage: shares MODE SECONDS
 *	plain      the four functions in turn, in the main thread
 *	paced      as plain, but after each turn it rests as long: it may go before all others and starves nobody
 *	recursive  heavy is reached through 1 to 20 levels of recursion
 *	inlined    heavy is inlined into its caller
 *	threads    four threads that each do as plain does
 *	fork       four processes that each do as plain does
 *	dlopen     heavy lives in the shared object named by $SHARES_PLUGIN
 *	signal     heavy runs in a signal handler
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * One share unit is this long, and a turn is 10 units. It changes from turn to turn, so that turns do not keep
 * step with the sampling timer.
 */
static __thread unsigned slice_us;

static volatile uint64_t sink;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* When the slice at work ends, in the thread's CPU time: what one overruns, the next has less. */
static __thread uint64_t deadline_ns;

/* Work for @us more of the thread's CPU time; most of that is spent in the caller's own code. */
#define BURN(us)                                                       \
	do {                                                           \
		uint64_t x_ = sink | 1;                                \
		deadline_ns += (uint64_t)(us) * 1000;                  \
		do {                                                   \
			for (int i_ = 0; i_ < 20000; i_++)             \
				x_ = x_ * 6364136223846793005u + 1;    \
			sink = x_;                                     \
		} while (now_ns() < deadline_ns);                      \
	} while (0)

#ifdef __clang__ /* does not clone, and does not know the word */
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

NOINLINE void light(void)
{
	BURN(1 * slice_us);
}

NOINLINE void medium(void)
{
	BURN(2 * slice_us);
}

NOINLINE void heavy(void)
{
	BURN(3 * slice_us);
}

NOINLINE void rest(void)
{
	BURN(4 * slice_us);
}

static inline __attribute__((always_inline)) void heavy_inlined(void)
{
	BURN(3 * slice_us);
}

NOINLINE void heavy_caller(void)
{
	heavy_inlined();
	sink++;
}

NOINLINE void recurse(int depth)
{
	if (depth > 0)
		recurse(depth - 1);
	else
		heavy();
	sink++;
}

static void on_signal(int number)
{
	(void)number;
	heavy();
}

static void (*first)(void) = heavy;
static bool paced;
static void (*plugin)(uint64_t until_ns);

static void plugged(void)
{
	deadline_ns += 3 * slice_us * 1000;
	plugin(deadline_ns);
	sink++;
}

/* 200 to 799 microseconds, by a linear congruence. */
static void next_slice(void)
{
	static __thread uint32_t state = 12345;

	state = state * 1664525 + 1013904223;
	slice_us = 200 + (state >> 8) % 600;
}

static void recursive(void)
{
	static int turn;

	recurse(1 + turn++ % 20);
}

static void raised(void)
{
	raise(SIGUSR1);
}

static void *work(void *seconds)
{
	uint64_t end = now_ns() + *(uint64_t *)seconds * 1000000000;

	deadline_ns = now_ns();
	while (now_ns() < end) {
		next_slice();
		first();
		medium();
		light();
		rest();
		if (paced)
			usleep(10 * slice_us);
	}
	return NULL;
}

static void run_threads(uint64_t seconds)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, work, &seconds))
			abort();
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static void run_children(uint64_t seconds)
{
	for (int i = 0; i < 4; i++) {
		if (fork() == 0) {
			work(&seconds);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

static void load_plugin(void)
{
	void *library = dlopen(getenv("SHARES_PLUGIN"), RTLD_NOW);

	plugin = library ? (void (*)(uint64_t))dlsym(library, "heavy_plugin") : NULL;
	first = plugged;
	if (!plugin) {
		fprintf(stderr, "shares: %s\n", dlerror());
		exit(1);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc == 3 ? argv[1] : "";
	uint64_t seconds = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;

	if (strcmp(mode, "recursive") == 0)
		first = recursive;
	else if (strcmp(mode, "inlined") == 0)
		first = heavy_caller;
	else if (strcmp(mode, "paced") == 0)
		paced = true;
	else if (strcmp(mode, "dlopen") == 0)
		load_plugin();
	else if (strcmp(mode, "signal") == 0) {
		signal(SIGUSR1, on_signal);
		first = raised;
	}

	if (strcmp(mode, "threads") == 0)
		run_threads(seconds);
	else if (strcmp(mode, "fork") == 0)
		run_children(seconds);
	else if (*mode)
		work(&seconds);
	else
		return fprintf(stderr, "usage: shares MODE SECONDS\n"), 2;
	return 0;
}

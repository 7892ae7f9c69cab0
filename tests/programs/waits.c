/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.c - programs whose waits are known: each waits in one function, times that with its own clocks, of which the thread's
 * CPU time is taken off, and prints the function and the nanoseconds.
 *
 * Usage: waits mutex|pipe|condition|sleep|fsync|faults|chain|queue|pingpong|handoff|crowd [ROUNDS]
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 8
#define NOINLINE __attribute__((noinline))
#define KEEP_FRAME __asm__ volatile("" ::: "memory") /* or else the call before it would be a jump */

static int rounds = 50;
static _Atomic uint64_t waited_ns;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t ran_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Differences are what a thread has waited. */
static uint64_t off_ns(void)
{
	return now_ns() - ran_ns();
}

static NOINLINE void pause_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
	KEEP_FRAME;
}

/* Of CPU time, so that who waits for this waits longer than it does itself, on a loaded machine, too. */
static NOINLINE void work_ms(long ms)
{
	struct timespec now, begun;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - begun.tv_sec) * 1000000000 + now.tv_nsec - begun.tv_nsec < ms * 1000000);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE void wait_for_lock(void)
{
	uint64_t begun = off_ns();

	pthread_mutex_lock(&lock);
	waited_ns += off_ns() - begun;
}

static void *fight(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		wait_for_lock();
		pause_ms(2);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

static void run_threads(void *(*run)(void *), int count)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static int ends[2];

static NOINLINE ssize_t wait_for_data(void)
{
	uint64_t begun = off_ns();
	char byte;
	ssize_t got = read(ends[0], &byte, 1);

	waited_ns += off_ns() - begun;
	return got;
}

static void *produce(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		work_ms(4);
		if (write(ends[1], "x", 1) != 1)
			abort();
	}
	close(ends[1]);
	return arg;
}

static void run_pipe(void)
{
	pthread_t producer;

	if (pipe(ends))
		abort();
	pthread_create(&producer, NULL, produce, NULL);
	while (wait_for_data() == 1)
		;
	pthread_join(producer, NULL);
}

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static NOINLINE void wait_for_turn(int mine)
{
	uint64_t begun = off_ns();

	pthread_mutex_lock(&lock);
	while (turn < mine)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	waited_ns += off_ns() - begun;
}

static void *wait_turns(void *arg)
{
	for (int i = 1; i <= rounds; i++)
		wait_for_turn(i);
	return arg;
}

static void run_condition(void)
{
	pthread_t waiter;

	pthread_create(&waiter, NULL, wait_turns, NULL);
	for (int i = 0; i < rounds; i++) {
		work_ms(4);
		pthread_mutex_lock(&lock);
		turn++;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
	}
	pthread_join(waiter, NULL);
}

static NOINLINE void rest(void)
{
	uint64_t begun = off_ns();
	struct timespec ts = { 0, 5000000 };

	nanosleep(&ts, NULL);
	waited_ns += off_ns() - begun;
}

static NOINLINE void flush_file(int fd)
{
	uint64_t begun = off_ns();

	if (pwrite(fd, "data", 4, 0) != 4 || fsync(fd))
		abort();
	waited_ns += off_ns() - begun;
}

static void run_fsync(void)
{
	int fd = open("flushed", O_RDWR | O_CREAT | O_TRUNC, 0600);

	for (int i = 0; i < rounds; i++)
		flush_file(fd);
	close(fd);
	unlink("flushed");
}

#define FILE_PAGES 256

/* A page of a file that is not in memory. */
static NOINLINE __attribute__((used)) int touch_page(const volatile char *page)
{
	uint64_t begun = off_ns();
	int value = *page;

	waited_ns += off_ns() - begun;
	return value;
}

static void run_faults(void)
{
	static char page[4096] = { 1 };
	int fd = open("faulted", O_RDWR | O_CREAT | O_TRUNC, 0600);
	const char *map;

	for (int i = 0; i < FILE_PAGES; i++)
		if (write(fd, page, sizeof(page)) != sizeof(page))
			abort();
	map = mmap(NULL, FILE_PAGES * sizeof(page), PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED || fsync(fd))
		abort();
	madvise((void *)map, FILE_PAGES * sizeof(page), MADV_RANDOM);
	for (int round = 0; round < rounds; round++) {
		madvise((void *)map, FILE_PAGES * sizeof(page), MADV_DONTNEED);
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		for (int i = 0; i < FILE_PAGES; i += 16)
			touch_page(map + i * sizeof(page));
	}
	close(fd);
	unlink("faulted");
}

/* Two that hand a byte to and fro, so often that stacks are thinned. */
static void play(int in, int out, long count)
{
	char byte = 0;

	while (count-- && write(out, &byte, 1) == 1 && read(in, &byte, 1) == 1)
		;
}

static void run_pingpong(void)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		abort();
	if (fork() == 0) {
		close(there[1]);
		close(back[0]);
		play(there[0], back[1], LONG_MAX);
		_exit(0);
	}
	close(there[0]);
	close(back[1]);
	play(back[0], there[1], rounds * 1000L);
	close(there[1]);
	while (wait(NULL) > 0)
		;
}

/* The same by two threads, for a time. */
static int there[2], back[2];

static void *answer(void *arg)
{
	uint64_t begun = off_ns();

	pthread_setname_np(pthread_self(), "pong");
	play(there[0], back[1], LONG_MAX);
	close(back[1]);
	waited_ns += off_ns() - begun;
	return arg;
}

static void *ask(void *arg)
{
	uint64_t begun = off_ns(), end = now_ns() + (uint64_t)rounds * 20000000;

	pthread_setname_np(pthread_self(), "ping");
	while (now_ns() < end)
		play(back[0], there[1], 10);
	close(there[1]);
	waited_ns += off_ns() - begun;
	return arg;
}

static void run_handoff(void)
{
	pthread_t threads[2];

	if (pipe(there) || pipe(back))
		abort();
	pthread_create(&threads[0], NULL, ask, NULL);
	pthread_create(&threads[1], NULL, answer, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* A waits for B, who waits for C, who sleeps. */
static void *hold_inner(void *arg)
{
	pthread_setname_np(pthread_self(), "C");
	pthread_mutex_lock(&inner);
	turn = 1;
	pause_ms(rounds * 4);
	pthread_mutex_unlock(&inner);
	return arg;
}

static void *hold_outer(void *arg)
{
	pthread_setname_np(pthread_self(), "B");
	pthread_mutex_lock(&lock);
	turn = 2;
	pthread_mutex_lock(&inner);
	pthread_mutex_unlock(&inner);
	pthread_mutex_unlock(&lock);
	return arg;
}

static void wait_until(int value)
{
	while (*(volatile int *)&turn < value)
		sched_yield();
}

static void *want_outer(void *arg)
{
	pthread_setname_np(pthread_self(), "A");
	wait_for_lock();
	pthread_mutex_unlock(&lock);
	return arg;
}

static void run_chain(void)
{
	void *(*const runs[])(void *) = { hold_inner, hold_outer, want_outer };
	pthread_t threads[3];

	for (int i = 0; i < 3; i++) {
		pthread_create(&threads[i], NULL, runs[i], NULL);
		wait_until(i < 2 ? i + 1 : 0);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

/* How long this thread was ready to run, by the scheduler's own account; 0 if there is none. */
static NOINLINE uint64_t ready_ns(void)
{
	uint64_t ran = 0, ready = 0;
	char text[128] = "";
	int fd = open("/proc/thread-self/schedstat", O_RDONLY);

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0)
		sscanf(text, "%lu %lu", (unsigned long *)&ran, (unsigned long *)&ready);
	close(fd);
	return ready;
}

/* Two that never rest on one CPU: each is ready to run while the other does. How long a thread takes to begin is not this function's. */
static NOINLINE void *burn(void *arg)
{
	uint64_t begun = ready_ns(), end = now_ns() + (uint64_t)rounds * 20000000;

	while (now_ns() < end)
		for (volatile int i = 0; i < 100000; i++) /* so that it is here nearly always, not at the clock */
			;
	waited_ns += ready_ns() - begun;
	return arg;
}

static void run_queue(void)
{
	cpu_set_t one;
	int cpu = sched_getcpu();

	CPU_ZERO(&one);
	CPU_SET(cpu < 0 ? 0 : cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	run_threads(burn, 2);
}

/* Many threads at once, each of which sleeps as often; time is what it takes to switch between them. */
#define CROWD 10000

static void *rest_often(void *arg)
{
	uint64_t begun = off_ns();

	for (int i = 0; i < rounds; i++)
		pause_ms(1);
	waited_ns += off_ns() - begun;
	return arg;
}

static void run_crowd(void)
{
	static pthread_t threads[CROWD];
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < CROWD; i++)
		if (pthread_create(&threads[i], &small, rest_often, NULL))
			abort();
	for (int i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "", *function = "wait_for_lock";

	if (argc > 2)
		rounds = atoi(argv[2]);
	if (!strcmp(mode, "mutex")) {
		run_threads(fight, THREADS);
	} else if (!strcmp(mode, "pipe")) {
		function = "wait_for_data";
		run_pipe();
	} else if (!strcmp(mode, "condition")) {
		function = "wait_for_turn";
		run_condition();
	} else if (!strcmp(mode, "sleep")) {
		function = "rest";
		for (int i = 0; i < rounds; i++)
			rest();
	} else if (!strcmp(mode, "fsync")) {
		function = "flush_file";
		run_fsync();
	} else if (!strcmp(mode, "faults")) {
		function = "touch_page";
		run_faults();
	} else if (!strcmp(mode, "pingpong")) {
		function = "play";
		run_pingpong();
	} else if (!strcmp(mode, "handoff")) {
		function = "play";
		run_handoff();
	} else if (!strcmp(mode, "chain")) {
		run_chain();
	} else if (!strcmp(mode, "crowd")) {
		function = "rest_often";
		run_crowd();
	} else if (!strcmp(mode, "queue")) {
		function = "burn";
		run_queue();
	} else {
		return 2;
	}
	printf("%s %llu\n", function, (unsigned long long)waited_ns);
	return 0;
}

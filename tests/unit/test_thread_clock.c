/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_thread_clock.c - of many threads that wait in a process that runs, each has a clock that stands.
 */
#include "record/sample/thread_clock.h"

#include "formats/base/clock.h"
#include "tests/unit/test.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 200
#define RUN_NS	1000000
#define ROUNDS	50
#define MISSED_NS 500000000 /* of a thread that is not once seen while it runs */

struct waiters {
	pthread_mutex_t lock;
	pthread_cond_t more, end;
	size_t count;
	bool over;
	uint32_t tids[THREADS];
};

static void *wait_for_end(void *context)
{
	struct waiters *w = context;

	pthread_mutex_lock(&w->lock);
	w->tids[w->count++] = (uint32_t)syscall(SYS_gettid);
	pthread_cond_signal(&w->more);
	while (!w->over)
		pthread_cond_wait(&w->end, &w->lock);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static size_t start(struct waiters *w, pthread_t threads[THREADS])
{
	size_t n = 0;

	while (n < THREADS && pthread_create(&threads[n], NULL, wait_for_end, w) == 0)
		n++;
	pthread_mutex_lock(&w->lock);
	while (w->count < n)
		pthread_cond_wait(&w->more, &w->lock);
	pthread_mutex_unlock(&w->lock);
	return n;
}

static void end(struct waiters *w, pthread_t threads[THREADS], size_t n)
{
	pthread_mutex_lock(&w->lock);
	w->over = true;
	pthread_cond_broadcast(&w->end);
	pthread_mutex_unlock(&w->lock);
	for (size_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void run_for(uint64_t ns)
{
	uint64_t until = clock_now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_now_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

/* Of how many the clock moves while only this thread runs. */
static size_t count_moved(struct thread_clocks *clocks, const struct waiters *w, size_t n)
{
	uint32_t pid = (uint32_t)getpid();
	uint64_t before[THREADS];
	size_t moved = 0;

	for (size_t i = 0; i < n; i++)
		before[i] = thread_clocks_read(clocks, pid, w->tids[i]);
	run_for(RUN_NS);
	for (size_t i = 0; i < n; i++)
		moved += thread_clocks_read(clocks, pid, w->tids[i]) != before[i];
	return moved;
}

TEST(each_of_many_threads_has_a_clock_of_its_own)
{
	struct waiters w = { .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER, .end = PTHREAD_COND_INITIALIZER };
	pthread_t threads[THREADS];
	struct thread_clocks clocks;
	size_t n = start(&w, threads), moved = 0;

	thread_clocks_init(&clocks);
	for (size_t i = 0; i < n; i++)
		thread_clocks_refine(&clocks, (uint32_t)getpid(), w.tids[i]);
	/* Where the kernel gives none, or too few descriptors, there is nothing to see. */
	bool may = clocks.by_tid.len && clocks.max >= n;

	/* Some may still be on their way to sleep. */
	for (unsigned i = 0; i < ROUNDS && (i == 0 || moved); i++)
		moved = count_moved(&clocks, &w, n);
	if (may)
		CHECK_UINT(moved, 0);
	end(&w, threads, n);
	thread_clocks_deinit(&clocks);
}

TEST(thread_clock_of_a_thread_that_ended_is_not_that_of_its_number)
{
	struct waiters w = { .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER, .end = PTHREAD_COND_INITIALIZER };
	struct thread_clocks clocks;
	pthread_t threads[THREADS];

	thread_clocks_init(&clocks);
	CHECK(pthread_create(&threads[0], NULL, wait_for_end, &w) == 0);
	pthread_mutex_lock(&w.lock);
	while (!w.count)
		pthread_cond_wait(&w.more, &w.lock);
	pthread_mutex_unlock(&w.lock);
	bool refined = thread_clocks_refine(&clocks, (uint32_t)getpid(), w.tids[0]);

	end(&w, threads, 1);
	/* The kernel may still be about it when its process has joined it. */
	while (syscall(SYS_tgkill, getpid(), w.tids[0], 0) == 0)
		sched_yield();
	uint64_t before = thread_clocks_begin(&clocks, (uint32_t)getpid(), w.tids[0]);

	run_for(RUN_NS);
	bool moved = thread_clocks_read(&clocks, (uint32_t)getpid(), w.tids[0]) != before;

	thread_clocks_deinit(&clocks);
	if (!refined)
		SKIP("this kernel keeps no account of threads");
	CHECK(moved);
}

struct spinner {
	_Atomic bool over;
	_Atomic uint32_t tid;
};

static void *spin(void *context)
{
	struct spinner *s = context;

	s->tid = (uint32_t)syscall(SYS_gettid);
	while (!s->over)
		;
	return NULL;
}

static uint64_t has_run_ns(pthread_t thread)
{
	struct timespec ran = { 0 };
	clockid_t clock;

	return pthread_getcpuclockid(thread, &clock) == 0 && clock_gettime(clock, &ran) == 0 ? (uint64_t)ran.tv_sec * 1000000000 + (uint64_t)ran.tv_nsec : UINT64_MAX;
}

/* Is the account of a thread that runs elsewhere taken for that of one that waits? On a busy machine it may be a while before both run at once. */
static bool is_missed(struct thread_clocks *clocks, const struct spinner *s, pthread_t thread)
{
	while (has_run_ns(thread) < MISSED_NS) {
		uint64_t before = thread_clocks_begin(clocks, (uint32_t)getpid(), s->tid);

		if (before == UINT64_MAX)
			return thread_clocks_read(clocks, (uint32_t)getpid(), s->tid) == before;
	}
	return true;
}

/* The thread may have CPU @number of @cpus only. */
static bool pin(pthread_t thread, const cpu_set_t *cpus, int number)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, cpus) && number-- == 0)
			CPU_SET(cpu, &one);
	return pthread_setaffinity_np(thread, sizeof(one), &one) == 0;
}

TEST(a_thread_that_runs_on_another_cpu_has_no_clock_that_stands)
{
	struct spinner spinner = { .over = false };
	struct thread_clocks clocks;
	pthread_t thread;
	cpu_set_t cpus;

	if (getenv("EMULATOR") || sched_getaffinity(0, sizeof(cpus), &cpus) != 0 || CPU_COUNT(&cpus) < 2)
		SKIP("there is one CPU");
	CHECK(pthread_create(&thread, NULL, spin, &spinner) == 0);
	CHECK(pin(thread, &cpus, 0) && pin(pthread_self(), &cpus, 1));
	while (!spinner.tid)
		sched_yield();
	thread_clocks_init(&clocks);
	bool refined = thread_clocks_refine(&clocks, (uint32_t)getpid(), spinner.tid);
	bool missed = refined && is_missed(&clocks, &spinner, thread);

	spinner.over = true;
	pthread_join(thread, NULL);
	thread_clocks_deinit(&clocks);
	pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	CHECK(!missed);
}

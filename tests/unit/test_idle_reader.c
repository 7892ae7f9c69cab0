/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_idle_reader.c - a thread that waits is handed out with the time that it waited, and how.
 */
#include "record/sample/idle_reader.h"

#include "tests/unit/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct sleeper {
	int ends[2];
	_Atomic uint32_t tid;
};

static void *sleep_long(void *arg)
{
	struct sleeper *s = arg;
	char byte;

	s->tid = (uint32_t)syscall(SYS_gettid);
	return read(s->ends[0], &byte, 1) == 1 ? arg : NULL;
}

/* What was handed out of one thread. */
struct seen {
	uint32_t tid;
	uint64_t count, period_ns, longest_ns;
	bool has_stack;
};

static struct err *add(void *context, const struct thread_sight *sight, uint64_t period_ns)
{
	struct seen *seen = context;

	if (sight->tid != seen->tid)
		return NULL;
	seen->count++;
	seen->period_ns += period_ns;
	seen->longest_ns = period_ns > seen->longest_ns ? period_ns : seen->longest_ns;
	seen->has_stack = sight->sp && sight->ip && sight->stack_len;
	return NULL;
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

TEST(idle_reader_hands_out_a_wait_with_the_time_that_it_took)
{
	struct target target = { .system_wide = true, .cgroup_fd = -1 };
	struct task_filter tasks;
	struct idle_reader *r = idle_reader_new(NULL, 100, IDLE_SCOPE_ALL, NULL);
	struct sleeper sleeper = { 0 };
	struct seen seen = { 0 };
	pthread_t thread;

	if (getenv("EMULATOR") || access("/proc/self/syscall", R_OK) || access("/proc/self/schedstat", R_OK))
		SKIP("this kernel does not tell what threads wait for");
	task_filter_init(&tasks, &target);
	CHECK(pipe(sleeper.ends) == 0 && pthread_create(&thread, NULL, sleep_long, &sleeper) == 0);
	while (!sleeper.tid)
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	seen.tid = sleeper.tid;

	struct event fork = { .kind = EVENT_FORK, .pid = (uint32_t)getpid(), .tid = (uint32_t)getpid() };
	uint64_t begin = now();

	idle_reader_event(r, &fork);
	idle_reader_follow(r, &tasks);
	/* Twice a second, though it does not run. */
	for (int i = 0; i < 6000 && seen.count < 2; i++) {
		nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
		CHECK_OK(idle_reader_take(r, add, &seen));
	}
	CHECK(seen.count >= 2 && seen.has_stack);
	idle_reader_end(r);
	CHECK_OK(idle_reader_take(r, add, &seen));
	/* Never more than there was; the first look stands for an interval before it. */
	CHECK(seen.period_ns <= now() - begin + 10000000);
	CHECK(seen.longest_ns >= 500000000);

	struct idle_totals totals = idle_reader_totals(r);

	CHECK(totals.threads >= 2 && totals.rounds >= 2 && totals.looks < totals.rounds * totals.threads);
	CHECK(write(sleeper.ends[1], "x", 1) == 1);
	pthread_join(thread, NULL);
	idle_reader_free(r);
	task_filter_deinit(&tasks);
}

TEST(idle_reader_of_interpreters_leaves_other_programs_alone)
{
	struct target target = { .system_wide = true, .cgroup_fd = -1 };
	struct task_filter tasks;
	struct idle_reader *r = idle_reader_new(NULL, 100, IDLE_SCOPE_INTERPRETERS, NULL);
	struct event fork = { .kind = EVENT_FORK, .pid = (uint32_t)getpid(), .tid = (uint32_t)getpid() };

	task_filter_init(&tasks, &target);
	idle_reader_event(r, &fork);
	idle_reader_follow(r, &tasks);
	while (idle_reader_totals(r).rounds < 3)
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	CHECK_UINT(idle_reader_totals(r).threads, 0);
	idle_reader_free(r);
	task_filter_deinit(&tasks);
}

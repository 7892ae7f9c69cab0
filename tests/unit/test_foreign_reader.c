/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_foreign_reader.c - requests that are not answered.
 */
#include "record/task/foreign_reader.h"

#include "formats/base/clock.h"
#include "tests/unit/test.h"

#include <sched.h>
#include <unistd.h>

static void never(const void *request, void *answer, int *ret_fd)
{
	(void)request;
	(void)answer;
	(void)ret_fd;
	for (;;)
		pause();
}

static void soon(const void *request, void *answer, int *ret_fd)
{
	(void)ret_fd;
	*(uint32_t *)answer = *(const uint32_t *)request + 1;
}

TEST(foreign_reader_does_not_count_what_is_asked_once_more)
{
	struct foreign_reader *f = foreign_reader_new(FOREIGN_DRAIN);
	CLEANUP(diag_deinit) struct diag notes = { 0 };
	uint32_t number = 41, answer = 0;
	struct foreign_job job = { .run = never, .name = "all", .request = &number, .request_len = sizeof(number),
				   .answer_len = sizeof(answer), .can_ask_again = true };
	int fd;

	CHECK_INT(foreign_reader_ask(f, &job, &answer, &fd), FOREIGN_LATE);
	foreign_reader_note(f, &notes);
	CHECK(!notes.entries);
	job.run = soon;
	job.can_ask_again = false;
	CHECK_INT(foreign_reader_ask(f, &job, &answer, &fd), FOREIGN_DONE);
	CHECK_UINT(answer, 42);
	foreign_reader_free(f);
}

/* The CPUs where the reader may run, as a mask. */
static void where(const void *request, void *answer, int *ret_fd)
{
	cpu_set_t set;
	uint64_t cpus = 0;

	(void)request;
	(void)ret_fd;
	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	for (size_t i = 0; i < 64; i++)
		cpus |= (uint64_t)!!CPU_ISSET(i, &set) << i;
	*(uint64_t *)answer = cpus;
}

static uint64_t cpus_of_reader(void)
{
	struct foreign_reader *f = foreign_reader_new(FOREIGN_DRAIN);
	uint64_t cpus = 0;
	const struct foreign_job job = { .run = where, .name = "where", .request = &cpus, .request_len = sizeof(cpus),
					 .answer_len = sizeof(cpus) };
	int fd;

	/* The kernel may hold back real-time processes for longer than it has time. */
	for (int i = 0; i < 20 && foreign_reader_ask(f, &job, &cpus, &fd) != FOREIGN_DONE; i++)
		usleep(20000);
	foreign_reader_free(f);
	return cpus;
}

TEST(foreign_reader_of_a_real_time_recorder_runs_on_its_cpu)
{
	struct sched_param first = { .sched_priority = 1 }, ordinary = { 0 };
	cpu_set_t before, one;
	uint64_t cpus;

	CHECK_INT(sched_getaffinity(0, sizeof(before), &before), 0);
	int cpu = sched_getcpu();

	if (cpu < 0 || cpu >= 64 || sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) != 0)
		SKIP("this user may not raise its priority");
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	cpus = cpus_of_reader();
	sched_setscheduler(0, SCHED_OTHER, &ordinary);
	sched_setaffinity(0, sizeof(before), &before);
	CHECK_UINT(cpus, (uint64_t)1 << cpu);
}

/* Longer than the drain waits for a file that blocks. */
static void busily(const void *request, void *answer, int *ret_fd)
{
	uint64_t until = clock_now_ns(CLOCK_MONOTONIC) + 150000000;

	while (clock_now_ns(CLOCK_MONOTONIC) < until)
		;
	soon(request, answer, ret_fd);
}

TEST(foreign_reader_waits_for_a_reader_that_works)
{
	struct foreign_reader *f = foreign_reader_new(FOREIGN_DRAIN);
	uint32_t number = 1, answer = 0;
	struct foreign_job job = { .run = busily, .name = "much", .request = &number, .request_len = sizeof(number),
				   .answer_len = sizeof(answer) };
	int fd;

	CHECK_INT(foreign_reader_ask(f, &job, &answer, &fd), FOREIGN_DONE);
	CHECK_UINT(answer, 2);
	job.run = never;
	CHECK_INT(foreign_reader_ask(f, &job, &answer, &fd), FOREIGN_LATE);
	foreign_reader_free(f);
}

/* The first user's files hang: they are not asked for again soon, those of another are, and neither of them uses up everything. */
TEST(foreign_reader_keeps_a_share_for_every_user)
{
	struct foreign_reader *f = foreign_reader_new(FOREIGN_DRAIN);
	uint32_t number = 1, answer = 0;
	struct foreign_job job = { .run = never, .name = "hangs", .request = &number, .request_len = sizeof(number),
				   .answer_len = sizeof(answer), .pid = UINT32_MAX }; /* who is gone is a user of its own */
	unsigned asked = 0;
	int fd;

	while (foreign_reader_ask(f, &job, &answer, &fd) == FOREIGN_LATE)
		asked++;
	CHECK(asked >= 2 && asked <= 9); /* a quarter of a second */
	CHECK(foreign_reader_waited_ns(f) >= 150000000);
	job.pid = (uint32_t)getpid();
	job.run = soon;
	CHECK_INT(foreign_reader_ask(f, &job, &answer, &fd), FOREIGN_DONE);
	job.run = never;
	for (asked = 0; asked < 100 && foreign_reader_ask(f, &job, &answer, &fd) == FOREIGN_LATE;)
		asked++;
	CHECK(asked && asked < 100);
	foreign_reader_free(f);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "record/task/stuck_guard.h"

#include "tests/unit/test.h"

#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

/* Items that are listed read from a pipe that says nothing. */
struct job {
	int fds[2];
	size_t nstuck; /* from the second on */
	size_t last;
	atomic_size_t begun, done, nthreads;
};

static bool do_item(void *context, size_t index, struct stuck_guard *guard)
{
	struct job *job = context;
	char byte = 0;

	job->begun++;
	/* Others do not go in, or a machine that stands still would make them stuck. */
	if (index >= 1 && index <= job->nstuck) {
		stuck_guard_enter(guard);
		if (read(job->fds[0], &byte, 1) != 1)
			return false;
		stuck_guard_leave(guard);
	}
	job->done++;
	return index != job->last;
}

static void begin_thread(void *context)
{
	struct job *job = context;

	job->nthreads++;
}

static size_t run_job(struct job *job, size_t count, uint64_t patience_ns)
{
	const struct stuck_work work = { do_item, begin_thread, job, count, patience_ns };

	CHECK_INT(pipe(job->fds), 0);
	return stuck_guard_run(&work);
}

TEST(stuck_guard_does_all_items_in_order_and_ends_where_it_is_told)
{
	struct job job = { .last = 100 };

	CHECK_UINT(run_job(&job, 50, UINT64_MAX), 0);
	CHECK_UINT(job.done, 50);
	job.last = 7;
	job.done = 0;
	CHECK_UINT(run_job(&job, 50, UINT64_MAX), 0);
	CHECK_UINT(job.done, 8);
}

/* A call that comes back later than its patience finds that its item was given up, and touches nothing. */
TEST(stuck_guard_leaves_behind_what_is_stuck)
{
	static struct job job = { .nstuck = 2, .last = 100 };

	CHECK_UINT(run_job(&job, 5, 20000000), 2);
	CHECK_UINT(job.nthreads, 3);
	CHECK_UINT(job.done, 3);
	CHECK_INT(write(job.fds[1], "ab", 2), 2);
	usleep(20000);
	CHECK_UINT(job.done, 3);
}

TEST(stuck_guard_leaves_the_rest_out_when_too_many_are_stuck)
{
	static struct job job = { .nstuck = 1000, .last = 1000 };

	CHECK_UINT(run_job(&job, 500, 20000000), 499);
	CHECK_UINT(job.done, 1);
	CHECK_UINT(job.begun, 1 + STUCK_ITEMS_MAX);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/pool.h"

#define TASKS 1000

struct job {
	struct pool_task task; /* must be first */
	unsigned input, output;
	unsigned *busy; /* by worker */
};

static void square(struct pool_task *task, unsigned worker)
{
	struct job *job = (struct job *)(void *)task;

	job->busy[worker]++; /* nobody else is this worker: TSan would tell */
	job->output = job->input * job->input;
}

static void run_all(unsigned nthreads)
{
	static struct job jobs[TASKS];
	unsigned busy[POOL_THREADS_MAX] = { 0 }, sum = 0;
	struct pool *pool = pool_new(nthreads, NULL);

	CHECK(pool_threads(pool) >= 1 && pool_threads(pool) <= POOL_THREADS_MAX);
	for (unsigned i = 0; i < TASKS; i++) {
		jobs[i] = (struct job){ .task = { .run = square, .apart = i % 3 == 0 },
					.input = i,
					.busy = busy };
		pool_submit(pool, &jobs[i].task);
	}
	for (unsigned i = 0; i < TASKS; i++) {
		pool_wait(pool, &jobs[i].task);
		CHECK_UINT(jobs[i].output, i * i);
	}
	for (unsigned i = 0; i < POOL_THREADS_MAX; i++)
		sum += busy[i];
	CHECK_UINT(sum, TASKS);
	pool_free(pool);
}

TEST(a_pool_runs_every_task_once_with_any_number_of_threads)
{
	run_all(0); /* the owner alone */
	run_all(1);
	run_all(2);
	run_all(7);
	run_all(1000000);
	pool_free(NULL);
}

static void leave(struct pool_task *task, unsigned worker)
{
	((struct job *)(void *)task)->output = worker;
}

TEST(the_owner_of_a_pool_runs_what_is_apart_only_if_it_waits_for_such_a_task)
{
	struct job apart = { .task = { .run = leave, .apart = true }, .output = 7 };
	struct job other = { .task = { .run = leave }, .output = 7 };
	struct pool *pool = pool_new(1, NULL);

	pool_submit(pool, &apart.task);
	pool_submit(pool, &other.task);
	pool_wait(pool, &other.task);
	CHECK_UINT(other.output, 0);
	CHECK_UINT(apart.output, 7);
	pool_wait(pool, &apart.task);
	CHECK_UINT(apart.output, 0);
	pool_free(pool);
}

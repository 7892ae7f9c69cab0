/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - a few threads that run tasks in the order in which they were handed in; those that are apart come first, and
 * of each kind the heaviest.
 *
 *	static void square(struct pool_task *task, unsigned worker) { ... (struct job *)(void *)task ... }
 *
 *	pool = pool_new(2, NULL);		-- the caller is one of the two
 *	job.task.run = square;
 *	pool_submit(pool, &job.task);
 *	pool_wait(pool, &job.task);		-- runs whatever is in front of it meanwhile
 *
 * One thread, the owner, submits and waits. Tasks must not wait for each other; they share nothing but what they lock
 * themselves. What a task wrote is visible to the owner after pool_wait().
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#define POOL_THREADS_MAX 64

struct pool_task {
	/* @worker: 0 for the owner, less than pool_threads(); no two tasks run as the same one at a time. */
	void (*run)(struct pool_task *task, unsigned worker);
	bool apart; /* it takes long: the owner only runs it if it has nothing else to do while it waits for such a one */
	uint64_t weight; /* the heaviest are begun first: others wait for them, or all would in the end */
	struct pool_task *next; /* private, as is @done */
	bool done;
};

struct pool;

/*
 * @nthreads with the owner, 1 to POOL_THREADS_MAX; fewer if the system has no room for them. @begin, unless NULL, is called in each
 * but the owner before anything else.
 */
struct pool *pool_new(unsigned nthreads, void (*begin)(void));

/* All tasks that were submitted must have been waited for. */
void pool_free(struct pool *pool);

/* How many there are, the owner included. */
unsigned pool_threads(const struct pool *pool);

/* The task stays the caller's and must not move until it was waited for. */
void pool_submit(struct pool *pool, struct pool_task *task);
void pool_wait(struct pool *pool, struct pool_task *task);

/* Would pool_wait() return at once? What the task wrote is visible if so. */
bool pool_done(struct pool *pool, const struct pool_task *task);

#endif

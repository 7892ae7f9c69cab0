/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.c - two queues, one lock: a task takes a millisecond, so the lock is not contended.
 *
 * Those that are apart take longer. Were the owner to run one, what only it does would stand still, and the others
 * would soon run out of work.
 */
#include "formats/base/pool.h"

#include "formats/base/memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct worker {
	struct pool *pool;
	unsigned number;
	pthread_t thread;
};

/* Tasks that do not run yet. */
struct queue {
	struct pool_task *first, **end;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t arrived, finished; /* a task */
	struct queue queue, apart;
	bool closing;
	void (*begin)(void);
	unsigned nworkers; /* without the owner */
	struct worker workers[POOL_THREADS_MAX - 1];
};

/* Locked before and after, not in between. False if there is none. */
static bool run_first(struct pool *pool, struct queue *queue, unsigned worker)
{
	struct pool_task *task = queue->first;

	if (!task)
		return false;
	queue->first = task->next;
	if (!queue->first)
		queue->end = &queue->first;
	pthread_mutex_unlock(&pool->lock);
	task->run(task, worker);
	pthread_mutex_lock(&pool->lock);
	task->done = true;
	pthread_cond_signal(&pool->finished); /* only the owner waits for it */
	return true;
}

static void *work(void *data)
{
	struct worker *worker = data;
	struct pool *pool = worker->pool;

	if (pool->begin)
		pool->begin();
	pthread_mutex_lock(&pool->lock);
	while (!pool->closing) {
		if (!run_first(pool, &pool->apart, worker->number) &&
		    !run_first(pool, &pool->queue, worker->number))
			pthread_cond_wait(&pool->arrived, &pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* Signals are for the thread that knows what to do with them. */
static void start_workers(struct pool *pool, unsigned count)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (pool->nworkers < count) {
		struct worker *worker = &pool->workers[pool->nworkers];

		*worker = (struct worker){ .pool = pool, .number = pool->nworkers + 1 };
		if (pthread_create(&worker->thread, NULL, work, worker))
			break;
		pool->nworkers++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct pool *pool_new(unsigned nthreads, void (*begin)(void))
{
	struct pool *pool = memory_zeroed(1, sizeof(*pool));

	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->arrived, NULL);
	pthread_cond_init(&pool->finished, NULL);
	pool->begin = begin;
	pool->queue.end = &pool->queue.first;
	pool->apart.end = &pool->apart.first;
	if (nthreads > POOL_THREADS_MAX)
		nthreads = POOL_THREADS_MAX;
	start_workers(pool, nthreads ? nthreads - 1 : 0);
	return pool;
}

void pool_free(struct pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->closing = true;
	pthread_cond_broadcast(&pool->arrived);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned i = 0; i < pool->nworkers; i++)
		pthread_join(pool->workers[i].thread, NULL);
	pthread_cond_destroy(&pool->finished);
	pthread_cond_destroy(&pool->arrived);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

unsigned pool_threads(const struct pool *pool)
{
	return pool->nworkers + 1;
}

static void put(struct queue *queue, struct pool_task *task)
{
	struct pool_task **at = queue->end;

	if (task->weight) {
		for (at = &queue->first; *at && (*at)->weight >= task->weight;)
			at = &(*at)->next;
	}
	task->next = *at;
	*at = task;
	if (!task->next)
		queue->end = &task->next;
}

void pool_submit(struct pool *pool, struct pool_task *task)
{
	struct queue *queue = task->apart ? &pool->apart : &pool->queue;

	task->done = false;
	pthread_mutex_lock(&pool->lock);
	put(queue, task);
	pthread_cond_signal(&pool->arrived);
	pthread_mutex_unlock(&pool->lock);
}

void pool_wait(struct pool *pool, struct pool_task *task)
{
	pthread_mutex_lock(&pool->lock);
	while (!task->done) {
		if (!run_first(pool, &pool->queue, 0) &&
		    !(task->apart && run_first(pool, &pool->apart, 0)))
			pthread_cond_wait(&pool->finished, &pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
}

bool pool_done(struct pool *pool, const struct pool_task *task)
{
	pthread_mutex_lock(&pool->lock);
	bool done = task->done;

	pthread_mutex_unlock(&pool->lock);
	return done;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stuck_guard.c - one atomic exchange decides whether an item is given up: the thread leaves its call or the caller abandons the
 * thread, and only one of them finds the state "inside".
 */
#include "record/task/stuck_guard.h"

#include "formats/base/clock.h"
#include "formats/base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PATIENT_ITEMS 4
#define HASTY_PART    20
#define TICK_NS	      10000000ULL

enum where { OUTSIDE, INSIDE, GIVEN_UP };

/* One thread and its state, which it owns once it is abandoned. */
struct stuck_guard {
	const struct stuck_work *work;
	size_t first;
	_Atomic size_t index;
	_Atomic int where;
	_Atomic uint64_t entered_ns;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool has_ended;
};

void stuck_guard_enter(struct stuck_guard *guard)
{
	if (!guard)
		return;
	guard->entered_ns = clock_now_ns(CLOCK_MONOTONIC);
	guard->where = INSIDE;
}

void stuck_guard_leave(struct stuck_guard *guard)
{
	int inside = INSIDE;

	if (!guard || atomic_compare_exchange_strong(&guard->where, &inside, OUTSIDE))
		return;
	for (;;)
		pause();
}

static void *run(void *context)
{
	struct stuck_guard *guard = context;
	const struct stuck_work work = *guard->work;
	bool more = true;

	if (work.begin)
		work.begin(work.context);
	for (size_t i = guard->first; i < work.count && more; i++) {
		guard->index = i;
		more = work.item(work.context, i, guard);
	}
	pthread_mutex_lock(&guard->lock);
	guard->has_ended = true;
	pthread_cond_signal(&guard->ended);
	pthread_mutex_unlock(&guard->lock);
	return NULL;
}

static struct stuck_guard *guard_new(const struct stuck_work *work, size_t first)
{
	struct stuck_guard *guard = memory_zeroed(1, sizeof(*guard));
	pthread_condattr_t attr;

	guard->work = work;
	guard->first = first;
	pthread_mutex_init(&guard->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&guard->ended, &attr);
	pthread_condattr_destroy(&attr);
	return guard;
}

static void guard_free(struct stuck_guard *guard)
{
	pthread_cond_destroy(&guard->ended);
	pthread_mutex_destroy(&guard->lock);
	free(guard);
}

/* True if the thread was inside for longer than @patience_ns and is abandoned. */
static bool gives_up(struct stuck_guard *guard, uint64_t patience_ns)
{
	int inside = INSIDE;
	uint64_t entered_ns = guard->entered_ns;

	return guard->where == INSIDE && clock_now_ns(CLOCK_MONOTONIC) - entered_ns > patience_ns &&
	       guard->entered_ns == entered_ns && atomic_compare_exchange_strong(&guard->where, &inside, GIVEN_UP);
}

/* Wait until the thread has done all items; false if it is to be abandoned. */
static bool wait_for(struct stuck_guard *guard, uint64_t patience_ns)
{
	bool ended = false, stuck = false;

	pthread_mutex_lock(&guard->lock);
	while (!(ended = guard->has_ended) && !(stuck = gives_up(guard, patience_ns))) {
		uint64_t until_ns = clock_now_ns(CLOCK_MONOTONIC) + TICK_NS;
		struct timespec until = { (time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000) };

		pthread_cond_timedwait(&guard->ended, &guard->lock, &until);
	}
	pthread_mutex_unlock(&guard->lock);
	return ended;
}

size_t stuck_guard_run(const struct stuck_work *work)
{
	size_t stuck = 0;

	for (size_t first = 0; first < work->count;) {
		struct stuck_guard *guard = guard_new(work, first);
		pthread_t thread;

		if (stuck == STUCK_ITEMS_MAX || pthread_create(&thread, NULL, run, guard) != 0) {
			guard_free(guard);
			return stuck + work->count - first;
		}
		if (wait_for(guard, stuck < PATIENT_ITEMS ? work->patience_ns : work->patience_ns / HASTY_PART)) {
			pthread_join(thread, NULL);
			guard_free(guard);
			return stuck;
		}
		pthread_detach(thread);
		first = guard->index + 1;
		stuck++;
	}
	return stuck;
}

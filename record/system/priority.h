/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priority.h - the recorder's place in line for a CPU.
 *
 * It needs very little of one, but in time: a reader that waits behind a crowd of busy threads loses samples. One
 * that needs much must not run ahead of everything else all the same: it then goes back to an ordinary place for ten
 * seconds at least, until it has needed little for two. So at no load can it starve the machine. A priority that
 * was asked for is kept. It is that of one thread, which makes all the calls.
 */
#ifndef RECORD_PRIORITY_H
#define RECORD_PRIORITY_H

#include "formats/base/budget.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* A zeroed one is an ordinary place that stays so. */
struct priority {
	int level;          /* of real time, 0: ordinary */
	bool kept;          /* whatever it costs */
	bool raised;        /* runs at @level now */
	bool was_raised;    /* did so for a while at least */
	struct budget budget;
	uint64_t checked_ns;
	bool joined;          /* priority_join() was called */
	uint64_t given_up;    /* times */
	uint64_t given_up_ns; /* when, the last time */
};

/*
 * Run this thread before all ordinary ones, at real-time priority @level (1 is the lowest), whatever nice(1) says.
 * False if that is not allowed. Processes and threads started from now on do not inherit it.
 */
bool priority_raise(struct priority *p, int level, bool kept);

/*
 * The first time that this thread calls it: run as @first may, another thread of the recorder. Each thread
 * has a budget of its own.
 */
void priority_join(struct priority *p, const struct priority *first);

/* What was used until now does not count. */
void priority_begin(struct priority *p);

/* To be called often: goes back to an ordinary place, or to the head of the line, if it is time. */
void priority_check(struct priority *p);

/* Back to an ordinary thread, for good. */
void priority_lower(struct priority *p);

/*
 * A lock for threads of different places in line: who has it is as urgent as who waits for it, or an ordinary thread that stands behind a
 * crowd would keep the lock from the first in line. pthread_mutex_destroy() ends it.
 */
void priority_mutex_init(pthread_mutex_t *mutex);

#endif

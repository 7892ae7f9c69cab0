/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priority.h - the recorder's scheduling priority.
 *
 * The recorder needs little CPU time, but promptly: a reader that waits behind many busy threads loses samples. When it
 * needs much, it must not starve the machine: it returns to ordinary priority for at least ten seconds, until it has
 * needed little for two. A priority given on the command line is kept. Each object belongs to one thread, which
 * makes all calls.
 */
#ifndef RECORD_PRIORITY_H
#define RECORD_PRIORITY_H

#include "formats/base/budget.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Zeroed: ordinary priority, never raised. */
struct priority {
	int level;          /* of real time, 0: ordinary */
	bool kept;          /* no budget: given on the command line */
	bool raised;        /* runs at @level now */
	bool was_raised;    /* has run at @level */
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
 * On the first call by a thread: give it the priority of @first, another thread of the recorder. Each thread has its own
 * budget.
 */
void priority_join(struct priority *p, const struct priority *first);

/* Reset the budget: CPU time used until now does not count. */
void priority_begin(struct priority *p);

/* Call often: lowers the priority when the budget is exceeded, and raises it again later. */
void priority_check(struct priority *p);

/*
 * What is left to do is bounded and somebody waits for its end: back to an ordinary thread for good, but if it was ever raised, the first of
 * those, with all threads of the process and the processes that they start from now on (nice -20). On a busy machine the end would take seconds.
 */
void priority_finish(struct priority *p);

/* This thread, and what it starts: the first of all ordinary ones, if that is allowed; or what it was before it went first. */
void priority_go_first(void);
void priority_step_back(void);

/*
 * A lock with priority inheritance, for threads of different priorities: an ordinary thread that holds it and waits for a CPU would
 * block a real-time one. Release with pthread_mutex_destroy().
 */
void priority_mutex_init(pthread_mutex_t *mutex);

#endif

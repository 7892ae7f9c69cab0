/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_reader.h - samples the stacks of threads that wait, at a steady rate: together with samples of the CPU, a program's
 * wall-clock profile.
 *
 *	each 1/RATE s, each thread:  has it run since the last look?
 *		no   its last stack counts for this interval too: one small read of /proc
 *		yes  does it wait now? its stack is read (thread_sight.h)
 *
 * A stack is handed out when its thread has run, and at least twice a second, with the time that it stands for. Threads that wait for a
 * CPU are not idle. A separate thread does this with at most SHARE of a CPU: if rounds take more they become rarer, and
 * each stands for the time since the last one.
 *
 * The recorder's thread makes all calls.
 */
#ifndef RECORD_IDLE_READER_H
#define RECORD_IDLE_READER_H

#include "formats/event.h"
#include "record/sample/thread_sight.h"
#include "record/system/priority.h"
#include "record/task/task_filter.h"

#define IDLE_READER_RATE	20 /* rounds a second, unless asked otherwise */
#define IDLE_READER_RATE_MAX	1000
#define IDLE_READER_SHARE	0.05 /* of a CPU */
#define IDLE_READER_THREADS_MAX 16384

/* Whose threads. */
enum idle_scope {
	IDLE_SCOPE_INTERPRETERS, /* of the processes that are recorded, those with a known interpreter */
	IDLE_SCOPE_ALL,
};

/* So far. */
struct idle_totals {
	uint64_t rounds, put_off;	/* put off: delayed to stay below SHARE of a CPU */
	uint64_t threads;		/* the most in one round */
	uint64_t looks;			/* stacks that were read */
	uint64_t dropped_ns;		/* waiting time whose stacks found no room */
	uint64_t cpu_ns;		/* that all this took */
	bool too_many;			/* more than IDLE_READER_THREADS_MAX: the others were left out */
};

struct idle_reader;

/* @table, which outlives it, knows interpreters; may be NULL. Its thread gets the priority of @first; NULL: ordinary. Starts no thread. */
struct idle_reader *idle_reader_new(struct managed_table *table, uint64_t rate, enum idle_scope scope,
				    const struct priority *first);
/* Waits at most a second; memory that a hung thread may use is leaked. */
void idle_reader_free(struct idle_reader *r);

/* A side-band record: forks, execs and exits. */
void idle_reader_event(struct idle_reader *r, const struct event *ev);

/* Look at those of @tasks from now on. Starts the thread the first time. */
void idle_reader_follow(struct idle_reader *r, struct task_filter *tasks);

/* Look at none until the next idle_reader_follow(). */
void idle_reader_rest(struct idle_reader *r);

/* @sight is of a thread that waited for @period_ns. */
typedef struct err *idle_take_fn(void *context, const struct thread_sight *sight, uint64_t period_ns);

/* Pass stacks found since the last call to @take. Stops at the first error. */
MUST_USE struct err *idle_reader_take(struct idle_reader *r, idle_take_fn *take, void *context);

/* The last round: the next idle_reader_take() hands out all stacks. Waits at most a second. */
void idle_reader_end(struct idle_reader *r);

struct idle_totals idle_reader_totals(struct idle_reader *r);

#endif

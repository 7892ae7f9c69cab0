/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_reader.h - the stacks of threads that are not on a CPU, at a steady rate: with samples of the CPU they are where a
 * program's time goes by the clock on the wall.
 *
 *	each 1/RATE s, each thread:  has it run since the last look?
 *		no   its last stack stands for this interval, too; that is one small read of /proc
 *		yes  does it wait now? its stack is read (thread_sight.h)
 *
 * A stack is handed out when its thread has run, and twice a second, with the time that it stands for. Threads that wait for a
 * CPU are not idle. All is done by a thread of its own, which takes SHARE of a CPU at most: rounds come more seldom where
 * they would take more, and each stands for the time since the last one.
 *
 * The recorder's thread makes all calls.
 */
#ifndef RECORD_IDLE_READER_H
#define RECORD_IDLE_READER_H

#include "formats/event.h"
#include "record/sample/thread_sight.h"
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
	uint64_t rounds, put_off;	/* put off: since they would have taken more than SHARE of a CPU */
	uint64_t threads;		/* the most in one round */
	uint64_t looks;			/* stacks that were read */
	uint64_t dropped_ns;		/* waiting for which there was no room */
	uint64_t cpu_ns;		/* that all this took */
	bool too_many;			/* more than IDLE_READER_THREADS_MAX: the others were left out */
};

struct idle_reader;

/* @table, which outlives it, knows interpreters; it may be NULL. No thread is started yet. */
struct idle_reader *idle_reader_new(struct managed_table *table, uint64_t rate, enum idle_scope scope);
/* Waits for a second at most; a thread that then still hangs keeps what it may use. */
void idle_reader_free(struct idle_reader *r);

/* A record of the side-band: which processes there are. */
void idle_reader_event(struct idle_reader *r, const struct event *ev);

/* Look at those of @tasks from now on. Starts the thread the first time. */
void idle_reader_follow(struct idle_reader *r, struct task_filter *tasks);

/* Look at none until the next idle_reader_follow(). */
void idle_reader_rest(struct idle_reader *r);

/* @sight is of a thread that waited for @period_ns. */
typedef struct err *idle_take_fn(void *context, const struct thread_sight *sight, uint64_t period_ns);

/* Hand what was found since the last call to @take. Stops at the first error. */
MUST_USE struct err *idle_reader_take(struct idle_reader *r, idle_take_fn *take, void *context);

/* The last round: what waits is handed out by the next idle_reader_take(). Waits for a second at most. */
void idle_reader_end(struct idle_reader *r);

struct idle_totals idle_reader_totals(struct idle_reader *r);

#endif

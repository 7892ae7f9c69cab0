/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_table.h - which processes run an interpreter that is known, and what it takes to read their stacks.
 *
 *	mapping of a file named like one ─► noted ─► a thread of ours looks at it ─► known, or no interpreter
 *
 * The recorder tells of mappings, forks, execs and ends as it drains; it never waits. A process that was there before is
 * looked at when the recording begins, if it runs then, or when it is sampled; a new one at once: so first samples are not lost.
 * Several threads may use one.
 */
#ifndef RECORD_MANAGED_TABLE_H
#define RECORD_MANAGED_TABLE_H

#include "record/managed/managed.h"
#include "record/system/priority.h"

#include <stdbool.h>
#include <stdint.h>

struct managed_table;
struct managed_process;

/*
 * @news_fd, an eventfd that stays the caller's, is written to whenever one becomes known; -1: none. The thread that looks at processes
 * has the place in line of @first, with a budget of its own; NULL: an ordinary one.
 */
struct managed_table *managed_table_new(int news_fd, const struct priority *first);
/* Of processes that become known from now on, have the names and types of variables read, too. */
void managed_table_ask_locals(struct managed_table *t);

/* Waits for a second at most; what then still hangs is left alone, with all that it may use. */
void managed_table_free(struct managed_table *t);

/* Follow a side-band event; others are ignored. A mapping of before the recording has no time. */
void managed_table_event(struct managed_table *t, const struct event *ev);

/*
 * The recording begins. Of the processes that were there before, look at those with an interpreter's name that have run since they were
 * told, or @all of those: they will be sampled soon. Waits until that is done, for @wait_ns at most.
 */
void managed_table_begin(struct managed_table *t, bool all, uint64_t wait_ns);

/* Process @pid was sampled. Is its interpreter known? A load from memory for all but processes that may have one. */
bool managed_table_sampled(struct managed_table *t, uint32_t pid);

typedef void managed_known_fn(void *context, uint32_t pid, bool known);

/* Tell @fn of all processes whose interpreter is known, then of each that becomes so or no longer is; it must not call the table. NULL: no longer. */
void managed_table_follow(struct managed_table *t, managed_known_fn *fn, void *context);

enum managed_look {
	MANAGED_NONE,	 /* no interpreter, or not one that we can read */
	MANAGED_PENDING, /* it is being looked at */
	MANAGED_KNOWN,
};

/* The interpreter of process @pid, which is looked at if it may have one. */
enum managed_look managed_table_look(struct managed_table *t, uint32_t pid);

/* When a process with an interpreter was last found or sampled; 0: never. By CLOCK_MONOTONIC. */
uint64_t managed_table_last_ns(const struct managed_table *t);

#define MANAGED_REFUSALS_MAX 4

/* An interpreter whose stacks are not read. */
struct managed_refusal {
	const char *path, *why;
	uint64_t count; /* of processes that run it */
};

/* What was refused, and what did not fit. Valid until managed_table_free(). */
struct managed_refusals {
	size_t len;
	struct managed_refusal items[MANAGED_REFUSALS_MAX]; /* the first */
	uint64_t more;	    /* processes that run others */
	uint64_t names;	    /* that found no room among MANAGED_NAMES_MAX bytes */
};

struct managed_refusals managed_table_refusals(struct managed_table *t);

/* The process, if its interpreter is known, held until managed_process_release(); NULL if not. */
struct managed_process *managed_table_hold(struct managed_table *t, uint32_t pid);
void managed_process_release(struct managed_table *t, struct managed_process *p);

const struct managed_runtime *managed_process_runtime(const struct managed_process *p);
const struct managed_binary *managed_process_binary(const struct managed_process *p);

/* What was read of one, as an event without time, process and thread; it refers to both. */
void managed_event_make(struct event *ret, const struct managed_binary *binary,
			enum event_managed_runtime runtime, const struct managed_stack *stack);

/*
 * Read the stack of thread @tid, which must not run meanwhile, within @view->limit_ns, 0: MANAGED_TIME_NS. One thread at a
 * time reads from a process; others wait.
 */
void managed_process_read(struct managed_process *p, uint32_t tid, struct managed_view *view,
			  struct managed_stack *ret);

#endif

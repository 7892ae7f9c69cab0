/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_table.h - finds the processes that run a known interpreter, and reads their stacks.
 *
 *	mapping of a file named like one ─► noted ─► a thread of ours looks at it ─► known, or no interpreter
 *
 * The recorder passes on mappings, forks, execs and exits; this never blocks it. A process from before the recording is
 * examined at its start if it runs then, or when it is sampled; a new one at once, so that no first samples are lost.
 * Thread-safe.
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
 * @news_fd, an eventfd that stays the caller's, is written to whenever one becomes known; -1: none. The finder's thread has
 * the priority of @first, with its own budget; NULL: ordinary priority.
 */
struct managed_table *managed_table_new(int news_fd, const struct priority *first);
/* Also read names and types of variables, for processes that become known from now on. */
void managed_table_ask_locals(struct managed_table *t);

/* Waits at most a second; memory that a hung thread may use is leaked. */
void managed_table_free(struct managed_table *t);

/* Follow a side-band event; others are ignored. A mapping of before the recording has no time. */
void managed_table_event(struct managed_table *t, const struct event *ev);

/*
 * Before the recording begins: examine existing processes with an interpreter's name that have run since they were reported, or @all of
 * them: they will be sampled soon. Waits until that is done, at most @wait_ns. The others are examined afterwards, by the thread that finds
 * interpreters, so that they have a stack when they wake up.
 */
void managed_table_begin(struct managed_table *t, bool all, uint64_t wait_ns);

/* Process @pid was sampled. Is its interpreter known? A load from memory for all but processes that may have one. */
bool managed_table_sampled(struct managed_table *t, uint32_t pid);

typedef void managed_known_fn(void *context, uint32_t pid, bool known);

/* Call @fn for all processes with a known interpreter, then at each change; it must not call the table. NULL: stop. */
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

/* Interpreters that are not read, and limits that were reached. Valid until managed_table_free(). */
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

/* What a process is expected to run, by the name of its file. */
struct managed_expected {
	enum event_managed_runtime runtime;
	struct managed_binary binary; /* of which nothing but the path is known */
};

/*
 * As managed_table_hold(). If NULL, *@ret is what process @pid, which ran before the recording began, is expected to run while nobody has looked
 * at it yet; NULL: nothing, or it runs none. Its samples have no stack, and the reason is that the recorder was late. *@ret is valid until
 * managed_table_free().
 */
struct managed_process *managed_table_hold_or_expect(struct managed_table *t, uint32_t pid, const struct managed_expected **ret);

/* May process @pid run an interpreter that is known, or will be? For all others a load from memory. */
bool managed_table_expects(struct managed_table *t, uint32_t pid);

/* Reading it stands still, since its memory is locked: for a second its stacks are late. Counted as a refusal, once. */
void managed_process_rest(struct managed_table *t, struct managed_process *p, uint64_t now_ns);

const struct managed_runtime *managed_process_runtime(const struct managed_process *p);
const struct managed_binary *managed_process_binary(const struct managed_process *p);

/* What was read of one, as an event without time, process and thread; it refers to both. */
void managed_event_make(struct event *ret, const struct managed_binary *binary,
			enum event_managed_runtime runtime, const struct managed_stack *stack);

/*
 * Read the stack of thread @tid, which must not run meanwhile, within @view->limit_ns, 0: MANAGED_TIME_NS. @regs: as in struct managed_thread.
 * Concurrent calls for one process wait for each other, but not longer than that: then @ret is late.
 */
void managed_process_read(struct managed_process *p, uint32_t tid, const struct event_regs *regs,
			  struct managed_view *view, struct managed_stack *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_reader.h - reads interpreters' stacks at the moment of the sample: one thread per CPU, pinned to it.
 *
 *	sample ─ interrupt ─► wakes the reader of that CPU ─► the sampled thread waits while its stack is read
 *
 * Where the kernel has a wake_filter only samples of processes that there is something to read of wake them.
 *
 * The sampled thread cannot change its frames while the reader has its CPU. Should the scheduler have moved it to another
 * CPU, its CPU clock goes on meanwhile; such a stack is thrown away and counted as torn. Reading from elsewhere would tear
 * 1 to 4 % of them. The readers look at samples where they lie in the rings and take nothing out of them; results wait until
 * the drain fetches them, which never waits for a reader.
 *
 * The recorder's thread makes all calls.
 */
#ifndef RECORD_MANAGED_READER_H
#define RECORD_MANAGED_READER_H

#include "formats/base/err.h"
#include "formats/event.h"
#include "record/managed/managed_table.h"
#include "record/sample/perf_fds.h"
#include "record/system/priority.h"
#include "record/sample/stack_shelf.h"

#include <stdbool.h>
#include <stdint.h>

struct managed_readers;
struct perf_layout;

/* So far. */
struct managed_totals {
	uint64_t samples; /* of processes with a known interpreter */
	uint64_t states[EVENT_MANAGED_STATES]; /* stacks by what came of them */
	uint64_t dropped; /* stacks that came too late for the trace, or found no room */
	uint64_t read_ns; /* time that reading took */
	bool not_by_cpu;  /* events follow tasks: nothing is read */
};

/*
 * Readers for the sample rings of @fds; all must outlive them. @by_cpu: events follow CPUs. @first: the recorder's
 * place in line, which readers join. No thread is started yet.
 */
struct managed_readers *managed_readers_new(struct perf_fds *fds, bool by_cpu,
					    const struct priority *first);
/* Waits for a second at most; a reader that then still hangs keeps what it may use. */
void managed_readers_free(struct managed_readers *m);

/*
 * The recording begins: processes that run an interpreter now, or @all that were there before, are known and have their readers at once,
 * so that their first samples have a stack. Takes some milliseconds for the first, none if there is none.
 */
void managed_readers_begin(struct managed_readers *m, bool all);

/*
 * Whether samples should wake readers now: an interpreter was sampled or found lately. Starts the readers the first time;
 * false, and *@ret says why, if there can be none.
 */
bool managed_readers_wanted(struct managed_readers *m, uint64_t now_ns);

/*
 * Do readers have a bell of their own (wake_filter.h)? Then rings wake who waits for them as ever. Known once managed_readers_wanted() was
 * true.
 */
bool managed_readers_have_bells(const struct managed_readers *m);

/* What samples look like, by event number, which is copied; before the first call of managed_readers_wanted(). */
void managed_readers_set_layouts(struct managed_readers *m, const struct perf_layout *layouts, size_t count);

/* The stacks that sampled threads had left, which are read as well (stack_shelf.h); NULL: they are not. */
struct stack_shelves *managed_readers_shelves(const struct managed_readers *m);

/* A descriptor that becomes readable when the recorder should drain, since it is not woken by rings that readers wait for. */
int managed_readers_fd(const struct managed_readers *m);

/*
 * Ring number @ring of samples is written up to @head: up to where its reader has looked, or need not. What is taken out of the ring
 * before that has no stack.
 */
uint64_t managed_readers_seen(const struct managed_readers *m, size_t ring, uint64_t head);

/* Process @pid was sampled; several threads may tell. */
void managed_readers_sampled(struct managed_readers *m, uint32_t pid);

/*
 * @sample, whose record ends at @end in ring number @ring, is taken out of it. True if no reader has looked at it there: then *@ret says
 * that its stack is missing. Several threads may ask.
 */
bool managed_readers_missed(struct managed_readers *m, size_t ring, uint64_t end, const struct event *sample, struct event *ret);

typedef struct err *managed_take_fn(void *context, const struct event *ev);

/* Hand what was read since the last call to @take, but nothing older than @oldest_ns. Stops at the first error. */
MUST_USE struct err *managed_readers_take(struct managed_readers *m, uint64_t oldest_ns,
					  managed_take_fn *take, void *context);

/* The receiver of mappings, forks, execs and ends. */
struct managed_table *managed_readers_table(struct managed_readers *m);
struct managed_totals managed_readers_totals(const struct managed_readers *m);
struct managed_refusals managed_readers_refusals(const struct managed_readers *m);

#endif

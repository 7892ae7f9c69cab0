/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_reader.h - reads interpreters' stacks at the moment of the sample: one thread per CPU, pinned to it.
 *
 *	sample ─ interrupt ─► wakes the reader of that CPU ─► the sampled thread waits while its stack is read
 *
 * With a wake_filter only samples of processes that have something to read wake them.
 *
 * The sampled thread cannot change its frames while the reader has its CPU. If the scheduler moved it to another CPU, its
 * CPU clock advances; the stack is then discarded and counted as torn. Reading from another CPU would tear 1 to 4 % of
 * them. Readers look at samples in the rings and consume nothing; results wait for the drain, which never waits for a
 * reader.
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
	uint64_t states[EVENT_MANAGED_STATES]; /* stacks by outcome */
	uint64_t dropped; /* stacks that were too late for the trace, or found no room */
	uint64_t read_ns; /* time that reading took */
	bool not_by_cpu;  /* events follow tasks: nothing is read */
};

/*
 * Readers for the sample rings of @fds; all arguments must outlive them. @by_cpu: events follow CPUs. @first: the
 * recorder's priority, which readers take over. Starts no thread.
 */
struct managed_readers *managed_readers_new(struct perf_fds *fds, bool by_cpu,
					    const struct priority *first);
/* Waits at most a second; memory that a hung reader may use is leaked. */
void managed_readers_free(struct managed_readers *m);

/*
 * Before the recording begins: examine processes that run an interpreter now, or @all existing ones, and start their readers, so that
 * their first samples have a stack. Takes some milliseconds if there is one.
 */
void managed_readers_begin(struct managed_readers *m, bool all);

/*
 * Whether samples should wake readers now: an interpreter was sampled or found lately. Starts the readers the first time;
 * false, and *@ret says why, if there can be none.
 */
bool managed_readers_wanted(struct managed_readers *m, uint64_t now_ns);

/*
 * Does a wake_filter wake the readers? Then rings wake the drain as usual. Known once managed_readers_wanted() was true.
 */
bool managed_readers_have_bells(const struct managed_readers *m);

/* The layouts of samples, by event number; copied. Before the first call of managed_readers_wanted(). */
void managed_readers_set_layouts(struct managed_readers *m, const struct perf_layout *layouts, size_t count);

/* Where second stacks go (stack_shelf.h); NULL: they are not read. */
struct stack_shelves *managed_readers_shelves(const struct managed_readers *m);

/* A descriptor that becomes readable when the recorder should drain: rings that readers wait for do not wake it. */
int managed_readers_fd(const struct managed_readers *m);

/*
 * Sample ring number @ring is written up to @head. Returns up to where its reader has looked, or need not look; samples consumed beyond
 * that have no stack.
 */
uint64_t managed_readers_seen(const struct managed_readers *m, size_t ring, uint64_t head);

/* Process @pid was sampled. Thread-safe. */
void managed_readers_sampled(struct managed_readers *m, uint32_t pid);

/*
 * @sample, whose record ends at @end in ring number @ring, is consumed. True if no reader has claimed it: then *@ret is the event
 * that says that its stack is missing. Thread-safe.
 */
bool managed_readers_missed(struct managed_readers *m, size_t ring, uint64_t end, const struct event *sample, struct event *ret);

typedef struct err *managed_take_fn(void *context, const struct event *ev);

struct managed_times {
	uint64_t oldest_ns; /* nothing older can be passed on */
	uint64_t next_ns;   /* likewise at the next call; UINT64_MAX: this is the last */
};

/* Pass stacks read since the last call to @take; those that are still being read and would be too old next time are late. Stops at the first error. */
MUST_USE struct err *managed_readers_take(struct managed_readers *m, const struct managed_times *times,
					  managed_take_fn *take, void *context);

/* The receiver of mappings, forks, execs and exits. */
struct managed_table *managed_readers_table(struct managed_readers *m);
struct managed_totals managed_readers_totals(const struct managed_readers *m);
struct managed_refusals managed_readers_refusals(const struct managed_readers *m);

#endif

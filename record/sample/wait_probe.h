/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_probe.h - reads the stacks of long waits that were not sampled: of threads that slept when the recording began,
 * while stacks are thinned (stack_thinning.h), and where their samples were lost.
 *
 *	out                                                          in
 *	 │ no stack was sampled   │ LONG_NS later: where is it?      │
 *	 ▼                        ▼                                  ▼
 *	─┤◄───────────────────────●─────────────────────────────────►├─
 *
 * A waiting thread's stack can be read from outside (thread_sight.h). A separate thread does so, since other processes' memory
 * and files may block; the next pass fetches its results. At most RATE a second, longest waits first; if more threads
 * wait than that, those without a stack in the last FRESH_NS go first.
 *
 * The recorder's thread makes all calls.
 */
#ifndef RECORD_WAIT_PROBE_H
#define RECORD_WAIT_PROBE_H

#include "formats/event.h"
#include "record/sample/thread_sight.h"
#include "record/system/priority.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAIT_PROBE_LONG_NS     20000000 /* longer waits are probed */
#define WAIT_PROBE_RATE	     1000     /* a second; each takes some 15 us */
#define WAIT_PROBE_FRESH_NS    5000000000 /* if many wait, a thread is probed again only after this time */
#define WAIT_PROBE_TICK_MS     50
#define WAIT_PROBE_WAITERS_MAX 65536	/* tracked at a time */

/* The result of a probe. */
struct wait_probe_found {
	uint64_t out_ns; /* start of the wait, if known */
	bool waits;	 /* it has not run since, according to the records read so far */
	struct thread_sight sight;
};

/* So far. */
struct wait_probe_totals {
	uint64_t asked, answered, found;
	uint64_t dropped; /* waits that were not tracked because there were too many */
};

struct wait_probe;

/*
 * Starts no thread. @table knows interpreters; NULL: none are read. The probing thread shares the place in line of @first: behind a
 * crowd of busy threads it would probe when the recording is over. NULL: an ordinary one. Both outlive the probe.
 */
struct wait_probe *wait_probe_new(struct managed_table *table, const struct priority *first);

/* Waits at most a second; memory that a hung thread may use is leaked. */
void wait_probe_free(struct wait_probe *p);

/* A side-band record, in order of time; the account of a thread (EVENT_TASK_TIMES) says that it has run. */
void wait_probe_event(struct wait_probe *p, const struct event *ev);

/* From now on switches are not recorded (@paused), or they are: meanwhile, waits begin where accounts say that threads have run. */
void wait_probe_pause(struct wait_probe *p, bool paused);

/* The stack of thread @tid's switch at @time_ns was sampled. */
void wait_probe_sampled(struct wait_probe *p, uint32_t tid, uint64_t time_ns);

/* At @now_ns: request probes of long waits. */
void wait_probe_ask(struct wait_probe *p, uint64_t now_ns);

typedef struct err *wait_probe_take_fn(void *context, const struct wait_probe_found *found);

/* Pass the results since the last call to @take. Stops at the first error. */
MUST_USE struct err *wait_probe_take(struct wait_probe *p, wait_probe_take_fn *take, void *context);

/* Are results expected soon? Then passes should come every WAIT_PROBE_TICK_MS. */
bool wait_probe_busy(const struct wait_probe *p);

struct wait_probe_totals wait_probe_totals(const struct wait_probe *p);

#endif

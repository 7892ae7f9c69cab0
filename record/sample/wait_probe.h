/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_probe.h - the stacks of long waits that no sample has: of threads that slept when the recording began, and where
 * stacks are thinned (stack_thinning.h).
 *
 *	out                                                          in
 *	 │ no stack was sampled   │ LONG_NS later: where is it?      │
 *	 ▼                        ▼                                  ▼
 *	─┤◄───────────────────────●─────────────────────────────────►├─
 *
 * A thread that waits keeps its stack, so that it can be looked at from outside while it does (thread_sight.h). A thread of
 * its own reads, since memory and files of others may take as long as they like; what it found is fetched with the next pass.
 * At most RATE a second: of those that wait longest; where more wait than that, threads come first of which no stack was
 * seen for FRESH_NS.
 *
 * The recorder's thread makes all calls.
 */
#ifndef RECORD_WAIT_PROBE_H
#define RECORD_WAIT_PROBE_H

#include "formats/event.h"
#include "record/sample/thread_sight.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAIT_PROBE_LONG_NS     20000000 /* waits that take longer are looked at */
#define WAIT_PROBE_RATE	     1000     /* a second; each takes some 15 us */
#define WAIT_PROBE_FRESH_NS    5000000000 /* where many wait, a thread whose stack was seen is not looked at for so long */
#define WAIT_PROBE_TICK_MS     50
#define WAIT_PROBE_WAITERS_MAX 65536	/* that are followed at a time */

/* What a thread was found doing. */
struct wait_probe_found {
	uint64_t out_ns; /* it left its CPU, as far as is known */
	bool waits;	 /* it has not come to a CPU since, as far as the records go that were taken */
	struct thread_sight sight;
};

/* So far. */
struct wait_probe_totals {
	uint64_t asked, answered, found;
	uint64_t dropped; /* waits that were not followed, since there were too many */
};

struct wait_probe;

/* No thread is started yet. @table, which outlives it, knows interpreters; NULL: none are read. */
struct wait_probe *wait_probe_new(struct managed_table *table);

/* Waits for a second at most; a thread that then still hangs keeps what it may use. */
void wait_probe_free(struct wait_probe *p);

/* A record of the side-band; in order of time. @thinned: not every switch has its stack now. */
void wait_probe_event(struct wait_probe *p, const struct event *ev, bool thinned);

/* The stack was sampled with which thread @tid left its CPU at @time_ns. */
void wait_probe_sampled(struct wait_probe *p, uint32_t tid, uint64_t time_ns);

/* It is @now_ns: have those looked at that have waited for long. */
void wait_probe_ask(struct wait_probe *p, uint64_t now_ns);

typedef struct err *wait_probe_take_fn(void *context, const struct wait_probe_found *found);

/* Hand what was found since the last call to @take. Stops at the first error. */
MUST_USE struct err *wait_probe_take(struct wait_probe *p, wait_probe_take_fn *take, void *context);

/* Is anything on its way, or may soon be? Then passes should come every WAIT_PROBE_TICK_MS. */
bool wait_probe_busy(const struct wait_probe *p);

struct wait_probe_totals wait_probe_totals(const struct wait_probe *p);

#endif

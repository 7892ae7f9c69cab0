/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_snapshot.h - the state that a file must begin with to be readable by itself: processes, threads, names,
 * mappings, kernel code and cgroups.
 *
 * It follows the side-band one pass behind. Side-band rings are drained ahead of the samples, so a later
 * sample may be older than an exec that was read; the snapshot must not include that exec:
 *
 *	pass n-1 | side-band  samples | pass n | side-band  samples |   a new file begins here:
 *	 ... all of this is process snapshot |        | as it came         |   process snapshot, side-band of pass n, samples
 *
 * Memory grows with the number of live processes. Not thread-safe.
 */
#ifndef RECORD_PROCESS_SNAPSHOT_H
#define RECORD_PROCESS_SNAPSHOT_H

#include "formats/base/err.h"
#include "formats/event.h"

struct process_snapshot;

struct process_snapshot *process_snapshot_new(void);
void process_snapshot_free(struct process_snapshot *l);

/* A side-band event was written; others are ignored. */
void process_snapshot_event(struct process_snapshot *l, const struct event *ev);

/* A pass begins. */
void process_snapshot_round(struct process_snapshot *l);

/* Write it to @tell: the state as events at time 0, as if read from /proc, then the events of the last pass. */
MUST_USE struct err *process_snapshot_tell(const struct process_snapshot *l,
				    struct err *(*tell)(void *context, const struct event *ev),
				    void *context);

#endif

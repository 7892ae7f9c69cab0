/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_snapshot.h - what a file must begin with to be readable by itself: the processes, threads, names and
 * mappings that are there, kernel code and cgroups.
 *
 * It follows the side-band one pass behind. Side-band rings are drained ahead of the samples, so a sample still to
 * come may be older than an exec that has been seen; it finds the process snapshot of before, and the exec behind it:
 *
 *	pass n-1 | side-band  samples | pass n | side-band  samples |   a new file begins here:
 *	 ... all of this is process snapshot |        | as it came         |   process snapshot, side-band of pass n, samples
 *
 * Memory grows with what lives. Not thread-safe.
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

/* Tell it all to @tell: what is there at time 0, as if read from /proc, then the last pass as it came. */
MUST_USE struct err *process_snapshot_tell(const struct process_snapshot *l,
				    struct err *(*tell)(void *context, const struct event *ev),
				    void *context);

#endif

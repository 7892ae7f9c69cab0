/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_counts.h - the counters of a group on a CPU, as if they stood still while others ran.
 *
 * Where events follow CPUs to record single processes, the counts read with a sample include what
 * all processes did. What was counted up to samples of others is subtracted, so that the difference of two
 * kept samples belongs to what is recorded, as exactly as sampling tells. A zeroed object counts nothing.
 */
#ifndef RECORD_GROUP_COUNTS_H
#define RECORD_GROUP_COUNTS_H

#include "formats/event.h"

#include <stddef.h>

struct group_counts {
	struct event_count *last, *foreign; /* [CPU][event] */
	size_t nevents;
};

void group_counts_init(struct group_counts *g, size_t ncpus, size_t nevents);
void group_counts_deinit(struct group_counts *g);

/* A sample on CPU number @cpu that is not kept. */
void group_counts_skip(struct group_counts *g, size_t cpu, const struct event_count *counts,
		       size_t n);

/* One that is: @counts become what is its own. */
void group_counts_keep(struct group_counts *g, size_t cpu, struct event_count *counts, size_t n);

/* What @event has counted on @cpu of what is recorded, up to the last sample there. */
uint64_t group_counts_own(const struct group_counts *g, size_t cpu, size_t event);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_deltas.h - what each event of a group counted since the sample before, of counts that only grow.
 *
 *	sample 1           sample 2                    on one CPU, or of one thread on one CPU
 *	   |   cycles +900    |      the difference belongs to sample 2:
 *	   |   instr. +300    |      the interval ended there
 *
 * It must see every sample of a recording in order of time, also those that are filtered out, since the next
 * one's difference begins there. Where counters were multiplexed (running less than enabled) differences
 * are scaled up. Readings that cannot be are refused and counted, never passed on.
 */
#ifndef REPORT_GROUP_DELTAS_H
#define REPORT_GROUP_DELTAS_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/event.h"

struct group_delta {
	uint32_t event;
	double value; /* scaled */
};

/* What came of the samples that had counts. */
struct group_delta_tally {
	uint64_t used;
	uint64_t first;       /* the first of its CPU or thread: nothing to compare it with */
	uint64_t not_counted; /* the group had no counters in between */
	uint64_t impossible;  /* more than 1000 a nanosecond, or less than before */
	uint64_t enabled_ns, running_ns; /* of those used */
};

struct group_deltas {
	bool by_cpu; /* counters belong to CPUs; false: to threads on CPUs */
	uint64_t start_ns;
	size_t nevents;
	struct map last; /* CPU, thread, event -> index in readings */
	VEC(struct event_count) readings;
	VEC(struct group_delta) now; /* of the last sample that was added; empty if it cannot be used */
	struct group_delta_tally unwind_quality;
};

void group_deltas_init(struct group_deltas *g, const struct recording *rec);
void group_deltas_deinit(struct group_deltas *g);

/* The next sample: g->now is what its group counted. */
void group_deltas_add(struct group_deltas *g, const struct event *ev);

#endif

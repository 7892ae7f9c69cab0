/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_counts.h - how many events of which kind were read, whatever the filter says.
 */
#ifndef REPORT_STREAM_COUNTS_H
#define REPORT_STREAM_COUNTS_H

#include "formats/event.h"

/* What the stream said about itself while it was read, before filters. */
struct stream_counts {
	uint64_t managed[EVENT_MANAGED_STATES]; /* stacks of interpreters by what came of reading them */
	uint64_t events; /* of every kind */
	uint64_t samples;
	uint64_t lost_records;    /* by the kernel, of any kind, from rings of samples */
	uint64_t lost_side_band;  /* by the kernel: mappings, names, forks; no samples */
	uint64_t lost_samples;    /* by the kernel, known to be samples */
	uint64_t dropped_samples; /* by the recorder */
	uint64_t throttles;       /* times that an event was stopped */
	uint64_t branches; /* in stacks of them, with samples */
	uint64_t with_branches, with_address, with_weight; /* samples */
	uint64_t cut, shortened;  /* stacks: ended by the snapshot's size; by the recorder */
	uint64_t folded; /* stacks without some repeated calls, which did not fit */
	uint64_t first_ns,
		last_ns; /* time of the first and last event of any kind; 0 if there are none */
};

/* @ev is of @rec. Sums of losses that a file states stay below UINT64_MAX / 8 rather than wrap. */
void stream_counts_add(struct stream_counts *stream, const struct recording *rec, const struct event *ev);

#endif

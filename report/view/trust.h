/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.h - how far the numbers of a profile can be believed.
 */
#ifndef REPORT_TRUST_H
#define REPORT_TRUST_H

#include "formats/profile/facts.h"
#include "formats/stack_stop.h"

struct trust {
	uint64_t samples;   /* that the report is made of, all events */
	uint64_t lost;      /* samples that are not in the file */
	uint64_t side_band; /* records of mappings, names and forks that are not */
	uint64_t managed, managed_unread; /* stacks of interpreters; without their frames, or beside the native ones */
	uint64_t throttled; /* times that the kernel stopped an event */
	uint64_t cut,
		shortened; /* stacks of the whole recording: by the snapshot's size; by the recorder */
	uint64_t broken, complete; /* stacks that should have gone on; that reach their root */
	uint64_t stops[STACK_STOPS];
	double named, unnamed; /* by leaf: the weight, each event's in units of its mean sample */
	uint32_t worst_module; /* profile module with the most of what is unnamed; PROFILE_NONE */
	bool complete_file;
	bool leaves_only; /* stacks were not recorded */
	bool sums_only; /* the input was a profile, which does not say what is missing */
};

/* Of @p at least the leaves are named. */
void trust_judge(struct trust *trust, const struct profile *p, const struct profile_facts *facts);

/* Shares: of all samples, those that were lost; of the weight, that whose leaf has no name (mean of the events by their samples). */
double trust_lost(const struct trust *trust);
double trust_unnamed(const struct trust *trust);

/* "lost 0, throttled 0, cut 1.2 %, broken 0.3 %, unnamed 0.1 %", in the arena. */
const char *trust_line(const struct trust *trust, struct arena *arena);

#endif

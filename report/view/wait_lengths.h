/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_lengths.h - how long waits took: their lengths, by the groups of one level.
 *
 * Lengths are kept one by one, 8 bytes each, so quantiles are exact. Zeroed, it is empty.
 */
#ifndef REPORT_WAIT_LENGTHS_H
#define REPORT_WAIT_LENGTHS_H

#include "formats/profile/facts.h"
#include "report/view/view.h"

#define WAIT_BUCKETS 48 /* bucket i holds what is at least 2^i ns and less than 2^(i+1) */

struct wait_group {
	const char *fields[VIEW_FIELDS_MAX];
	uint64_t total_ns;
	uint64_t errors; /* of system calls: that failed */
	VEC(uint64_t) lengths_ns; /* ascending */
	uint64_t buckets[WAIT_BUCKETS];
};

struct wait_lengths {
	struct arena arena;
	VEC(struct wait_group) groups; /* most time first */
	struct wait_group all;
};

/* Which waits of a profile, which has times, and into which groups. */
struct wait_lengths_request {
	uint32_t event; /* whose samples they are */
	struct view_level level;
	bool native; /* from the innermost frame on */
	bool idle;   /* waits of threads without work where they wait, not in a group of their own (idle_waits.h) */
};

void wait_lengths_collect(struct wait_lengths *w, const struct profile *p, const struct profile_facts *facts,
			  const struct wait_lengths_request *request);
void wait_lengths_deinit(struct wait_lengths *w);

/* The length that @part (0 to 1) of the waits do not exceed; 0 if there are none. */
uint64_t wait_group_quantile(const struct wait_group *group, double part);

#endif

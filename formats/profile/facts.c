/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.c - the times of samples are looked through once, and only where the input leaves something open.
 */
#include "formats/profile/facts.h"

void profile_facts_from_times(struct profile_facts *facts, const struct profile *p)
{
	struct time_cursor cursor = time_series_begin(&p->times);
	struct profile_time at;
	uint64_t first = UINT64_MAX, last = 0;

	if (!p->times.len || (facts->start_ns && facts->has_duration))
		return;
	while (time_series_next(&cursor, &at)) {
		first = MIN(first, at.time_ns);
		last = MAX(last, at.time_ns);
	}
	if (!facts->start_ns)
		facts->start_ns = first;
	if (!facts->has_duration && last > facts->start_ns) {
		facts->has_duration = true;
		facts->duration_ns = last - facts->start_ns;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.c - what the input leaves open follows from the times of samples.
 */
#include "formats/profile/facts.h"

void profile_facts_from_times(struct profile_facts *facts, const struct profile *p)
{
	uint64_t first = p->times.first_ns, last = p->times.last_ns;

	if (!p->times.len || (facts->start_ns && facts->has_duration))
		return;
	if (!facts->start_ns)
		facts->start_ns = first;
	if (!facts->has_duration && last > facts->start_ns) {
		facts->has_duration = true;
		facts->duration_ns = last - facts->start_ns;
	}
}

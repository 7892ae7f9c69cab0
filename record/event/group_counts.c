/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_counts.c - for each CPU and event the last reading, and the sum of what was others'.
 */
#include "record/event/group_counts.h"

#include "formats/base/memory.h"

#include <stdlib.h>

void group_counts_init(struct group_counts *g, size_t ncpus, size_t nevents)
{
	g->nevents = nevents;
	g->last = memory_zeroed(ncpus * nevents + 1, sizeof(*g->last));
	g->foreign = memory_zeroed(ncpus * nevents + 1, sizeof(*g->foreign));
}

void group_counts_deinit(struct group_counts *g)
{
	free(g->last);
	free(g->foreign);
	*g = (struct group_counts){ 0 };
}

void group_counts_skip(struct group_counts *g, size_t cpu, const struct event_count *counts,
		       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (counts[i].event >= g->nevents)
			continue;
		size_t at = cpu * g->nevents + counts[i].event;

		g->foreign[at].value += counts[i].value - g->last[at].value;
		g->foreign[at].enabled_ns += counts[i].enabled_ns - g->last[at].enabled_ns;
		g->foreign[at].running_ns += counts[i].running_ns - g->last[at].running_ns;
		g->last[at] = counts[i];
	}
}

void group_counts_keep(struct group_counts *g, size_t cpu, struct event_count *counts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (counts[i].event >= g->nevents)
			continue;
		size_t at = cpu * g->nevents + counts[i].event;

		g->last[at] = counts[i];
		counts[i].value -= g->foreign[at].value;
		counts[i].enabled_ns -= g->foreign[at].enabled_ns;
		counts[i].running_ns -= g->foreign[at].running_ns;
	}
}

uint64_t group_counts_own(const struct group_counts *g, size_t cpu, size_t event)
{
	size_t at = cpu * g->nevents + event;

	return g->last[at].value - g->foreign[at].value;
}

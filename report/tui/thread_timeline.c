/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_timeline.c - sums of weights by group and part of the time.
 */
#include "report/tui/thread_timeline.h"

#include "formats/base/memory.h"
#include "formats/profile/time_series.h"

#include <stdlib.h>

struct extent {
	uint64_t first_ns, last_ns;
};

static bool find_extent(const struct profile *p, struct extent *ret)
{
	struct time_cursor cursor = time_series_begin(&p->times);
	struct profile_time at;

	*ret = (struct extent){ UINT64_MAX, 0 };
	while (time_series_next(&cursor, &at)) {
		ret->first_ns = MIN(ret->first_ns, at.time_ns);
		ret->last_ns = MAX(ret->last_ns, at.time_ns);
	}
	return ret->first_ns <= ret->last_ns;
}

static unsigned part_of(const struct extent *extent, uint64_t time_ns)
{
	uint64_t len = extent->last_ns - extent->first_ns + 1;

	return (unsigned)((double)(time_ns - extent->first_ns) / (double)len * THREAD_TIMELINE_LEN);
}

static const char *line_of(const double *sums, double most, struct arena *arena)
{
	static const char shades[] = ".:-=+*#%@";
	char *text = arena_alloc(arena, THREAD_TIMELINE_LEN + 1);

	for (size_t i = 0; i < THREAD_TIMELINE_LEN; i++)
		text[i] = sums[i] <= 0 ? ' ' : shades[(size_t)(sums[i] / most * ((double)sizeof(shades) - 1.001))];
	text[THREAD_TIMELINE_LEN] = '\0';
	return text;
}

const char **thread_timelines(const struct profile *p, const uint32_t *group_of, size_t ngroups, struct arena *arena)
{
	const char **ret = ARENA_ARRAY(arena, const char *, ngroups + 1);
	double *sums = memory_zeroed(ngroups + 1, sizeof(*sums) * THREAD_TIMELINE_LEN), most = 0;
	struct time_cursor cursor = time_series_begin(&p->times);
	struct profile_time at;
	struct extent extent;
	bool known = find_extent(p, &extent);

	while (known && time_series_next(&cursor, &at)) {
		unsigned part = MIN(part_of(&extent, at.time_ns), THREAD_TIMELINE_LEN - 1u);

		if (group_of[at.row] == PROFILE_NONE)
			continue;
		double *sum = &sums[(size_t)group_of[at.row] * THREAD_TIMELINE_LEN + part];

		*sum += (double)at.weight;
		most = MAX(most, *sum);
	}
	for (size_t i = 0; i < ngroups; i++)
		ret[i] = known ? line_of(&sums[i * THREAD_TIMELINE_LEN], most, arena) : "no times";
	free(sums);
	return ret;
}

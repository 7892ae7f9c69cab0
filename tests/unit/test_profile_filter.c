/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_profile_filter.c - windows of profiles that were imported.
 */
#include "report/load/profile_filter.h"
#include "tests/unit/test.h"

#include <string.h>

TEST(profile_filter_sums_of_a_window_do_not_overflow_whatever_the_samples_are)
{
	struct profile *p = profile_new();
	struct filter filter = { .window = "0,1", .to_ns = 1000 };
	struct profile_sum matched = { 0 };

	profile_add_value_type(p, &(struct profile_value_type){ 0 });
	profile_add_thread(p, &(struct profile_thread){ .pid = 1, .tid = 1 });

	uint32_t row = profile_add_sample(p, &(struct profile_sample){ .count = 3, .weight = 1 });

	for (uint64_t i = 0; i < 3; i++)
		time_series_add(&p->times, &(struct profile_time){ .time_ns = i, .weight = INT64_MAX / 4 * 3, .row = row });
	CHECK_OK(profile_filter_apply(p, &filter, "file", &matched));
	CHECK_UINT(p->samples.items[0].count, 3);
	CHECK_UINT((uint64_t)p->samples.items[0].weight, INT64_MAX / 4 * 3);
	profile_free(p);
}

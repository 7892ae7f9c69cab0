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
	struct profile_facts facts = { .input = "file" };
	struct filter filter = { .window = "0," };
	struct profile_sum matched = { 0 };

	profile_add_value_type(p, &(struct profile_value_type){ 0 });
	profile_add_thread(p, &(struct profile_thread){ .pid = 1, .tid = 1 });

	uint32_t row = profile_add_sample(p, &(struct profile_sample){ .count = 3, .weight = 1 });

	for (uint64_t i = 0; i < 3; i++)
		time_series_add(&p->times, &(struct profile_time){ .time_ns = i, .weight = INT64_MAX / 4 * 3, .row = row });
	CHECK_OK(profile_filter_apply(p, &filter, &facts, &matched));
	CHECK_UINT(p->samples.items[0].count, 3);
	CHECK_UINT((uint64_t)p->samples.items[0].weight, INT64_MAX / 4 * 3);
	profile_free(p);
}

/* "a" and "b" of a profile of nothing but stacks. */
TEST(profile_filter_names_what_the_profile_lacks)
{
	const struct filter_range one = { 1, 1 };
	const struct filter_numbers numbers = { .ranges = { .items = (struct filter_range *)&one, .len = 1 } };
	const char *const list = "x";
	const struct opt_list globs = { .items = (const char **)&list, .len = 1 };
	const struct {
		struct filter filter;
		const char *says;
	} cases[] = {
		{ { .window = "0,1" }, "'file' has no times, so --time cannot choose samples" },
		{ { .pids = numbers }, "'file' has no process IDs, so --pid" },
		{ { .tids = numbers }, "'file' has no thread IDs, so --tid" },
		{ { .cpus = numbers }, "'file' has no CPUs, so --cpu" },
		{ { .comms = globs }, "'file' has no names of threads or processes, so --comm" },
		{ { .modules = globs }, "'file' has no modules, so --module" },
		{ { .wheres = globs }, "'file' has no labels, so --where" },
		{ { .min_wait_ns = 1 }, "'file' has no context switches, so --min-wait" },
	};
	const struct profile_facts facts = { .input = "file" };
	struct profile *p = profile_new();

	profile_add_value_type(p, &(struct profile_value_type){ 0 });
	profile_add_thread(p, &(struct profile_thread){ .pid = PROFILE_NONE, .tid = PROFILE_NONE });
	profile_add_sample(p, &(struct profile_sample){ .count = 1, .weight = 1, .cpu = PROFILE_NONE });
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct filter filter = cases[i].filter;
		struct profile_sum matched = { 0 };

		CHECK_ERR(profile_filter_apply(p, &filter, &facts, &matched), ERR_UNSUPPORTED, cases[i].says);
	}
	profile_free(p);
}

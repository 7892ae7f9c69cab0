/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_number.c - numbers as people read them.
 */
#include "report/print/number.h"

#include "tests/unit/test.h"

TEST(number_sum_says_what_was_counted)
{
	static const struct {
		const char *event, *unit, *want;
		uint64_t weight;
	} cases[] = {
		{ "cycles", "events", "12 samples, 1.50 k cycles", 1500 },
		{ "L1-dcache-load-misses:uppp", "events", "12 samples, 7 L1-dcache-load-misses", 7 },
		{ "cpu-clock", "ns", "12 samples, 1.50 us of CPU time", 1500 },
		{ "sched:sched_switch", "events", "12 samples, 7 events", 7 },
		{ "stalled-cycles-frontend", "events", "12 samples, 7 events", 7 },
		{ "cpu/event=0x76/", "events", "12 samples, 7 events", 7 },
		{ "inuse_space", "bytes", "12 samples, 7 bytes", 7 },
		{ "samples", "events", "12 samples", 12 },
		{ "samples", "events", "12 samples, together 1.50 k", 1500 },
		{ "", "events", "12 samples, 7 events", 7 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_deinit) struct arena arena = { 0 };
		struct profile_sum sum = { .weight = cases[i].weight, .count = 12 };

		CHECK_STR(number_sum(&arena, &sum, "", cases[i].event, cases[i].unit),
			  cases[i].want);
	}
}

TEST(number_extent_is_a_weight_where_samples_are_not_counted)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile_sum counted = { .count = 2, .weight = 3000000000, .weight_sq = 1 }, sums = counted;

	sums.weight_sq = PROFILE_UNCOUNTED;
	CHECK_STR(number_extent(&arena, &counted, "wait", "ns"), "2 waits");
	CHECK_STR(number_extent(&arena, &sums, "wait", "ns"), "3.00 s");
	CHECK_STR(number_extent(&arena, &sums, "sample", "Ir"), "3.00 G Ir");
	CHECK_STR(number_extent(&arena, &sums, "sample", ""), "3.00 G");
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stats.c - intervals against values worked out elsewhere, and against their own promise.
 */
#include "report/print/number.h"
#include "report/print/stats.h"
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>

static struct profile_sum equal(uint64_t count)
{
	return (struct profile_sum){ .count = count, .weight = count * 10, .weight_sq = (double)count * 100 };
}

TEST(stats_interval_is_wilsons)
{
	struct profile_sum part = equal(10), whole = equal(100);
	struct stats_share s = stats_share(&part, &whole);

	/* statsmodels.stats.proportion.proportion_confint(10, 100, method="wilson") */
	CHECK(fabs(s.share - 0.1) < 1e-12);
	CHECK(fabs(s.low - 0.05522914) < 1e-7);
	CHECK(fabs(s.high - 0.17436566) < 1e-7);
	CHECK_UINT(s.count, 10);
}

TEST(stats_interval_stays_within_nothing_and_all)
{
	struct profile_sum none = equal(0), whole = equal(20);
	struct stats_share s = stats_share(&none, &whole);

	CHECK(s.share == 0 && s.low == 0);
	CHECK(fabs(s.high - 0.16112516) < 1e-7);
	s = stats_share(&whole, &whole);
	CHECK(s.share == 1 && s.high == 1);
	CHECK(fabs(s.low - 0.83887484) < 1e-7);
	s = stats_share(&none, &none);
	CHECK(s.share == 0 && s.low == 0 && s.high == 1);
}

TEST(stats_unequal_weights_count_for_fewer_samples)
{
	struct profile_sum sum = { .count = 2, .weight = 4, .weight_sq = 10 }; /* periods 1 and 3 */

	CHECK(fabs(stats_effective_count(&sum) - 1.6) < 1e-12);
	CHECK(fabs(stats_effective_count(&(struct profile_sum){ .count = 7, .weight = 70, .weight_sq = 700 }) - 7) < 1e-12);
}

/* Draw samples with a known share many times: about 95 % of the intervals must hold it. */
TEST(stats_interval_holds_the_truth_at_its_rate)
{
	unsigned held = 0, trials = 2000;
	unsigned seed = 12345;

	for (unsigned t = 0; t < trials; t++) {
		struct profile_sum part = { 0 }, whole = { 0 };

		for (int i = 0; i < 400; i++) {
			uint64_t weight = 1 + (uint64_t)rand_r(&seed) % 4;
			bool in = rand_r(&seed) % 10 < 3;
			struct profile_sample row = { .count = 1,
						      .weight = weight,
						      .weight_sq = (double)(weight * weight) };

			stats_add(&whole, &row);
			if (in)
				stats_add(&part, &row);
		}
		struct stats_share s = stats_share(&part, &whole);

		held += s.low <= 0.3 && 0.3 <= s.high;
	}
	CHECK(held > trials * 93 / 100 && held < trials * 97 / 100);
}

TEST(stats_ratio_of_single_things_is_a_plain_share)
{
	struct stats_ratio r = { 0 };

	for (int i = 0; i < 100; i++)
		stats_ratio_add(&r, i < 10, 1);

	struct stats_share s = stats_ratio_share(&r);

	/* statsmodels.stats.proportion.proportion_confint(10, 100, method="wilson"), one per cent wider for 100/99 */
	CHECK(fabs(s.share - 0.1) < 1e-12);
	CHECK(fabs(s.low - 0.05522914) < 1e-3 && fabs(s.high - 0.17436566) < 1e-3);
	CHECK_UINT(s.count, 10);
}

/* Bunches of 20 that are all alike inside are worth no more than as many single things. */
TEST(stats_ratio_counts_bunches_that_are_alike_once)
{
	struct stats_ratio bunches = { 0 }, single = { 0 }, none = { 0 };

	for (int i = 0; i < 100; i++) {
		stats_ratio_add(&bunches, i < 30 ? 20 : 0, 20);
		stats_ratio_add(&single, i < 30, 1);
	}
	struct stats_share a = stats_ratio_share(&bunches), b = stats_ratio_share(&single);

	CHECK(fabs(a.low - b.low) < 1e-9 && fabs(a.high - b.high) < 1e-9);
	CHECK_UINT(a.count, 600);
	CHECK(stats_ratio_share(&none).high == 1 && stats_ratio_mean(&none).mean == 0);
	stats_ratio_add(&none, 5, 5);
	CHECK(stats_ratio_share(&none).low < 0.3); /* one bunch tells little */
}

/* Means of bunches whose size and level vary: about 95 % of the intervals hold the true one. */
TEST(stats_ratio_mean_holds_the_truth_at_its_rate)
{
	unsigned held = 0, trials = 1000, seed = 4711;

	for (unsigned t = 0; t < trials; t++) {
		struct stats_ratio r = { 0 };

		for (int i = 0; i < 300; i++) {
			double size = 1 + rand_r(&seed) % 8, level = rand_r(&seed) % 21;

			stats_ratio_add(&r, size * level, size);
		}
		struct stats_mean m = stats_ratio_mean(&r);

		held += m.low <= 10 && 10 <= m.high;
	}
	CHECK(held > trials * 92 / 100 && held < trials * 98 / 100);
}

TEST(number_formats_are_stable)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct stats_share s = { .share = 0.234, .low = 0.221, .high = 0.248, .count = 9 };

	CHECK_STR(number_count(&arena, 0), "0");
	CHECK_STR(number_count(&arena, 999), "999");
	CHECK_STR(number_count(&arena, 1234567), "1,234,567");
	CHECK_STR(number_count(&arena, UINT64_MAX), "18,446,744,073,709,551,615");
	CHECK_STR(number_time(&arena, 0), "0 s");
	CHECK_STR(number_time(&arena, 890000), "890 us");
	CHECK_STR(number_time(&arena, 999999), "1.00 ms");
	CHECK_STR(number_time(&arena, 12345678901), "12.3 s");
	CHECK_STR(number_time(&arena, 3600000000000), "3600 s");
	CHECK_STR(number_weight(&arena, 999, "events"), "999");
	CHECK_STR(number_weight(&arena, 999999, "events"), "1.00 M");
	CHECK_STR(number_weight(&arena, 1234567890, "events"), "1.23 G");
	CHECK_STR(number_weight(&arena, 1500000000, "ns"), "1.50 s");
	CHECK_STR(number_share(&arena, 0.2341), "23.4 %");
	CHECK_STR(number_share(&arena, 0.0001), "<0.1 %");
	CHECK_STR(number_share(&arena, 0.99999), ">99.9 %");
	CHECK_STR(number_share(&arena, 0), "0.0 %");
	CHECK_STR(number_share(&arena, 1), "100.0 %");
	CHECK_STR(number_interval(&arena, &s), "22.1-24.8");
	CHECK_STR(number_of(&arena, 1, "sample"), "1 sample");
	CHECK_STR(number_of(&arena, 2000, "sample"), "2,000 samples");
}

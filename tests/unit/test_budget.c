/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_budget.c - the CPU time that the recorder may have before all others.
 */
#include "formats/base/budget.h"
#include "tests/unit/test.h"

#define SECOND 1000000000ULL

/* Use @percent of a CPU in passes of 10 ms until it is empty; how long that took, at most 100 s. */
static uint64_t lasts_ns(uint64_t percent)
{
	struct budget b;
	uint64_t time = 5 * SECOND, start = time, used = 7 * SECOND;

	budget_init(&b, time, used);
	do {
		time += SECOND / 100;
		used += SECOND / 10000 * percent;
	} while (budget_charge(&b, time, used) && time < start + 100 * SECOND);
	return time - start;
}

TEST(budget_lasts_for_ever_below_its_rate_and_not_for_long_above)
{
	CHECK_UINT(lasts_ns(0), 100 * SECOND);
	CHECK_UINT(lasts_ns(29), 100 * SECOND);
	CHECK_UINT(lasts_ns(31), 60 * SECOND);
	CHECK_UINT(lasts_ns(60), 2 * SECOND);
	CHECK(lasts_ns(100) < SECOND);
}

TEST(budget_allows_a_burst_and_fills_again_in_two_idle_seconds)
{
	struct budget b;

	budget_init(&b, 0, 0);
	CHECK(budget_charge(&b, SECOND / 2, SECOND / 2));
	CHECK(!budget_is_full(&b));
	CHECK(!budget_charge(&b, 9 * SECOND, 9 * SECOND)); /* a debt is not kept */
	CHECK(budget_charge(&b, 10 * SECOND, 9 * SECOND));
	CHECK(!budget_is_full(&b));
	CHECK(budget_charge(&b, 11 * SECOND, 9 * SECOND));
	CHECK(budget_is_full(&b));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stack_thinning.c - every switch has its stack until there are too many, and again when they become fewer.
 */
#include "record/sample/stack_thinning.h"
#include "tests/unit/test.h"

#define SECOND 1000000000ull

/* @rate switches a second for @ns, looked at every 10 ms; the time after that. */
static uint64_t switches(struct stack_thinning *t, uint64_t from_ns, uint64_t rate, uint64_t ns)
{
	uint64_t now_ns = from_ns, since_stack = 0;

	for (; now_ns < from_ns + ns; now_ns += SECOND / 100) {
		for (uint64_t i = 0; i < rate / 100; i++) {
			if (++since_stack < (t->period ? t->period : 1))
				continue;
			stack_thinning_count(t, now_ns);
			since_stack = 0;
		}
		stack_thinning_decide(t, now_ns + SECOND / 100);
	}
	return now_ns;
}

TEST(stack_thinning_leaves_moderate_rates_alone)
{
	struct stack_thinning t = { 0 };

	switches(&t, SECOND, STACK_THINNING_RATE * 9 / 10, 3 * SECOND);
	CHECK(t.period <= 1);
	CHECK_UINT(t.most, 0);
}

TEST(stack_thinning_follows_a_high_rate_up_and_down_again)
{
	struct stack_thinning t = { 0 };
	uint64_t now_ns = switches(&t, SECOND, 300000, SECOND);

	CHECK(t.period >= 100 && t.period <= 700);
	CHECK_UINT(t.period % 2, 1);
	now_ns = switches(&t, now_ns, 100, 5 * SECOND);
	CHECK_UINT(t.period, 1);
	CHECK(t.most >= 100);
}

TEST(stack_thinning_tells_the_period_that_a_stack_was_taken_with)
{
	struct stack_thinning t = { 0 };

	stack_thinning_decide(&t, SECOND);
	for (int i = 0; i < 3000; i++)
		CHECK_UINT(stack_thinning_count(&t, SECOND + 1), 1);

	uint64_t period = stack_thinning_decide(&t, SECOND + SECOND / 100);

	CHECK(period > 1);
	CHECK_UINT(stack_thinning_count(&t, SECOND + 2), 1); /* it lay in the ring then */
	CHECK_UINT(stack_thinning_count(&t, SECOND + SECOND / 50), period);
}

/* A ring of 8 MiB holds 128 stacks of 64 KiB. */
TEST(stack_thinning_reacts_before_a_ring_has_filled_a_few_times)
{
	struct stack_thinning t = { 0 };

	for (uint64_t i = 0; i < 300; i++)
		stack_thinning_count(&t, SECOND + i * 50000);
	CHECK(stack_thinning_decide(&t, SECOND + 300 * 50000) >= 9); /* 20,000 a second */
}

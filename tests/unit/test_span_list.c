/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_span_list.c - spans that are too many become fewer, and no time is lost or made.
 */
#include "formats/profile/span_list.h"
#include "tests/unit/test.h"

static void add(struct span_list *list, uint32_t thread, uint64_t from_ns, uint64_t len_ns, bool runs)
{
	span_list_add(list, &(struct profile_span){ .thread = thread,
						    .waker = UINT32_MAX,
						    .count = 1,
						    .from_ns = from_ns,
						    .len_ns = len_ns,
						    .run_ns = runs ? len_ns : 0 });
}

TEST(span_list_joins_short_neighbours_and_keeps_sums)
{
	struct span_list list = { 0 };
	uint64_t ns = 0, run_ns = 0;
	uint32_t count = 0;

	for (uint64_t i = 0; i < 1000; i++) {
		add(&list, 1, i * 100, 100, i % 2);
		add(&list, 0, i * 100, 100, false);
	}
	add(&list, 1, 100000, 5000000, false);
	span_list_fit(&list, 3000);
	CHECK_UINT(list.spans.len, 2001);
	CHECK_UINT(list.step_ns, 0);

	span_list_fit(&list, 100);
	CHECK(list.spans.len <= 100);
	CHECK(list.step_ns > 0);
	for (size_t i = 0; i < list.spans.len; i++) {
		const struct profile_span *span = &list.spans.items[i];

		ns += span->len_ns;
		run_ns += span->run_ns;
		count += span->count;
		CHECK(i == 0 || span[-1].thread < span->thread || span[-1].from_ns + span[-1].len_ns == span->from_ns);
	}
	CHECK_UINT(ns, 5200000);
	CHECK_UINT(run_ns, 50000);
	CHECK_UINT(count, 2001);
	/* A long one stays by itself. */
	CHECK_UINT(list.spans.items[list.spans.len - 1].len_ns, 5000000);
	CHECK_UINT(list.spans.items[list.spans.len - 1].count, 1);
	span_list_deinit(&list);
}

/* What lies between was left out by who reads; room is bounded all the same. */
TEST(span_list_joins_across_gaps)
{
	struct span_list list = { 0 };

	for (uint64_t i = 0; i < 10; i++)
		add(&list, (uint32_t)(i % 2), i * 100, 90, true);
	span_list_fit(&list, 1);
	CHECK_UINT(list.spans.len, 2);
	CHECK_UINT(list.spans.items[0].len_ns, 890);
	CHECK_UINT(list.spans.items[0].run_ns, 450);
	CHECK_UINT(list.spans.items[1].from_ns, 100);
	span_list_deinit(&list);
}

/* Sums, whose parts may have been in any order, are one span. */
TEST(span_list_joins_sums)
{
	struct span_list list = { 0 };
	struct profile_span sum = { .thread = 1, .from_ns = 0, .len_ns = 10, .run_ns = 10 };

	span_list_add(&list, &sum);
	sum.from_ns = 10;
	sum.run_ns = 0;
	span_list_add(&list, &sum);
	CHECK_UINT(list.spans.len, 1);
	CHECK_UINT(list.spans.items[0].len_ns, 20);
	CHECK_UINT(list.spans.items[0].run_ns, 10);
	span_list_deinit(&list);
}

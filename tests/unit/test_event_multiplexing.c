/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_event_multiplexing.c - shares of time, and what must not look like a count.
 */
#include "report/view/multiplexing_text.h"
#include "tests/unit/test.h"

#include <string.h>

#define MS 1000000ULL

static struct event_multiplexing turns_of(uint64_t value, uint64_t enabled_ns, uint64_t running_ns)
{
	struct recording_count counts[2] = {
		{ .event = 0, .cpu = 0, .value = value, .enabled_ns = enabled_ns, .running_ns = running_ns },
		{ .event = 1, .cpu = 0, .value = 1, .enabled_ns = 1, .running_ns = 1 },
	};
	struct recording rec = { .counts = counts, .ncounts = 2 };

	return event_multiplexing_of(&rec, 0);
}

TEST(event_turns_are_shown_and_made_up_for)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct event_multiplexing turns = turns_of(1000, 100 * MS, 25 * MS);

	CHECK_STR(multiplexing_text_share(&turns, &arena), "25.0 %");
	CHECK_STR(multiplexing_text_value(&turns, &arena), "4,000");
	CHECK_STR(multiplexing_text_value_data(&turns, &arena), "4000");
	turns = turns_of(0, 100 * MS, 100 * MS);
	CHECK_STR(multiplexing_text_share(&turns, &arena), "100 %");
	CHECK_STR(multiplexing_text_value(&turns, &arena), "0");
}

TEST(event_turns_that_never_came_are_not_a_count_of_nothing)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct event_multiplexing turns = turns_of(0, 100 * MS, 0);

	CHECK(event_multiplexing_never(&turns));
	CHECK_STR(multiplexing_text_share(&turns, &arena), "never");
	CHECK_STR(multiplexing_text_value(&turns, &arena), "not counted");
	turns = turns_of(0, 0, 0);
	CHECK(!event_multiplexing_never(&turns));
	CHECK_STR(multiplexing_text_value(&turns, &arena), "");
}

TEST(event_turns_with_more_than_a_processor_can_count_are_impossible)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct event_multiplexing turns = turns_of(1ULL << 50, 100 * MS, 50 * MS);

	CHECK_STR(multiplexing_text_value(&turns, &arena), "impossible");
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_time_arg.c - all ways to say a arg, and what they come to on the clock of a recording.
 */
#include "report/view/time_arg.h"

#include "tests/unit/test.h"

#define S 1000000000ull

/* Monotonic 1000 s is 2026-11-21 14:03:20 UTC; recorded from 1010 s to 1030 s. */
static const struct profile_facts utc = {
	.start_ns = 1010 * S,
	.has_wall = true,
	.wall_ns = 1795269810 * S,
	.has_duration = true,
	.duration_ns = 20 * S,
};

static uint64_t resolve(const char *text, const struct profile_facts *facts)
{
	struct time_arg arg;
	uint64_t ns = 1;

	CHECK(time_arg_parse(text, &arg));
	CHECK_OK(time_arg_resolve(&arg, facts, 77, &ns));
	return ns / 1000000; /* milliseconds: seconds since 1970 leave doubles that much */
}

TEST(moments_are_seconds_shares_and_wall_clock)
{
	CHECK_UINT(resolve("0", &utc), 1010000);
	CHECK_UINT(resolve("1.5", &utc), 1011500);
	CHECK_UINT(resolve("500ms", &utc), 1010500);
	CHECK_UINT(resolve("25%", &utc), 1015000);
	CHECK_UINT(resolve("14:03:35", &utc), 1015000);
	CHECK_UINT(resolve("14:03:35.25", &utc), 1015250);
	CHECK_UINT(resolve("14:04", &utc), 1040000);
	CHECK_UINT(resolve("2026-11-21T14:03:35", &utc), 1015000);
	CHECK_UINT(resolve("2026-11-21 14:03:35.5", &utc), 1015500);
	CHECK_UINT(resolve("2026-11-21T14:03:35Z", &utc), 1015000);
	CHECK_UINT(resolve("2026-11-21T15:03:35+01:00", &utc), 1015000);
	CHECK_UINT(resolve("2026-11-21T04:33:35-0930", &utc), 1015000);
	CHECK_UINT(resolve("2026-11-21", &utc), 0); /* before the clock began */
}

TEST(moments_are_in_the_recorders_time_zone)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile_facts facts = utc;

	facts.has_utc_offset = true;
	facts.utc_offset_s = 3600;
	CHECK_UINT(resolve("15:03:35", &facts), 1015000);
	CHECK_UINT(resolve("2026-11-21T15:03:35", &facts), 1015000);
	CHECK_UINT(resolve("2026-11-21T14:03:35Z", &facts), 1015000);
	CHECK_STR(time_arg_wall_clock(&facts, 1010 * S, &arena), "2026-11-21 15:03:30.000 +01:00");
	facts.utc_offset_s = -9 * 3600 - 1800;
	CHECK_UINT(resolve("04:33:35", &facts), 1015000);
	CHECK_STR(time_arg_wall_clock(&facts, 1010 * S, &arena), "2026-11-21 04:33:30.000 -09:30");
}

TEST(moments_go_past_midnight)
{
	struct profile_facts facts = utc;

	facts.wall_ns += (9 * 3600 + 56 * 60 + 20) * S; /* began at 23:59:50 */
	CHECK_UINT(resolve("23:59:55", &facts), 1015000);
	CHECK_UINT(resolve("00:00:05", &facts), 1025000);
}

TEST(moments_that_cannot_be_are_refused)
{
	static const char *const wrong[] = { "x", "1x", "101%", "1.2.3", "-1", "24:00:00", "12:60",
					     "12:3", "1:02:03", "14:03:20x", "2026-13-01",
					     "2026-11-21T", "2026-11-21T14:03+25:00",
					     "2026-11-21T14:03Zx", "26-11-21", "nan", "inf", ":" };
	struct time_arg arg;

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		CHECK(!time_arg_parse(wrong[i], &arg));
}

TEST(moments_need_what_the_recording_may_not_have)
{
	struct profile_facts facts = { .start_ns = 5 };
	struct time_arg arg;
	uint64_t ns;

	CHECK(time_arg_parse("", &arg));
	CHECK_OK(time_arg_resolve(&arg, &facts, 77, &ns));
	CHECK_UINT(ns, 77);
	static const char *const texts[] = { "20%", "14:03:20", "2026-11-21" };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CHECK(time_arg_parse(texts[i], &arg));
		struct err *err = time_arg_resolve(&arg, &facts, 77, &ns);

		CHECK(err && err_kind(err) == ERR_UNSUPPORTED);
		err_free(err);
	}
}

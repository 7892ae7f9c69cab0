/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_time_series.c - what was added comes back, in order of time once it is sorted, in few bytes.
 */
#include "formats/profile/time_series.h"
#include "tests/unit/test.h"

#include <stdlib.h>

TEST(time_series_gives_back_what_was_added)
{
	static const struct profile_time entries[] = {
		{ .time_ns = UINT64_MAX, .weight = -5, .row = UINT32_MAX - 1 },
		{ .time_ns = 0, .weight = INT64_MAX, .row = 0, .has_duration = true },
		{ .time_ns = 7, .weight = INT64_MAX, .row = 3, .has_duration = true, .duration_ns = 9 },
		{ .time_ns = 7, .weight = INT64_MIN + 1, .row = 4 },
	};
	struct time_series series = { 0 };
	struct time_cursor cursor;
	struct profile_time at;

	for (size_t i = 0; i < ARRAY_LEN(entries); i++)
		time_series_add(&series, &entries[i]);
	cursor = time_series_begin(&series);
	for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
		CHECK(time_series_next(&cursor, &at));
		CHECK_UINT(at.time_ns, entries[i].time_ns);
		CHECK(at.weight == entries[i].weight);
		CHECK_UINT(at.row, entries[i].row);
		CHECK(at.has_duration == entries[i].has_duration);
		CHECK_UINT(at.duration_ns, entries[i].duration_ns);
	}
	CHECK(!time_series_next(&cursor, &at));
	time_series_deinit(&series);
}

TEST(time_series_keeps_the_rows_that_pass)
{
	static const uint32_t number_of[] = { UINT32_MAX, 0, UINT32_MAX, 1 };
	struct time_series series = { 0 };
	struct profile_time *all;

	for (uint32_t i = 0; i < 4; i++)
		time_series_add(&series, &(struct profile_time){ .time_ns = i, .row = i });
	time_series_renumber(&series, number_of);
	all = time_series_unpack(&series);
	CHECK_UINT(series.len, 2);
	CHECK_UINT(all[0].time_ns, 1);
	CHECK_UINT(all[1].time_ns, 3);
	CHECK_UINT(all[1].row, 1);
	free(all);
	time_series_deinit(&series);
}

/* 10 million in 150 MB: here 100,000, a millisecond apart, of 5,000 rows and one period. */
TEST(time_series_takes_less_than_15_bytes_a_sample)
{
	struct time_series series = { 0 };

	for (uint32_t i = 0; i < 100000; i++)
		time_series_add(&series, &(struct profile_time){ .time_ns = 1000000ull * i + i * 7919ull % 1000,
								 .row = i * 31u % 5000,
								 .weight = 1000000 });
	CHECK(series.packed.cap < 15 * 100000);
	time_series_deinit(&series);
}

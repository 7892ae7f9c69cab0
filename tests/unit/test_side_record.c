/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_side_record.c - the order of side-band records.
 */
#include "record/sample/side_record.h"
#include "tests/unit/test.h"

#include "formats/base/map.h"

#define COUNT 1000

/* @len records with times from a few values, sorted: each is there once, and none is later than the next. */
static void check_sorted(size_t len, uint64_t ntimes)
{
	struct side_record items[COUNT] = { 0 };
	struct side_records records = { items, len, COUNT };
	uint64_t orders = 0;

	for (size_t i = 0; i < len; i++)
		items[i] = (struct side_record){ .time_ns = map_hash(i) % ntimes, .order = i };
	side_records_sort(&records);
	for (size_t i = 0; i < len; i++) {
		CHECK_UINT(items[i].time_ns, map_hash(items[i].order) % ntimes);
		orders += items[i].order;
		if (i)
			CHECK(items[i - 1].time_ns < items[i].time_ns ||
			      (items[i - 1].time_ns == items[i].time_ns &&
			       items[i - 1].order < items[i].order));
	}
	CHECK_UINT(orders, len ? len * (len - 1) / 2 : 0);
}

TEST(side_records_come_by_time_and_as_they_came_where_that_is_equal)
{
	for (size_t len = 0; len < 40; len++) {
		check_sorted(len, 1);
		check_sorted(len, 7);
		check_sorted(len, UINT64_MAX);
	}
	check_sorted(COUNT, 50);
	check_sorted(COUNT, UINT64_MAX);
}

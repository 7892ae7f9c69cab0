/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_side_record.c - which side-band records a pass takes, and their order.
 */
#include "record/sample/side_record.h"
#include "tests/unit/test.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"

#include <linux/perf_event.h>
#include <string.h>

#define COUNT 1000

/* @len records with times from a few values, sorted: each is there once, and none is later than the next. */
static void check_sorted(size_t len, uint64_t ntimes)
{
	struct side_record items[COUNT] = { 0 };
	struct side_records records = { .items = items, .len = len, .cap = COUNT };
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

/* Rings over plain memory, with records that end with their time. */
#define RECORD  24
#define DATA    64 /* the third record wraps around the end */
#define NRINGS  2

struct bench {
	struct side_records records;
	struct perf_event_mmap_page pages[NRINGS];
	uint8_t data[NRINGS][DATA];
	struct ring rings[NRINGS];
};

static const struct perf_layout timed = { .sample_type = PERF_SAMPLE_TIME, .sample_id_all = true };

static struct bench *bench_new(void)
{
	struct bench *b = memory_zeroed(1, sizeof(*b));

	b->records.layout = &timed;
	for (size_t i = 0; i < NRINGS; i++)
		b->rings[i] = (struct ring){ .fd = -1, .page = &b->pages[i], .data = b->data[i], .data_len = DATA };
	return b;
}

static void bench_free(struct bench *b)
{
	side_records_deinit(&b->records);
	free(b);
}

/* As the kernel would. */
static void put(struct bench *b, size_t number, uint64_t time_ns)
{
	const struct perf_event_header header = { .type = PERF_RECORD_COMM, .size = RECORD };
	struct perf_event_mmap_page *page = &b->pages[number];
	uint8_t record[RECORD] = { 0 };

	memcpy(record, &header, sizeof(header));
	memcpy(record + RECORD - sizeof(time_ns), &time_ns, sizeof(time_ns));
	for (size_t i = 0; i < RECORD; i++)
		b->data[number][(page->data_head + i) % DATA] = record[i];
	page->data_head += RECORD;
}

/* What one pass takes, which ends at @until_ns. */
static void take(struct bench *b, uint64_t until_ns)
{
	side_records_reset(&b->records);
	for (size_t i = 0; i < NRINGS; i++)
		side_records_gather(&b->records, &b->rings[i], i, until_ns);
	side_records_sort(&b->records);
	for (size_t i = 0; i < NRINGS; i++)
		ring_release(&b->rings[i]);
}

static void check_record(const struct bench *b, size_t i, size_t ring, uint64_t time_ns)
{
	const struct side_record *side = &b->records.items[i];

	CHECK_UINT(side->ring, ring);
	CHECK_UINT(side->time_ns, time_ns);
	CHECK_UINT(side->len, RECORD);
	CHECK(memcmp(side->data + RECORD - sizeof(time_ns), &time_ns, sizeof(time_ns)) == 0);
}

TEST(side_records_from_after_the_pass_began_wait_for_the_next)
{
	struct bench *b = bench_new();

	put(b, 0, 10);
	put(b, 1, 20);
	put(b, 1, 35); /* a name, whose fork came into the other ring when that was read already */
	take(b, 30);
	CHECK_UINT(b->records.len, 2);
	check_record(b, 0, 0, 10);
	check_record(b, 1, 1, 20);
	CHECK_UINT(b->pages[1].data_tail, RECORD);
	put(b, 0, 30);
	put(b, 1, 40);
	take(b, 41);
	CHECK_UINT(b->records.len, 3);
	check_record(b, 0, 0, 30);
	check_record(b, 1, 1, 35);
	check_record(b, 2, 1, 40);
	CHECK_UINT(b->pages[1].data_tail, 3 * RECORD);
	take(b, UINT64_MAX);
	CHECK_UINT(b->records.len, 0);
	bench_free(b);
}

TEST(side_records_with_a_time_far_ahead_do_not_hold_up_others)
{
	struct bench *b = bench_new();

	put(b, 0, UINT64_MAX - 5);
	put(b, 0, 20);
	take(b, 30);
	CHECK_UINT(b->records.len, 2);
	check_record(b, 0, 0, 20);
	CHECK_UINT(b->records.items[1].time_ns, 29);
	CHECK_UINT(b->pages[0].data_tail, 2 * RECORD);
	bench_free(b);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ring.c - reading a ring that the test fills in the kernel's place.
 */
#include "record/event/ring.h"

#include "tests/unit/test.h"

#include <linux/perf_event.h>
#include <string.h>

#define LEN 256

/* A ring over plain memory. */
struct fake {
	struct perf_event_mmap_page page;
	uint8_t data[LEN];
	struct ring ring;
	uint8_t scratch[RING_RECORD_MAX];
};

static struct fake *fake_new(uint64_t start)
{
	static struct fake fake;

	memset(&fake, 0, sizeof(fake));
	fake.page.data_head = fake.page.data_tail = start;
	fake.ring =
		(struct ring){ .fd = -1, .page = &fake.page, .data = fake.data, .data_len = LEN };
	fake.ring.tail = start;
	return &fake;
}

/* Write a record of @len bytes that are all @fill. */
static void put(struct fake *f, uint16_t len, uint8_t fill)
{
	const struct perf_event_header header = { .type = fill, .size = len };
	uint8_t record[LEN];

	memset(record, fill, sizeof(record));
	memcpy(record, &header, sizeof(header));
	for (uint16_t i = 0; i < len; i++)
		f->data[(f->page.data_head + i) % LEN] = record[i];
	f->page.data_head += len;
}

TEST(ring_hands_out_records_in_order_and_gives_them_back)
{
	struct fake *f = fake_new(0);
	const uint8_t *data;
	size_t len;

	put(f, 16, 1);
	put(f, 40, 2);
	CHECK_UINT(ring_head(&f->ring), 56);
	CHECK(ring_next(&f->ring, 56, f->scratch, &data, &len));
	CHECK_UINT(len, 16);
	CHECK_UINT(data[0], 1);
	CHECK(data == f->data); /* in place */
	CHECK(ring_next(&f->ring, 56, f->scratch, &data, &len));
	CHECK_UINT(len, 40);
	CHECK_UINT(data[39], 2);
	CHECK(!ring_next(&f->ring, 56, f->scratch, &data, &len));
	CHECK_UINT(f->page.data_tail, 0);
	ring_release(&f->ring);
	CHECK_UINT(f->page.data_tail, 56);
}

TEST(ring_puts_together_what_wraps_around_the_end)
{
	for (uint64_t start = 7 * LEN; start < 8 * LEN; start += 8) {
		struct fake *f = fake_new(start);
		const uint8_t *data;
		size_t len;

		put(f, 64, 5);
		CHECK(ring_next(&f->ring, f->page.data_head, f->scratch, &data, &len));
		CHECK_UINT(len, 64);
		for (size_t i = 8; i < 64; i++)
			CHECK_UINT(data[i], 5);
	}
}

TEST(ring_stops_at_the_head_it_was_given)
{
	struct fake *f = fake_new(0);
	const uint8_t *data;
	size_t len;

	put(f, 16, 1);
	uint64_t head = ring_head(&f->ring);

	put(f, 16, 2);
	CHECK(ring_next(&f->ring, head, f->scratch, &data, &len));
	CHECK(!ring_next(&f->ring, head, f->scratch, &data, &len));
	CHECK(ring_next(&f->ring, ring_head(&f->ring), f->scratch, &data, &len));
	CHECK_UINT(data[0], 2);
}

TEST(ring_skips_what_cannot_be_a_record)
{
	static const uint16_t sizes[] = { 0, 7, 4000 };

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct fake *f = fake_new(0);
		const uint8_t *data;
		size_t len;

		put(f, 16, 1);
		memcpy(f->data + 6, &sizes[i], 2);
		put(f, 16, 2);
		CHECK(!ring_next(&f->ring, 32, f->scratch, &data, &len));
		CHECK_UINT(f->ring.skipped, 32);
		ring_release(&f->ring);
		CHECK_UINT(f->page.data_tail, 32);
		put(f, 16, 3);
		CHECK(ring_next(&f->ring, 48, f->scratch, &data, &len));
		CHECK_UINT(data[0], 3);
		CHECK_UINT(f->ring.skipped, 32);
	}
}

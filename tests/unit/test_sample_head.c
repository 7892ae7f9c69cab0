/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sample_head.c - heads of samples in a ring that the test fills in the kernel's place.
 */
#include "record/sample/sample_head.h"
#include "tests/unit/test.h"

#include <linux/perf_event.h>
#include <string.h>

#define LEN 256

struct bench {
	struct perf_event_mmap_page page;
	uint8_t data[LEN];
	struct ring ring;
};

static struct bench *bench_new(uint64_t start)
{
	static struct bench b;

	memset(&b, 0, sizeof(b));
	b.page.data_head = b.page.data_tail = start;
	b.ring = (struct ring){ .fd = -1, .page = &b.page, .data = b.data, .data_len = LEN, .tail = start };
	return &b;
}

/* A record of @type and @len bytes; a sample's process is 7 and its thread @tid. */
static void put(struct bench *b, uint32_t type, uint16_t len, uint32_t tid)
{
	struct perf_event_header header = { .type = type, .size = len };
	uint32_t numbers[4] = { 7, tid, 1000 + tid, 0 };
	uint8_t record[LEN] = { 0 };

	memcpy(record, &header, sizeof(header));
	memcpy(record + 24, numbers, sizeof(numbers));
	for (uint16_t i = 0; i < len; i++)
		b->data[(b->page.data_head + i) % LEN] = record[i];
	b->page.data_head += len;
}

TEST(sample_heads_are_those_of_all_samples_and_of_nothing_else)
{
	/* Somewhere a record wraps around the end. */
	for (uint64_t start = 3 * LEN; start < 4 * LEN; start += 8) {
		struct bench *b = bench_new(start);
		uint64_t pos = start;
		struct sample_head head;

		put(b, PERF_RECORD_SAMPLE, 48, 1);
		put(b, PERF_RECORD_LOST, 40, 99);
		put(b, PERF_RECORD_SAMPLE, 16, 98); /* too short to say whose it is */
		put(b, PERF_RECORD_SAMPLE, 64, 2);
		for (uint32_t tid = 1; tid <= 2; tid++) {
			CHECK(sample_head_next(&b->ring, &pos, b->page.data_head, &head));
			CHECK_UINT(head.pid, 7);
			CHECK_UINT(head.tid, tid);
			CHECK_UINT(head.time_ns, 1000 + tid);
			CHECK_UINT(head.len, tid == 1 ? 48 : 64);
			CHECK_UINT(head.pos, start + (tid == 1 ? 0 : 48 + 40 + 16));
		}
		CHECK(!sample_head_next(&b->ring, &pos, b->page.data_head, &head));
		CHECK_UINT(pos, b->page.data_head);
	}
}

TEST(sample_heads_end_where_the_drain_has_been_meanwhile_or_a_record_cannot_be_one)
{
	struct bench *b = bench_new(0);
	struct sample_head head;
	uint64_t pos = 0;

	put(b, PERF_RECORD_SAMPLE, 48, 1);
	put(b, PERF_RECORD_SAMPLE, 48, 2);
	b->page.data_tail = 48;
	CHECK(!sample_head_next(&b->ring, &pos, b->page.data_head, &head));
	CHECK_UINT(pos, 0);
	pos = 48;
	CHECK(sample_head_next(&b->ring, &pos, b->page.data_head, &head));
	CHECK_UINT(head.tid, 2);
	for (uint16_t size = 0; size < 8; size++) {
		memcpy(b->data + 48 + 6, &size, sizeof(size));
		pos = 48;
		CHECK(!sample_head_next(&b->ring, &pos, b->page.data_head, &head));
		CHECK_UINT(pos, 48);
	}
}

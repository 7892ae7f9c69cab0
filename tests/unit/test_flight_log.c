/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_flight_log.c - memory is bounded, and what is kept begins with a process snapshot.
 */
#include "formats/base/memory.h"
#include "record/output/flight_log.h"
#include "tests/unit/test.h"

#include <string.h>

static void flight_log_freep(struct flight_log **log)
{
	flight_log_free(*log);
}

/* A block of @len bytes whose last one is @mark. */
static void give(struct flight_log *log, size_t len, uint8_t mark)
{
	struct trace_sink sink = flight_log_sink(log);
	struct trace_block head = { .kind = TRACE_EVENTS, .major = 1 };
	CLEANUP(memory_freep) uint8_t *data = memory_zeroed(1, len);

	data[len - 1] = mark;
	CHECK(!sink.take(sink.context, &head, data, len));
}

struct addr_cache {
	char marks[64];
	size_t len;
	uint64_t sequence;
};

static struct err *see(void *context, const struct trace_block *block, const uint8_t *data,
		       size_t len)
{
	struct addr_cache *seen = context;

	CHECK_UINT(block->sequence, seen->sequence++);
	seen->marks[seen->len++] = (char)data[len - 1];
	return NULL;
}

static void check_written(const struct flight_log *log, const char *expected)
{
	struct addr_cache seen = { .marks = "" };
	struct trace_writer *w = trace_writer_new_to(&(struct trace_sink){ see, &seen });

	CHECK(!flight_log_write(log, w));
	CHECK_STR(seen.marks, expected);
	trace_writer_free(w);
}

TEST(flight_log_leaves_out_all_snapshots_but_the_first)
{
	CLEANUP(flight_log_freep) struct flight_log *log = flight_log_new(1 << 20);

	flight_log_begin_chapter(log, 1, NULL, 0);
	give(log, 100, 'A');
	flight_log_snapshot_ends(log);
	give(log, 100, 'a');
	flight_log_begin_chapter(log, 2, NULL, 0);
	give(log, 100, 'B');
	flight_log_snapshot_ends(log);
	give(log, 100, 'b');
	check_written(log, "Aab");
}

TEST(flight_log_drops_the_oldest_chapter_when_memory_is_used_up)
{
	CLEANUP(flight_log_freep) struct flight_log *log = flight_log_new(8000);
	const struct recording_count *counts;
	struct recording_count row = { .samples = 1 };

	for (uint64_t i = 0; i < 100; i++) {
		row.samples = i;
		flight_log_begin_chapter(log, i, &row, 1);
		give(log, 100, 'L');
		flight_log_snapshot_ends(log);
		while (!flight_log_chapter_is_full(log))
			give(log, 500, (uint8_t)('a' + i % 26));
		CHECK(flight_log_len(log) <= 8000);
	}
	CHECK_UINT(flight_log_start(log, &counts), 93);
	CHECK_UINT(counts->samples, 93);
	check_written(log, "Lppqqrrssttuuvv");
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftrace_page.c - entries are cut out one by one; what is in them is up to the formats of their events.
 */
#include "formats/perf/ftrace_page.h"

#define COMMIT_LEN  0x7ffffffu
#define HAS_MISSING (1u << 31)
#define HAS_COUNT   (1u << 30)

#define TIME_BITS    27
#define ABSOLUTE_LOW ((UINT64_C(1) << 59) - 1) /* the bits that an absolute time has */

enum entry_type {
	ENTRY_LONG = 0,
	ENTRY_PADDING = 29,
	ENTRY_TIME_EXTEND = 30,
	ENTRY_TIME_STAMP = 31,
};

static uint64_t read_long(struct reader *r, uint32_t long_len, const char *what)
{
	return long_len == 4 ? reader_u32(r, what) : reader_u64(r, what);
}

struct err *ftrace_page_begin(struct ftrace_page *page, const struct tracing_data_page *layout, const uint8_t *data,
			      size_t len, uint64_t offset)
{
	struct reader r;

	reader_init(&r, data, len, /* big_endian= */ false);
	r.offset = offset;
	*page = (struct ftrace_page){ .time = reader_u64(&r, "time of a page") };
	uint64_t commit = read_long(&r, layout->long_len, "length of a page's entries");

	reader_skip(&r, layout->data_offset - 8 - layout->long_len, "header of a page");
	page->entries = reader_slice(&r, commit & COMMIT_LEN, "entries of a page");
	page->has_missing = commit & HAS_MISSING;
	if (page->has_missing && commit & HAS_COUNT)
		page->missing = read_long(&r, layout->long_len, "number of missing entries");
	return reader_check(&r);
}

/* An absolute time counts on from the last one: its uppermost bits may have changed since. */
static uint64_t complete_time(uint64_t low, uint64_t last)
{
	uint64_t time = (last & ~ABSOLUTE_LOW) | low;

	return last & ~ABSOLUTE_LOW && time < last ? time + ABSOLUTE_LOW + 1 : time;
}

/* A time of 0 and nothing: the rest of the page is empty. */
static void skip_padding(struct reader *r, uint32_t delta)
{
	uint32_t len = delta ? reader_u32(r, "length of padding") : (uint32_t)reader_left(r);

	if (delta && len < 4)
		reader_fail(r, "length of padding");
	reader_skip(r, delta ? len - 4 : len, "padding");
}

bool ftrace_page_next(struct ftrace_page *page, struct ftrace_entry *ret)
{
	struct reader *r = &page->entries;

	while (reader_left(r)) {
		uint32_t word = reader_u32(r, "entry"), type = word & 31, delta = word >> 5;
		uint32_t len = 4 * type;

		if (type == ENTRY_TIME_STAMP) {
			page->time = complete_time((uint64_t)reader_u32(r, "time of an entry") << TIME_BITS | delta, page->time);
			continue;
		}
		page->time += delta;
		if (type == ENTRY_TIME_EXTEND) {
			page->time += (uint64_t)reader_u32(r, "time of an entry") << TIME_BITS;
			continue;
		}
		if (type == ENTRY_PADDING) {
			skip_padding(r, delta);
			continue;
		}
		if (type == ENTRY_LONG) {
			len = reader_u32(r, "length of an entry");
			if (len < 4)
				reader_fail(r, "length of an entry");
			len = (len - 4 + 3) & ~3u;
		}
		*ret = (struct ftrace_entry){ .time = page->time, .data = reader_bytes(r, len, "entry"), .len = len };
		return !r->failed;
	}
	return false;
}

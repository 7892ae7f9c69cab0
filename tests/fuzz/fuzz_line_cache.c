/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_line_cache.c - the input as an entry of the cache and as the table in one: what is accepted has its ranges in order, and
 * says the same after it was packed anew, as it is when something is added.
 */
#include "tests/fuzz/fuzz.h"

#include "symbolize/name/line_cache.h"

#include <string.h>

static const uint8_t stamp[LINE_CACHE_STAMP_LEN];

static struct line_table_maker *repeat(const struct line_table *table, size_t len)
{
	struct line_table_maker *maker = line_table_maker_new();
	struct debug_frame frames[DEBUG_INFO_FRAMES_MAX];
	uint64_t begin, end, last = 0;

	for (size_t i = 0; line_table_range(table, i, &begin, &end); i++) {
		size_t count = line_table_find(table, begin, frames);

		CHECK(i < len && last <= begin && begin < end);
		CHECK(count && count <= DEBUG_INFO_FRAMES_MAX);
		line_table_maker_add(maker, begin, end, frames, count);
		last = end;
	}
	return maker;
}

static void check_same(const struct line_table *a, const struct line_table *b)
{
	struct debug_frame x[DEBUG_INFO_FRAMES_MAX], y[DEBUG_INFO_FRAMES_MAX];
	uint64_t begin, end;

	for (size_t i = 0; line_table_range(a, i, &begin, &end); i++) {
		size_t count = line_table_find(a, end - 1, x);

		CHECK(line_table_find(b, end - 1, y) == count);
		CHECK(x[0].line == y[0].line && x[count - 1].line == y[count - 1].line);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct line_table *table = NULL, *again;
	struct line_table_maker *maker;
	struct writer out = { 0 };

	line_table_free(line_cache_unpack(data, len, stamp));
	err_free(line_table_new(data, len, &table));
	if (!table)
		return 0;
	maker = repeat(table, len);
	line_cache_pack(maker, stamp, &out);
	again = line_cache_unpack(out.data, out.len, stamp);
	CHECK(again);
	check_same(table, again);
	line_table_free(again);
	line_table_free(table);
	line_table_maker_free(maker);
	writer_deinit(&out);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_lines.c - line tables: a section in which every fourth offset may be where a unit's table begins. What
 * they list is found again, and all together no more is read than the budget allows.
 */
#include "tests/fuzz/fuzz.h"

#include "symbolize/debug/lines.h"

#include "formats/base/vec.h"

#include <string.h>

#define TABLES_MAX 64

static void check_ranges(struct debug_lines *lines, const struct debug_ranges *ranges, size_t len)
{
	struct debug_position position;

	CHECK(ranges->len <= len); /* every sequence took an opcode */
	for (size_t i = 0; i < ranges->len && i < 64; i++) {
		struct layer range = ranges->items[i];

		CHECK(range.begin < range.end);
		CHECK(debug_lines_find(lines, range.end - 1, &position));
		const char *file = debug_lines_file(lines, position.file);

		CHECK(!file || strlen(file) <= len + 3 * (size_t)4096);
		CHECK(debug_lines_file(lines, position.file) == file);
	}
}

static void check_table(struct debug_unit *unit, uint64_t offset, size_t len)
{
	struct debug_ranges ranges = { 0 };

	unit->line_offset = offset;
	struct debug_lines *lines = debug_lines_new(unit);

	debug_lines_ranges(lines, &ranges);
	check_ranges(lines, &ranges, len);
	vec_deinit(&ranges);
	debug_lines_free(lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct debug_source source = { 0 };
	struct debug_unit unit = {
		.source = &source,
		.version = 5,
		.sizes = { .addr = 8, .offset = 4, .ref_addr = 4 },
		.has_lines = true,
		.comp_dir = "/build",
	};

	source.sections[DEBUG_LINE] = (struct debug_bytes){ data, len };
	source.sections[DEBUG_LINE_STR] = source.sections[DEBUG_LINE];
	source.sections[DEBUG_STR] = source.sections[DEBUG_LINE];
	debug_source_ready(&source);
	uint64_t budget = source.line_budget;

	for (uint64_t i = 0; i < TABLES_MAX && 4 * i < len; i++)
		check_table(&unit, 4 * i, len);
	CHECK(source.line_budget <= budget);
	debug_source_deinit(&source);
	return 0;
}

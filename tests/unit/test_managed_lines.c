/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_managed_lines.c - tables that CPython made of one function, line 300 and on, and what its own dis module says of them.
 */
#include "record/managed/managed_lines.h"

#include "tests/unit/test.h"

static const uint8_t lnotab_3_6[] = { 0x00, 0x01, 0x04, 0x02, 0x02, 0x01, 0x06, 0x01, 0x0e, 0x01, 0x0c, 0x02 };
static const uint8_t lnotab_3_9[] = { 0x00, 0x01, 0x04, 0x02, 0x02, 0x01, 0x02, 0xff, 0x04, 0x02, 0x0c, 0x01,
				      0x0a, 0x02 };
static const uint8_t linetable_3_10[] = { 0x04, 0x01, 0x02, 0x02, 0x02, 0x01, 0x04, 0xff, 0x0c, 0x02, 0x0a, 0x01,
					  0x04, 0x02 };
static const uint8_t locations_3_13[] = {
	0x80, 0x00, 0xd8, 0x08, 0x09, 0x80, 0x41, 0xe0, 0x09, 0x0a, 0xd8, 0x09, 0x0a, 0xf1, 0x03, 0x01,
	0x0a, 0x0b, 0x80, 0x41, 0xe4, 0x0d, 0x12, 0x90, 0x31, 0x8e, 0x58, 0x88, 0x01, 0xd8, 0x08, 0x09,
	0x89, 0x06, 0x8a, 0x01, 0xf1, 0x03, 0x00, 0x0e, 0x16, 0xf0, 0x06, 0x00, 0x0c, 0x0d, 0x80, 0x48,
};

struct expected {
	uint32_t offset, line;
};

static void check(enum managed_lines_form form, const uint8_t *table, size_t len,
		  const struct expected *expected, size_t count)
{
	CLEANUP(managed_lines_deinit) struct managed_lines lines = { 0 };

	managed_lines_decode(&lines, form, guarded(table, len), len, 300);
	for (size_t i = 0; i < count; i++)
		CHECK_UINT(managed_lines_find(&lines, expected[i].offset), expected[i].line);
}

#define CHECK_TABLE(form, table, ...)                                                        \
	do {                                                                                 \
		static const struct expected expected[] = { __VA_ARGS__ };                   \
		check(form, table, sizeof(table), expected, ARRAY_LEN(expected));            \
	} while (0)

TEST(managed_lines_of_python_3_6_are_those_that_dis_says)
{
	CHECK_TABLE(MANAGED_LINES_LNOTAB, lnotab_3_6, { 0, 301 }, { 2, 301 }, { 4, 303 }, { 6, 304 },
		    { 12, 305 }, { 24, 305 }, { 26, 306 }, { 38, 308 }, { 40, 308 });
}

TEST(managed_lines_of_python_3_9_go_back_too)
{
	CHECK_TABLE(MANAGED_LINES_LNOTAB, lnotab_3_9, { 0, 301 }, { 4, 303 }, { 6, 304 }, { 8, 303 },
		    { 12, 305 }, { 24, 306 }, { 34, 308 });
}

TEST(managed_lines_of_python_3_10_are_those_that_dis_says)
{
	CHECK_TABLE(MANAGED_LINES_LINETABLE, linetable_3_10, { 0, 301 }, { 4, 303 }, { 6, 304 },
		    { 8, 303 }, { 12, 305 }, { 24, 306 }, { 34, 308 });
}

TEST(managed_lines_of_python_3_13_are_those_that_dis_says)
{
	CHECK_TABLE(MANAGED_LINES_LOCATIONS, locations_3_13, { 0, 300 }, { 2, 301 }, { 4, 301 },
		    { 6, 303 }, { 8, 304 }, { 10, 303 }, { 16, 305 }, { 44, 306 }, { 56, 305 },
		    { 60, 308 });
}

TEST(managed_lines_of_code_without_a_line_are_zero)
{
	static const uint8_t linetable[] = { 0x02, 0x80, 0x02, 0x01 };
	static const uint8_t locations[] = { 0xf8, 0xe8, 0x02 };

	CHECK_TABLE(MANAGED_LINES_LINETABLE, linetable, { 0, 0 }, { 2, 301 });
	CHECK_TABLE(MANAGED_LINES_LOCATIONS, locations, { 0, 0 }, { 2, 301 });
}

TEST(managed_lines_of_any_bytes_end_with_them)
{
	uint8_t bytes[200];
	unsigned seed = 1;

	for (int round = 0; round < 3000; round++) {
		size_t len = (size_t)rand_r(&seed) % sizeof(bytes);

		for (size_t i = 0; i < len; i++)
			bytes[i] = (uint8_t)(rand_r(&seed) >> 7);
		for (int form = 0; form <= MANAGED_LINES_LOCATIONS; form++) {
			CLEANUP(managed_lines_deinit) struct managed_lines lines = { 0 };

			managed_lines_decode(&lines, (enum managed_lines_form)form,
					     guarded(bytes, len), len, (uint32_t)rand_r(&seed));
			CHECK(lines.ranges.len <= len + 1);
		}
	}
}

TEST(managed_lines_that_are_none_find_nothing)
{
	struct managed_lines lines = { 0 };

	CHECK_UINT(managed_lines_find(&lines, 0), 0);
	CHECK_UINT(managed_lines_find(&lines, UINT32_MAX), 0);
}

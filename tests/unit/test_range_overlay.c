/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "symbolize/module/range_overlay.h"

static const struct layer nested[] = {
	{ 10, 100 }, { 20, 60 }, { 30, 40 }, { 30, 40 }, { 55, 80 },
};

TEST(layers_show_what_was_laid_last)
{
	struct range_overlay *l = range_overlay_new(nested, ARRAY_LEN(nested));

	CHECK_UINT(range_overlay_find(l, 9), RANGE_OVERLAY_NONE);
	CHECK_UINT(range_overlay_find(l, 10), 0);
	CHECK_UINT(range_overlay_find(l, 20), 1);
	CHECK_UINT(range_overlay_find(l, 30), 3);
	CHECK_UINT(range_overlay_find(l, 39), 3);
	CHECK_UINT(range_overlay_find(l, 40), 1);
	CHECK_UINT(range_overlay_find(l, 54), 1);
	CHECK_UINT(range_overlay_find(l, 55), 4);
	CHECK_UINT(range_overlay_find(l, 79), 4);
	CHECK_UINT(range_overlay_find(l, 80), 0);
	CHECK_UINT(range_overlay_find(l, 99), 0);
	CHECK_UINT(range_overlay_find(l, 100), RANGE_OVERLAY_NONE);
	CHECK_UINT(range_overlay_next(l, 0), 10);
	CHECK_UINT(range_overlay_next(l, 10), 20);
	CHECK_UINT(range_overlay_next(l, 39), 40);
	CHECK_UINT(range_overlay_next(l, 79), 80);
	CHECK_UINT(range_overlay_next(l, 80), 100);
	CHECK_UINT(range_overlay_next(l, 100), UINT64_MAX);
	range_overlay_free(l);
}

TEST(layers_without_ranges_cover_nothing)
{
	static const struct layer empty[] = { { 5, 5 }, { 9, 3 } };
	struct range_overlay *none = range_overlay_new(NULL, 0);
	struct range_overlay *l = range_overlay_new(empty, ARRAY_LEN(empty));

	CHECK_UINT(range_overlay_find(none, 5), RANGE_OVERLAY_NONE);
	CHECK_UINT(range_overlay_find(l, 5), RANGE_OVERLAY_NONE);
	CHECK_UINT(range_overlay_find(l, UINT64_MAX), RANGE_OVERLAY_NONE);
	range_overlay_free(none);
	range_overlay_free(l);
}

/* Any ranges at all: the answer is the last one that holds the address. */
TEST(layers_agree_with_looking_at_each_range)
{
	struct layer ranges[40];
	uint64_t seed = 1;

	for (int round = 0; round < 200; round++) {
		for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			ranges[i].begin = seed >> 40 & 63;
			ranges[i].end = ranges[i].begin + (seed >> 50 & 15);
		}
		struct range_overlay *l = range_overlay_new(ranges, ARRAY_LEN(ranges));

		for (uint64_t addr = 0; addr < 90; addr++) {
			uint32_t want = RANGE_OVERLAY_NONE;

			for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
				if (addr >= ranges[i].begin && addr < ranges[i].end)
					want = (uint32_t)i;
			}
			CHECK_UINT(range_overlay_find(l, addr), want);
		}
		range_overlay_free(l);
	}
}

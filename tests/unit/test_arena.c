/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/arena.h"

#include <string.h>

TEST(arena_hands_out_zeroed_aligned_memory_that_does_not_overlap)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	uint8_t *blocks[600];

	for (size_t i = 0; i < ARRAY_LEN(blocks); i++) {
		blocks[i] = arena_alloc(&arena, i * 7);
		CHECK_UINT((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
		for (size_t k = 0; k < i * 7; k++)
			CHECK(blocks[i][k] == 0);
		memset(blocks[i], (int)i, i * 7);
	}
	for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
		for (size_t k = 0; k < i * 7; k++)
			CHECK(blocks[i][k] == (uint8_t)i);
	CHECK(arena.used >= 600 * 599 / 2 * 7);
}

TEST(arena_reset_hands_out_zeroed_memory_again)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	arena_reset(&arena);
	for (int round = 0; round < 3; round++) {
		for (size_t len = 1; len < 100000; len *= 3) {
			char *block = arena_alloc(&arena, len);

			CHECK(block[0] == 0 && block[len - 1] == 0);
			memset(block, 'x', len);
		}
		arena_reset(&arena);
		CHECK_UINT(arena.used, 0);
	}
}

TEST(arena_copies_text_and_bytes)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	CHECK_STR(arena_strdup(&arena, "name"), "name");
	CHECK_STR(arena_memdup(&arena, guarded("name", 2), 2), "na");
	CHECK_STR(arena_memdup(&arena, NULL, 0), "");
	CHECK_STR(arena_printf(&arena, "%s-%d", "a", 5), "a-5");
	CHECK_STR(arena_printf(&arena, "%s", ""), "");
	CHECK_UINT(strlen(arena_printf(&arena, "%*d", 50000, 1)), 50000);
	CHECK_UINT(ARENA_ARRAY(&arena, uint64_t, 3)[2], 0);
}

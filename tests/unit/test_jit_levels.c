/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/name/jit_levels.h"

#include "formats/base/memory.h"
#include "tests/unit/test.h"

#include <stdlib.h>

TEST(jit_levels_lie_above_what_they_replace_and_addresses_are_on_what_was_there)
{
	struct jit_level_piece pieces[] = {
		{ .start = 100, .end = 200 }, { .start = 300, .end = 400 }, { .start = 150, .end = 250 },
		{ .start = 180, .end = 190 }, { .start = 250, .end = 300 }, { .start = 180, .end = 190, .again = true },
	};
	struct jit_level_address addresses[] = {
		{ .ip = 185, .npieces = 0 }, { .ip = 185, .npieces = 1 }, { .ip = 185, .npieces = 3 }, { .ip = 120, .npieces = 4 },
		{ .ip = 185, .npieces = 4 }, { .ip = 189, .npieces = 6 }, { .ip = 190, .npieces = 6 }, { .ip = 999, .npieces = 6 },
	};
	static const uint32_t levels[] = { 0, 0, 1, 2, 0, 2 }, at[] = { 0, 0, 1, 0, 2, 2, 1, 0 };

	jit_levels_find(pieces, ARRAY_LEN(pieces), addresses, ARRAY_LEN(addresses));
	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		CHECK_UINT(pieces[i].level, levels[i]);
	for (size_t i = 0; i < ARRAY_LEN(at); i++)
		CHECK_UINT(addresses[i].level, at[i]);
}

/* Against a table of every address. */
TEST(jit_levels_are_those_of_a_walk_over_all_addresses)
{
	enum { PIECES = 60, SPACE = 128 };
	uint64_t seed = 1;

	for (unsigned round = 0; round < 200; round++) {
		struct jit_level_piece pieces[PIECES];
		uint32_t top[SPACE] = { 0 }; /* level + 1 */

		for (size_t i = 0; i < PIECES; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			pieces[i] = (struct jit_level_piece){ .start = (seed >> 33) % SPACE };
			pieces[i].end = MIN(pieces[i].start + 1 + (seed >> 50) % 20, (uint64_t)SPACE);
		}
		jit_levels_find(pieces, PIECES, NULL, 0);
		for (size_t i = 0; i < PIECES; i++) {
			uint32_t below = 0;

			for (uint64_t at = pieces[i].start; at < pieces[i].end; at++)
				below = MAX(below, top[at]);
			CHECK_UINT(pieces[i].level, MIN(below, CODE_PLACE_LEVELS - 1));
			for (uint64_t at = pieces[i].start; at < pieces[i].end; at++)
				top[at] = MAX(top[at], pieces[i].level + 1);
		}
	}
}

TEST(jit_levels_of_nothing)
{
	struct jit_level_address address = { .ip = 7, .level = 3 };

	jit_levels_find(NULL, 0, &address, 1);
	CHECK_UINT(address.level, 0);
}

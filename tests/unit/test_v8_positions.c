/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_v8_positions.c - tables made by hand: what they say, and that any bytes lead to an end.
 */
#include "record/runtime/v8_positions.h"

#include "formats/base/compiler.h"
#include "tests/unit/test.h"

#include <string.h>

static size_t put(uint8_t *table, size_t at, int64_t value)
{
	uint64_t digits = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);

	for (; digits >= 0x80; digits >>= 7)
		table[at++] = (uint8_t)(digits | 0x80);
	table[at++] = (uint8_t)digits;
	return at;
}

static uint64_t packed(uint32_t at, int inlining)
{
	return (uint64_t)(at + 1) << 1 | (uint64_t)(inlining + 1) << 31;
}

/* Offsets 4, 10 and 300, the second one no statement. */
static size_t make_table(uint8_t *table)
{
	size_t len = put(table, 0, 4);

	len = put(table, len, (int64_t)packed(100, V8_NOT_INLINED));
	len = put(table, len, -6 - 1);
	len = put(table, len, (int64_t)(packed(50, 2) - packed(100, V8_NOT_INLINED)));
	len = put(table, len, 290);
	return put(table, len, (int64_t)(packed(70000, V8_NOT_INLINED) - packed(50, 2)));
}

TEST(v8_positions_are_those_of_the_entry_at_or_before_an_offset)
{
	static const struct {
		uint64_t offset;
		uint32_t at;
		int32_t inlining;
	} cases[] = { { 4, 100, -1 }, { 9, 100, -1 }, { 10, 50, 2 }, { 299, 50, 2 }, { 300, 70000, -1 }, { 1 << 20, 70000, -1 } };
	uint8_t table[64];
	size_t len = make_table(table);
	struct v8_position found;

	CHECK(!v8_positions_find(&(struct v8_positions){ table, len, 0 }, 3, &found));
	CHECK(!v8_positions_find(&(struct v8_positions){ NULL, 0, 0 }, 3, &found));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CHECK(v8_positions_find(&(struct v8_positions){ guarded(table, len), len, 0 }, cases[i].offset, &found));
		CHECK_UINT(found.at, cases[i].at);
		CHECK_INT(found.inlining, cases[i].inlining);
	}
}

TEST(v8_positions_of_version_14_have_a_flag_behind_the_offset)
{
	uint8_t table[16];
	size_t len = put(table, 0, 4 << 1 | 1);
	struct v8_position found;

	len = put(table, len, (int64_t)packed(100, V8_NOT_INLINED));
	len = put(table, len, -(6 << 1 | 1) - 1);
	len = put(table, len, (int64_t)(packed(200, V8_NOT_INLINED) - packed(100, V8_NOT_INLINED)));
	const struct v8_positions positions = { table, len, 1 };

	CHECK(!v8_positions_find(&positions, 3, &found));
	CHECK(v8_positions_find(&positions, 9, &found));
	CHECK_UINT(found.at, 100);
	CHECK(v8_positions_find(&positions, 10, &found));
	CHECK_UINT(found.at, 200);
}

/* Bytecodes 4 and 5 have lengths 1 and 3, wide 1 and 5, extra wide 1 and 9. */
TEST(v8_positions_of_baseline_code_walk_bytecodes_and_their_code_together)
{
	static const uint8_t sizes[] = { 1, 1, 1, 1, 1, 3, 1, 1, 1, 1, 1, 5, 1, 1, 1, 1, 1, 9 };
	static const uint8_t bytes[] = { 4, 5, 0, 0, /* wide */ 0, 5, 0, 0, 0, 0, /* extra wide */ 1, 5, 0, 0, 0, 0, 0, 0, 0, 0, 4 };
	static const uint8_t table[] = { 20, 10, 7, 30, 8, 2 };
	static const struct {
		uint64_t pc;
		uint32_t offset;
	} cases[] = { { 0, 0 }, { 29, 0 }, { 30, 1 }, { 36, 1 }, { 37, 4 }, { 66, 4 }, { 67, 10 }, { 75, 20 } };
	struct v8_bytecode b = { bytes, sizeof(bytes), sizes, 6 };
	uint32_t offset;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CHECK(v8_positions_baseline(table, sizeof(table), &b, cases[i].pc, &offset));
		CHECK_UINT(offset, cases[i].offset);
	}
	CHECK_UINT(v8_positions_prologue(table, sizeof(table)), 20);
	CHECK_UINT(v8_positions_prologue(table, 0), 0);
	b.len = 7; /* ends in the middle */
	CHECK(!v8_positions_baseline(table, sizeof(table), &b, 75, &offset));
	CHECK(!v8_positions_baseline(table, 0, &b, 0, &offset));
	b.nbytecodes = 0;
	CHECK(!v8_positions_baseline(table, sizeof(table), &b, 0, &offset));
}

TEST(v8_positions_survive_any_bytes)
{
	uint8_t bytes[64], sizes[48];
	struct v8_position at;
	uint64_t seed = 1;
	uint32_t offset;

	for (unsigned round = 0; round < 20000; round++) {
		for (size_t i = 0; i < sizeof(bytes) + sizeof(sizes); i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			*(i < sizeof(bytes) ? &bytes[i] : &sizes[i - sizeof(bytes)]) = (uint8_t)(seed >> 33);
		}
		struct v8_bytecode b = { guarded(bytes, sizeof(bytes)), sizeof(bytes), sizes, round % 16 };
		size_t len = seed >> 20 & 63;

		if (v8_positions_find(&(struct v8_positions){ bytes, len, round % 2 }, seed >> 40, &at))
			CHECK(at.at < 1U << 30 && at.inlining >= V8_NOT_INLINED);
		if (v8_positions_baseline(bytes, len, &b, seed >> 50, &offset))
			CHECK(offset < sizeof(bytes));
	}
}

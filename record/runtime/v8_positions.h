/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_positions.h - V8's tables from offsets in code to positions in the source.
 *
 * A table is a list of differences in base 128, lowest digit first. It is untrusted.
 */
#ifndef RUNTIME_V8_POSITIONS_H
#define RUNTIME_V8_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define V8_NOT_INLINED (-1)

/* A position in the source: characters from the beginning of its script, and which inlined call it is in. */
struct v8_position {
	uint32_t at;
	int32_t inlining; /* number of the call; V8_NOT_INLINED */
};

/* As V8 packs it into one number. False if there is none in it. */
bool v8_position_unpack(uint64_t packed, struct v8_position *ret);

/*
 * A table of positions. Offsets have @nflags bits behind them that say more about the place: none, from V8 14 on one (can a debugger stop
 * there?).
 */
struct v8_positions {
	const uint8_t *bytes;
	size_t len;
	unsigned nflags;
};

/* The last position at @offset or before it; false if the table has none there. */
bool v8_positions_find(const struct v8_positions *table, uint64_t offset, struct v8_position *ret);

/*
 * The offset of the bytecode, in @bytecode, whose baseline code holds @pc, an offset in that code. @table has the length of each one's code;
 * @sizes the lengths of @nbytecodes bytecodes, then of those that a prefix widens (1, 0), and once more (2, 1). False if they do not agree.
 */
struct v8_bytecode {
	const uint8_t *bytes;
	size_t len;
	const uint8_t *sizes;
	size_t nbytecodes;
};

bool v8_positions_baseline(const uint8_t *table, size_t len, const struct v8_bytecode *bytecode, uint64_t pc,
			   uint32_t *ret);

/* The length of the prologue in front of the first bytecode's code, by the same table; 0 if it does not say. */
uint64_t v8_positions_prologue(const uint8_t *table, size_t len);

#endif

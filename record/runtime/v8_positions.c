/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_positions.c - src/codegen/source-position-table.cc, src/baseline/bytecode-offset-iterator.h
 *
 *	bit 0: of another kind   1-30: position + 1   31-46: number of the inlined call + 1
 */
#include "record/runtime/v8_positions.h"

#define WIDE	   0 /* the bytecodes that widen the next one, */
#define EXTRA_WIDE 1
#define DEBUG_WIDE 2 /* and what the debugger puts in their place */
#define DEBUG_EXTRA_WIDE 3

/* The number at table[*pos]; 0 behind the end. */
static uint64_t next(const uint8_t *table, size_t len, size_t *pos)
{
	uint64_t value = 0;

	for (unsigned shift = 0; *pos < len && shift < 64; shift += 7) {
		uint8_t byte = table[(*pos)++];

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

static int64_t next_signed(const uint8_t *table, size_t len, size_t *pos)
{
	uint64_t value = next(table, len, pos);

	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

bool v8_position_unpack(uint64_t packed, struct v8_position *ret)
{
	uint32_t at = packed >> 1 & 0x3fffffff;

	if (packed & 1 || !at)
		return false;
	ret->at = at - 1;
	ret->inlining = (int32_t)(packed >> 31 & 0xffff) - 1;
	return true;
}

bool v8_positions_find(const struct v8_positions *table, uint64_t offset, struct v8_position *ret)
{
	uint64_t packed = 0, at = 0;
	size_t pos = 0;

	while (pos < table->len) {
		int64_t step = next_signed(table->bytes, table->len, &pos);
		int64_t change = next_signed(table->bytes, table->len, &pos);

		/* A negative one says that it is no statement. */
		at += (uint64_t)(step < 0 ? -(step + 1) : step) >> table->nflags;
		if (at > offset)
			break;
		packed += (uint64_t)change;
	}
	return v8_position_unpack(packed, ret);
}

/* The length of the bytecode at bytes[at], prefix included; 0 if there is none. */
static size_t bytecode_len(const struct v8_bytecode *b, size_t at)
{
	size_t widened = 0, prefix = 0;

	if (b->bytes[at] <= DEBUG_EXTRA_WIDE) {
		widened = b->bytes[at] == WIDE || b->bytes[at] == DEBUG_WIDE ? 1 : 2;
		prefix = 1;
	}
	if (at + prefix >= b->len || b->bytes[at + prefix] >= b->nbytecodes)
		return 0;
	return prefix + b->sizes[widened * b->nbytecodes + b->bytes[at + prefix]];
}

bool v8_positions_baseline(const uint8_t *table, size_t len, const struct v8_bytecode *bytecode, uint64_t pc,
			   uint32_t *ret)
{
	size_t pos = 0, at = 0;
	uint64_t end;

	if (!len || !bytecode->nbytecodes)
		return false;
	/* The prologue counts as the first bytecode's. */
	end = next(table, len, &pos);
	if (pos < len)
		end += next(table, len, &pos);
	while (pc >= end && pos < len) {
		size_t step = at < bytecode->len ? bytecode_len(bytecode, at) : 0;

		if (!step)
			return false;
		at += step;
		end += next(table, len, &pos);
	}
	*ret = (uint32_t)at;
	return at < bytecode->len;
}

uint64_t v8_positions_prologue(const uint8_t *table, size_t len)
{
	size_t pos = 0;

	return next(table, len, &pos);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_lines.c - CPython's Objects/lnotab_notes.txt (3.6 to 3.10) and Objects/locations.md (3.11 and on), bounded by
 * the table's length: a broken table gives wrong lines, nothing worse.
 */
#include "record/managed/managed_lines.h"

#include "formats/base/bisect.h"
#include "formats/base/compiler.h"

#define NO_LINE (-128) /* in a linetable */

static void add(struct managed_lines *lines, uint32_t begin, int64_t line)
{
	struct managed_line range = { .begin = begin };

	if (line > 0 && line <= UINT32_MAX)
		range.line = (uint32_t)line;
	if (lines->ranges.len && lines->ranges.items[lines->ranges.len - 1].line == range.line)
		return;
	if (lines->ranges.len < MANAGED_LINES_MAX)
		vec_push(&lines->ranges, range);
}

static void decode_lnotab(struct managed_lines *lines, const uint8_t *table, size_t len,
			  uint32_t first_line)
{
	uint32_t at = 0;
	int64_t line = first_line;

	for (size_t i = 0; i + 1 < len; i += 2) {
		if (table[i]) {
			add(lines, at, line);
			at += table[i];
		}
		line += (int8_t)table[i + 1];
	}
	add(lines, at, line);
}

static void decode_linetable(struct managed_lines *lines, const uint8_t *table, size_t len,
			     uint32_t first_line)
{
	uint32_t at = 0;
	int64_t line = first_line;

	for (size_t i = 0; i + 1 < len; i += 2) {
		int8_t distance = (int8_t)table[i + 1];

		if (distance != NO_LINE)
			line += distance;
		if (table[i])
			add(lines, at, distance == NO_LINE ? 0 : line);
		at += table[i];
	}
}

/* Six bits a byte, the lowest first; bit 6 says that more follow. */
static uint64_t get_varint(const uint8_t *table, size_t len, size_t *at)
{
	uint64_t value = 0;
	unsigned shift = 0;

	while (*at < len) {
		uint8_t byte = table[(*at)++];

		if (shift < 60)
			value |= (uint64_t)(byte & 63) << shift;
		shift += 6;
		if (!(byte & 64))
			break;
	}
	return value;
}

static int64_t get_signed(const uint8_t *table, size_t len, size_t *at)
{
	uint64_t value = get_varint(table, len, at);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

#define KIND_ONE_LINE 10 /* to 12: the line is 0 to 2 further */
#define KIND_NO_COLUMNS 13
#define KIND_LONG 14
#define KIND_NONE 15

/* One entry's distance in lines; columns are passed over. */
static int64_t get_distance(const uint8_t *table, size_t len, size_t *at, unsigned kind)
{
	int64_t distance = 0;

	switch (kind) {
	case KIND_NONE:
		break;
	case KIND_LONG:
		distance = get_signed(table, len, at);
		for (int i = 0; i < 3; i++)
			get_varint(table, len, at);
		break;
	case KIND_NO_COLUMNS:
		distance = get_signed(table, len, at);
		break;
	case KIND_ONE_LINE:
	case KIND_ONE_LINE + 1:
	case KIND_ONE_LINE + 2:
		distance = kind - KIND_ONE_LINE;
		*at += 2;
		break;
	default:
		*at += 1;
		break;
	}
	return distance;
}

static void decode_locations(struct managed_lines *lines, const uint8_t *table, size_t len,
			     uint32_t first_line)
{
	uint32_t offset = 0;
	int64_t line = first_line;
	size_t at = 0;

	while (at < len) {
		uint8_t head = table[at++];
		unsigned kind = head >> 3 & 15;

		/* 2^40 lines are no program's, and no sum of them overflows. */
		line = (int64_t)((uint64_t)line + (uint64_t)get_distance(table, len, &at, kind));
		add(lines, offset, kind == KIND_NONE ? 0 : line);
		offset += 2u * ((head & 7u) + 1);
	}
}

void managed_lines_decode(struct managed_lines *lines, enum managed_lines_form form,
			  const uint8_t *table, size_t len, uint32_t first_line)
{
	switch (form) {
	case MANAGED_LINES_LNOTAB:
		decode_lnotab(lines, table, len, first_line);
		break;
	case MANAGED_LINES_LINETABLE:
		decode_linetable(lines, table, len, first_line);
		break;
	case MANAGED_LINES_LOCATIONS:
		decode_locations(lines, table, len, first_line);
		break;
	}
	vec_fit(&lines->ranges);
}

uint32_t managed_lines_find(const struct managed_lines *lines, uint32_t offset)
{
	size_t low = BISECT(lines->ranges.len, i, lines->ranges.items[i].begin <= offset);

	return low ? lines->ranges.items[low - 1].line : 0;
}

void managed_lines_deinit(struct managed_lines *lines)
{
	vec_deinit(&lines->ranges);
}

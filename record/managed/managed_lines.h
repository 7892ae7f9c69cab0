/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_lines.h - which source line each instruction of a function belongs to, as CPython's code objects say it.
 *
 *	3.6 to 3.9    lnotab: pairs of a distance in bytes and one in lines
 *	3.10          linetable: the same from range to range, -128 for no line
 *	3.11 and on   location table: entries of a kind, a length in units of two bytes, and lines and columns
 *
 * Decoded once per code object into ranges, so that looking up a line is a binary search.
 */
#ifndef RECORD_MANAGED_LINES_H
#define RECORD_MANAGED_LINES_H

#include "formats/base/vec.h"

#include <stddef.h>
#include <stdint.h>

enum managed_lines_form {
	MANAGED_LINES_LNOTAB,
	MANAGED_LINES_LINETABLE,
	MANAGED_LINES_LOCATIONS,
};

/* From @begin, in bytes of bytecode, to the next one's. */
struct managed_line {
	uint32_t begin;
	uint32_t line; /* 0: none */
};

/* Empty when zeroed. */
struct managed_lines {
	VEC(struct managed_line) ranges; /* ascending */
};

/* More ranges than this are not kept. */
#define MANAGED_LINES_MAX 65536

/* Decode the @len bytes at @table, of a function that begins at @first_line, to @lines, which is empty. */
void managed_lines_decode(struct managed_lines *lines, enum managed_lines_form form,
			  const uint8_t *table, size_t len, uint32_t first_line);

/* The line of the instruction at @offset, in bytes; 0 if it has none. */
uint32_t managed_lines_find(const struct managed_lines *lines, uint32_t offset);

void managed_lines_deinit(struct managed_lines *lines);

#endif

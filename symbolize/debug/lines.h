/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - the line table of a unit: an address to a source position (DWARF 5, section 6.2).
 *
 * DWARF 2 to 5. The program is run once; rows are kept sorted, 12 bytes each, the last one where several
 * have the same address.
 */
#ifndef DEBUG_LINES_H
#define DEBUG_LINES_H

#include "symbolize/debug/ranges.h"
#include "symbolize/debug/unit.h"

struct debug_lines;

struct debug_position {
	uint32_t file;         /* number in the table, see debug_lines_file() */
	uint32_t line, column; /* 0: not known */
};

/* The table that @unit (a skeleton, not its split unit) refers to. Never NULL; empty if it is malformed or absent. */
struct debug_lines *debug_lines_new(const struct debug_unit *unit);
void debug_lines_free(struct debug_lines *lines);

/* The row that covers @vaddr; false if none does. */
bool debug_lines_find(const struct debug_lines *lines, uint64_t vaddr, struct debug_position *ret);

/* The first address above @vaddr at which the answer may be another one. */
uint64_t debug_lines_next(const struct debug_lines *lines, uint64_t vaddr);

/* Append the addresses that the table has rows for, for a unit that does not say where its code is. */
void debug_lines_ranges(const struct debug_lines *lines, struct debug_ranges *ranges);

/* The path of file @number, with its directory; NULL if there is none. Valid until debug_lines_free(). */
const char *debug_lines_file(struct debug_lines *lines, uint64_t number);

#endif

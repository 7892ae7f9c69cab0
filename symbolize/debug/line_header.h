/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_header.h - the header of a line number program: how its opcodes are made, directories and files.
 */
#ifndef DEBUG_LINE_HEADER_H
#define DEBUG_LINE_HEADER_H

#include "symbolize/debug/unit.h"

struct line_file {
	const char *name;
	uint64_t directory;
};

struct line_header {
	uint16_t version;
	struct form_sizes sizes;
	uint8_t min_instruction_len, max_ops, line_range, opcode_base;
	int8_t line_base;
	uint8_t operand_counts[256]; /* of standard opcodes, by number */
	const char *comp_dir;        /* NULL if not known */
	struct {
		const char **items;
		size_t len, cap;
	} directories; /* [0] is the unit's */
	struct {
		struct line_file *items;
		size_t len, cap;
	} files; /* by the number that rows use: [0] is unused before DWARF 5 */
};

/*
 * Read the header of @unit's program and leave in @ret_program the opcodes. False if it is malformed,
 * or if more line tables were read than the file has bytes for; @ret is to be released in any case.
 */
bool line_header_read(const struct debug_unit *unit, struct line_header *ret,
		      struct reader *ret_program);
void line_header_deinit(struct line_header *header);

#endif

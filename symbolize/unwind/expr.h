/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr.h - evaluates the DWARF expressions that call frame information contains (DWARF 5, section 2.5).
 *
 * Steps and stack are bounded, so hostile expressions end. Operators that need more than registers and
 * memory (debug information, link-time addresses, calls) are refused; call frame information may not
 * use most of them (DWARF 5, 6.4.2).
 */
#ifndef SYMBOLIZE_EXPR_H
#define SYMBOLIZE_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum expr_status {
	EXPR_OK,
	EXPR_MALFORMED, /* bytes, stack use, division by zero, too many steps, an operator that is refused */
	EXPR_NO_REGISTER, /* asks for a register whose value is not known */
	EXPR_NO_MEMORY,   /* asks for memory that cannot be read */
};

/* What an expression may look at; both are given @data. */
struct expr_context {
	/* The value of the register with this DWARF number; false if it is not known. */
	bool (*read_reg)(void *data, uint64_t reg, uint64_t *ret);
	/* The 8-byte word at @address, which may be unaligned; false if it cannot be read. */
	bool (*read_word)(void *data, uint64_t address, uint64_t *ret);
	void *data;
};

/* What is on the stack at the beginning: the CFA for rules of registers, nothing for the CFA itself. */
struct expr_start {
	bool has_value;
	uint64_t value;
};

/* *@ret is the top of the stack at the end; untouched unless EXPR_OK is returned. */
enum expr_status expr_eval(const uint8_t *bytes, size_t len, const struct expr_context *context,
			   struct expr_start start, uint64_t *ret);

#endif

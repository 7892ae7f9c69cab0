/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_rows.h - unwind rules read off machine code that has no table, a JIT's or a file's; x86-64.
 *
 * The code of a function is followed from its first instruction on, where the return address is on top of the stack: what is
 * pushed and taken off, where registers are saved, whether a frame pointer is set up. That holds for functions that are
 * called; code that others jump into with a frame already made (an interpreter's handlers) yields a rule that is
 * wrong, so callers check that one leads to a call.
 */
#ifndef SYMBOLIZE_CODE_ROWS_H
#define SYMBOLIZE_CODE_ROWS_H

#include "symbolize/disasm.h"
#include "symbolize/unwind/cfi_rule.h"

#define CODE_ROWS_LEN_MAX 65536 /* bytes of a function that are followed */

/* The code of a function; @vaddr is where it begins. */
struct code_rows_function {
	const uint8_t *code;
	size_t len;
	uint64_t vaddr;
	uint32_t frame_len; /* CFA - rsp in the function's body, if something else says that; 0: the code alone does */
};

/*
 * The rule at @vaddr, an address in @f's instruction or, less 1, behind it. False if the code there cannot be reached by
 * following it, or where the stack pointer is then.
 */
bool code_rows_find(struct cfi_rules *rules, struct disasm *d, const struct code_rows_function *f,
		    uint64_t vaddr, uint32_t *ret_rule);

#endif

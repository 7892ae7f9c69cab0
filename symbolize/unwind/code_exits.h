/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_exits.h - unwind rules read off the code that is still to be executed, where there is no table and it is not known where the
 * function begins: hand-written assembly in stripped libraries, code of a JIT; x86-64.
 *
 * Whatever a function has done to the stack, it undoes before it returns. So its code is followed from an address on, branches
 * both ways, until a return, or until it jumps to code that has a rule: what was taken off the stack by then is the frame. Functions may also
 * leave by a jump to the return address, once they have it in a register. As with
 * code_rows.h, callers check that a rule leads to a call.
 */
#ifndef SYMBOLIZE_CODE_EXITS_H
#define SYMBOLIZE_CODE_EXITS_H

#include "symbolize/disasm.h"
#include "symbolize/unwind/cfi_rule.h"

#define CODE_EXITS_STEPS_MAX 4096 /* instructions that are followed from one address on */

/* Where code comes from; both answer for addresses of the same kind. */
struct code_exits_source {
	/* The code at @vaddr, *@ret_len bytes; NULL: it is not there. Valid as long as the source. */
	const uint8_t *(*code)(void *context, uint64_t vaddr, size_t *ret_len);
	/* The rule that a table has for the instruction at @vaddr; NULL: none. */
	const struct cfi_rule *(*rule)(void *context, uint64_t vaddr);
	/*
	 * Where no way out is found, may what lies behind jumps be looked at? Code of a JIT has mostly one frame, in which all of it runs
	 * and jumps about; functions have their own.
	 */
	bool one_frame;
	/* Is the code that of a function with a table, in which it jumps? Then what it has pushed before is part of the frame that the table knows. */
	bool in_table;
	void *context;
};

struct code_exit {
	uint32_t rule;
	uint64_t target; /* the code with a table's rule that it jumps to; 0: it returns */
};

/*
 * The rule at @vaddr, where an instruction begins that is executed next. False if no way out was found. *@steps is how many
 * instructions may still be followed, over all calls.
 */
bool code_exits_find(struct cfi_rules *rules, struct disasm *d, const struct code_exits_source *source, uint64_t vaddr,
		     uint64_t *steps, struct code_exit *ret);

#endif

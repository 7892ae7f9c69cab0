/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_type.h - which type, and which member of it, the memory operand of an instruction belongs to.
 *
 * The operand's base register holds a variable that debug information knows at that address, or what an instruction before it
 * in the same run of code put there: loaded from a member whose type is known, copied, moved on by a number, or
 * returned by a call. What was recorded of registers does not count, so an answer holds for every sample on the address.
 */
#ifndef SYMBOLIZE_DATA_TYPE_H
#define SYMBOLIZE_DATA_TYPE_H

#include "symbolize/debug/types.h"
#include "symbolize/disasm.h"

enum data_type_status {
	DATA_TYPE_FOUND,
	DATA_TYPE_NO_ACCESS, /* the instruction reads and writes no memory by an operand */
	DATA_TYPE_NO_CODE,   /* its bytes are not there */
	DATA_TYPE_SPILL,     /* on the stack, where no variable lies: what the compiler put aside */
	DATA_TYPE_UNKNOWN,   /* no variable, or debug information has no place for it there */
};

/* The code of one function, link-time addresses. */
struct data_type_code {
	uint64_t vaddr; /* where it begins */
	const uint8_t *bytes;
	size_t len;
};

struct data_type_function;

/*
 * One function, decoded. All arguments must outlive the result. Without @types all that is found is whether memory is
 * accessed.
 */
struct data_type_function *data_type_open(struct debug_types *types, struct disasm *disasm,
					  const struct arch *arch,
					  const struct data_type_code *code);
void data_type_close(struct data_type_function *function);

/* The place that the instruction at @vaddr accesses. */
enum data_type_status data_type_find(struct data_type_function *function, uint64_t vaddr,
				     struct debug_place *ret);

#endif

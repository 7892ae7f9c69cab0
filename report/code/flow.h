/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.h - the control flow of one function: its basic blocks, and which of them are loops.
 *
 * Only what the code says is used: direct jumps, and the next instruction. Calls return. Where an indirect jump leads (a
 * switch, a computed goto) is not known: blocks that nothing else leads to are taken for targets of the last indirect jump
 * before them, and where there is none for entries (landing pads). Jumps out of the function end a path. So the loop of
 * a threaded interpreter is not found, nor one that needs a case placed before its switch.
 *
 * Loops are those of the depth-first tree (G. Ramalingam, "Identifying loops in almost linear time", TOPLAS 21,
 * 1999), so hostile code costs no more than other code. A loop that can be entered elsewhere than at its head is irreducible.
 */
#ifndef REPORT_FLOW_H
#define REPORT_FLOW_H

#include "symbolize/disasm.h"

#define FLOW_NONE UINT32_MAX

/* What flow_new() looks at; ascending by address, without gaps. */
struct flow_insn {
	uint64_t vaddr, target; /* as in struct disasm_insn */
	enum disasm_flow flow;
};

/* Instructions that are executed together, as far as jumps tell. */
struct flow_block {
	uint32_t first, count; /* of the instructions */
	uint32_t loop;         /* the innermost loop around it; FLOW_NONE if there is none */
};

struct flow_loop {
	uint32_t parent; /* the loop around it; FLOW_NONE */
	uint32_t depth;  /* 1: not inside another */
	uint32_t head;   /* block that is entered first */
	uint32_t first, last; /* instructions: the extent of its blocks, which may have gaps */
	bool irreducible;
};

struct flow {
	struct flow_block *blocks; /* ascending */
	struct flow_loop *loops;   /* by address of their heads, which differ */
	uint32_t *block_of;        /* for each instruction */
	uint32_t nblocks, nloops;
};

struct flow *flow_new(const struct flow_insn *insns, uint32_t count);
void flow_free(struct flow *flow);

/* The instruction that @insns[@i] jumps to inside the function; FLOW_NONE if none. Calls do not count. */
uint32_t flow_jump(const struct flow_insn *insns, uint32_t count, uint32_t i);

#endif

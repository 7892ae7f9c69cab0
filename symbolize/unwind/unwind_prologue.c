/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_prologue.c - an interpreter of the few instructions that make a frame: registers that hold a known number, and
 * everything else unknown.
 *
 *	mov  %rsp, %rax            rax = entry
 *	push %rbx …
 *	sub  $1312, %rsp
 *	and  $-2048, %rsp          only numbers, not offsets, can follow this
 *	add  $1152, %rsp
 *	mov  %rax, 152(%rsp)       the answer
 */
#include "symbolize/unwind/unwind_prologue.h"

#include "formats/base/compiler.h"

#define NREGS 16
#define SP    7

struct numbers {
	uint64_t values[NREGS];
	uint64_t known; /* registers, as bits */
};

static bool knows(const struct numbers *n, int reg)
{
	return reg >= 0 && reg < NREGS && n->known >> reg & 1;
}

static void set(struct numbers *n, int reg, bool known, uint64_t value)
{
	n->known &= ~(1ULL << reg);
	n->known |= known ? 1ULL << reg : 0;
	n->values[reg] = value;
}

/* The effect of @e on registers. */
static void carry_out(struct numbers *n, const struct disasm_step *e)
{
	const struct numbers old = *n;

	n->known &= ~e->writes;
	switch (e->kind) {
	case DISASM_STEP_PUSH:
		set(n, SP, knows(&old, SP), old.values[SP] - 8);
		return;
	case DISASM_STEP_POP:
		if (e->reg != SP)
			set(n, SP, knows(&old, SP), old.values[SP] + 8);
		return;
	case DISASM_STEP_MOVE:
		if (knows(&old, e->base))
			set(n, e->reg, true, old.values[e->base] + (uint64_t)e->value);
		return;
	case DISASM_STEP_ALIGN:
		if (knows(&old, e->reg))
			set(n, e->reg, true, old.values[e->reg] & (uint64_t)e->value);
		return;
	case DISASM_STEP_OTHER:
	case DISASM_STEP_STORE:
	case DISASM_STEP_LOAD:
	case DISASM_STEP_LEAVE:
		return;
	}
}

/* Does @e put @p->word into memory? Where, into @p->slot. */
static bool stores(const struct numbers *n, const struct disasm_step *e, struct unwind_prologue *p)
{
	bool push = e->kind == DISASM_STEP_PUSH;
	int base = push ? SP : e->base;

	if ((!push && e->kind != DISASM_STEP_STORE) || !knows(n, e->reg) || !knows(n, base) ||
	    n->values[e->reg] != p->word)
		return false;
	p->slot = n->values[base] + (push ? -8ULL : (uint64_t)e->value);
	return true;
}

bool unwind_prologue_find(struct disasm *d, const uint8_t *code, size_t len, uint64_t vaddr,
			  struct unwind_prologue *p)
{
	struct numbers n = { .known = 1ULL << SP };
	struct disasm_step e;

	n.values[SP] = p->entry;
	p->sure = true;
	len = MIN(len, UNWIND_PROLOGUE_LEN);
	for (size_t at = 0; at < len; at += e.len) {
		if (!disasm_step(d, code + at, len - at, vaddr + at, &e))
			return false;
		if (stores(&n, &e, p))
			return true;
		if (e.flow != DISASM_PLAIN && e.flow != DISASM_BRANCH)
			return false;
		p->sure = p->sure && e.flow == DISASM_PLAIN;
		carry_out(&n, &e);
	}
	return false;
}

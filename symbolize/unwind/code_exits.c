/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_exits.c - an interpreter of what code does to the stack, over values in terms of what the registers held at first.
 *
 *	add  $40, %rsp          sp = sp + 40
 *	pop  %rbx               rbx = word at sp + 40, sp = sp + 48
 *	ret                     CFA = sp + 56, rbx at CFA - 16
 *
 *	mov  1000(%rsp), %rsp   sp = top, the word at sp + 1000 (an aligned frame)
 *	ret                     CFA = top + 8, an expression
 *
 * A return to a word that this code has put there itself is a jump (Guile's JIT: push %r11; ret), and no way out. Nor is an indirect
 * jump, which may be one within the function; unless no other way out is found, and the address may be the return address, which
 * was taken off the stack before (boost.context), or is in the register from the start (the end of musl's vfork()).
 *
 *	mov  56(%rsp), %r8      r8 = word at sp + 56
 *	lea  64(%rsp), %rsp     sp = sp + 64
 *	jmp  *%r8               CFA = sp + 64
 */
#include "symbolize/unwind/code_exits.h"

#include "formats/base/map.h"
#include "formats/base/vec.h"

#include <string.h>

#define NREGS	     16
#define FP	     6
#define SP	     7
#define TOP	     16 /* in place of a register: the stack pointer that was loaded from memory */
#define RETURN	     16 /* the return address's number */
#define CALLEE_SAVED 0xf048 /* rbx, rbp, r12 .. r15 (psABI, figure 3.4) */
#define STORED_MAX   24 /* words that are put on the stack on the way */
#define BRANCHES_MAX 256

#define OP_BREG0       0x70
#define OP_DEREF       0x06
#define OP_PLUS	       0x22
#define OP_CONSTS      0x11
#define EXPRESSION_MAX 24

enum value_kind {
	UNKNOWN,
	SUM,  /* @base + @at */
	WORD, /* what lies in memory at @base + @at */
};

struct value {
	uint8_t kind, base; /* @base: a register at first, or TOP */
	int32_t at;
};

struct stored {
	uint8_t base;
	int32_t at;
	struct value value;
};

/* Everything at one instruction. */
struct path {
	uint64_t vaddr;
	struct value regs[NREGS];
	uint8_t top_base; /* where TOP was loaded from; NREGS: it was not */
	int32_t top_at;
	size_t nstored;
	struct stored stored[STORED_MAX];
};

struct search {
	const struct code_exits_source *source;
	struct cfi_rules *rules;
	struct disasm *disasm;
	struct map seen;          /* addresses */
	VEC(struct path) waiting; /* the other sides of branches, in order */
	size_t next;
	VEC(struct path) behind;  /* jumps, in order */
	size_t next_behind;
	bool found, may;	  /* @exit is one; it is one if there is no other */
	struct code_exit exit;
};

static const struct value unknown = { UNKNOWN, 0, 0 };

static bool in_frame(int64_t value)
{
	return value > -(1 << 24) && value < 1 << 24;
}

static struct value plus(struct value v, int64_t more)
{
	if (!more)
		return v;
	if (v.kind != SUM || !in_frame(more) || !in_frame(v.at + more))
		return unknown;
	return (struct value){ SUM, v.base, (int32_t)(v.at + more) };
}

/* The address of memory at @base + @offset; UNKNOWN if that is no sum. */
static struct value address_of(const struct path *p, int base, int64_t offset)
{
	if (base < 0 || base >= NREGS || p->regs[base].kind != SUM)
		return unknown;
	return plus(p->regs[base], offset);
}

/* ---- memory ---------------------------------------------------------------------------------------- */

static struct stored *stored_at(struct path *p, struct value address)
{
	for (size_t i = 0; i < p->nstored; i++) {
		if (p->stored[i].base == address.base && p->stored[i].at == address.at)
			return &p->stored[i];
	}
	return NULL;
}

/* False if there is no room to remember it. */
static bool store(struct path *p, struct value address, struct value value)
{
	struct stored *old;

	if (address.kind != SUM)
		return true;
	old = stored_at(p, address);
	if (!old && p->nstored == STORED_MAX)
		return false;
	if (!old)
		old = &p->stored[p->nstored++];
	*old = (struct stored){ address.base, address.at, value };
	return true;
}

/* Below where the stack ended at first there is nothing that anybody knows. */
static struct value load(struct path *p, struct value address)
{
	const struct stored *stored;

	if (address.kind != SUM)
		return unknown;
	stored = stored_at(p, address);
	if (stored)
		return stored->value;
	return address.base == SP && address.at < 0 ? unknown : (struct value){ WORD, address.base, address.at };
}

/* ---- instructions ---------------------------------------------------------------------------------- */

/* TOP becomes another one: what was counted from it is not known any more. */
static void forget_top(struct path *p)
{
	size_t kept = 0;

	for (int reg = 0; reg < NREGS; reg++) {
		if (p->regs[reg].base == TOP)
			p->regs[reg] = unknown;
	}
	for (size_t i = 0; i < p->nstored; i++) {
		if (p->stored[i].base == TOP)
			continue;
		p->stored[kept] = p->stored[i];
		if (p->stored[kept].value.base == TOP)
			p->stored[kept].value = unknown;
		kept++;
	}
	p->nstored = kept;
}

/*
 * The stack pointer becomes @v: a word of memory is what everything is counted from then. That may happen twice, where an aligned frame with
 * the frame pointer in it is taken down within one that the frame pointer leads out of (HotSpot's SHA-512).
 */
static void set_sp(struct path *p, struct value v)
{
	if (v.kind == WORD && v.base < NREGS) {
		if (v.base != p->top_base || v.at != p->top_at)
			forget_top(p);
		p->top_base = v.base;
		p->top_at = v.at;
		v = (struct value){ SUM, TOP, 0 };
	}
	p->regs[SP] = v.kind == SUM ? v : unknown;
}

static void set(struct path *p, int reg, struct value v)
{
	if (reg == SP)
		set_sp(p, v);
	else if (reg >= 0 && reg < NREGS)
		p->regs[reg] = v;
}

static void forget(struct path *p, uint64_t regs)
{
	for (int reg = 0; reg < NREGS; reg++) {
		if (regs >> reg & 1)
			p->regs[reg] = unknown;
	}
}

static void pop(struct path *p, int reg)
{
	struct value v = load(p, p->regs[SP]);

	p->regs[SP] = plus(p->regs[SP], 8);
	set(p, reg, v);
}

static bool push(struct path *p, int reg)
{
	struct value v = reg >= 0 && reg < NREGS ? p->regs[reg] : unknown;

	p->regs[SP] = plus(p->regs[SP], -8);
	return store(p, p->regs[SP], v);
}

/* The effect of @s on @p; false if it is too much. */
static bool carry_out(struct path *p, const struct disasm_step *s)
{
	switch (s->kind) {
	case DISASM_STEP_PUSH:
		return push(p, s->reg);
	case DISASM_STEP_POP:
		pop(p, s->reg);
		return true;
	case DISASM_STEP_MOVE:
		set(p, s->reg, s->base >= 0 && s->base < NREGS ? plus(p->regs[s->base], s->value) : unknown);
		return true;
	case DISASM_STEP_STORE:
		return store(p, address_of(p, s->base, s->value), p->regs[s->reg]);
	case DISASM_STEP_LOAD:
		set(p, s->reg, load(p, address_of(p, s->base, s->value)));
		return true;
	case DISASM_STEP_LEAVE:
		set_sp(p, p->regs[FP]);
		pop(p, FP);
		return true;
	case DISASM_STEP_ALIGN:
	case DISASM_STEP_OTHER:
		/* A call pushes, and takes it off again. */
		forget(p, s->flow == DISASM_CALL ? (uint64_t)(uint16_t)~(CALLEE_SAVED | 1U << SP) : s->writes);
		return true;
	}
	return true;
}

/* ---- the end --------------------------------------------------------------------------------------- */

static size_t put_sleb(uint8_t *out, int64_t value)
{
	size_t len = 0;
	bool more = true;

	while (more) {
		uint8_t low = value & 0x7f;

		value >>= 7;
		more = !((value == 0 && !(low & 0x40)) || (value == -1 && low & 0x40));
		out[len++] = (uint8_t)(low | (more ? 0x80 : 0));
	}
	return len;
}

/* The word at @p's top, and @offset more. */
static uint32_t top_expression(struct cfi_rules *rules, const struct path *p, int32_t offset)
{
	uint8_t bytes[EXPRESSION_MAX];
	size_t len = 0;

	bytes[len++] = (uint8_t)(OP_BREG0 + p->top_base);
	len += put_sleb(bytes + len, p->top_at);
	bytes[len++] = OP_DEREF;
	bytes[len++] = OP_CONSTS;
	len += put_sleb(bytes + len, offset);
	bytes[len++] = OP_PLUS;
	return cfi_rules_add_expr(rules, bytes, len);
}

/* What the rule says of @reg, whose value in the caller is @v; false if it holds that already. */
static bool rule_of_register(unsigned reg, struct value v, struct value cfa, struct cfi_reg *ret)
{
	*ret = (struct cfi_reg){ (uint16_t)reg, CFI_REG_UNDEFINED, 0 };
	if (v.kind == SUM && v.base == reg && v.at == 0)
		return false;
	if (v.kind == WORD && v.base == cfa.base)
		*ret = (struct cfi_reg){ (uint16_t)reg, CFI_REG_OFFSET, v.at - cfa.at };
	else if (v.kind == SUM && v.base < NREGS && v.at == 0)
		*ret = (struct cfi_reg){ (uint16_t)reg, CFI_REG_REGISTER, v.base };
	return true;
}

/* The frame ends at @cfa, the caller has @p's registers, and @ra says where the return address is. */
static bool make_rule(struct search *s, const struct path *p, struct value cfa, struct cfi_reg ra)
{
	_Alignas(struct cfi_rule) char
		room[sizeof(struct cfi_rule) + (NREGS + 1) * sizeof(struct cfi_reg)];
	struct cfi_rule *rule = (struct cfi_rule *)room;

	if (cfa.kind != SUM || (cfa.base == SP && cfa.at < (ra.kind == CFI_REG_OFFSET ? 8 : 0)))
		return false;
	*rule = (struct cfi_rule){ .return_reg = RETURN, .plain = cfa.base != TOP && ra.kind == CFI_REG_OFFSET, .from_code = true };
	rule->cfa_is_expr = cfa.base == TOP;
	rule->cfa_reg = rule->cfa_is_expr ? 0 : cfa.base;
	rule->cfa_value = rule->cfa_is_expr ? (int32_t)top_expression(s->rules, p, cfa.at) : cfa.at;
	for (unsigned reg = 0; reg < NREGS; reg++) {
		struct cfi_reg *entry = &rule->regs[rule->nregs];

		if (!(CALLEE_SAVED >> reg & 1) || !rule_of_register(reg, p->regs[reg], cfa, entry))
			continue;
		rule->plain = rule->plain && entry->kind == CFI_REG_OFFSET;
		rule->nregs++;
	}
	rule->regs[rule->nregs++] = ra;
	cfi_rule_sum_up(rule, FP);
	s->exit.rule = cfi_rules_add(s->rules, rule);
	return true;
}

static const struct cfi_reg ra_on_stack = { RETURN, CFI_REG_OFFSET, -8 };

/*
 * The code leaves for the address @to, when the stack ends at @sp. That may be its return address, if it comes from the word just below, or
 * from a register, which callers check. A function has no other stack than its own before it leaves it.
 */
static void may_leave(struct search *s, const struct path *p, struct value to, struct value sp)
{
	struct cfi_reg ra = ra_on_stack;

	if (s->may || s->source->one_frame || sp.kind != SUM || sp.base != SP)
		return;
	if (to.kind == SUM && to.base != SP && to.base < NREGS && !to.at)
		ra = (struct cfi_reg){ RETURN, CFI_REG_REGISTER, to.base };
	else if (to.kind != WORD || to.base != SP || to.at != sp.at - 8)
		return;
	s->exit.target = 0;
	s->may = make_rule(s, p, sp, ra);
}

/* The return address is on top of the stack, and was there before; or it was put back. */
static bool leaves_by_return(struct search *s, struct path *p)
{
	struct value sp = p->regs[SP];
	const struct stored *stored = sp.kind == SUM ? stored_at(p, sp) : NULL;

	if (stored)
		may_leave(s, p, stored->value, plus(sp, 8));
	if (stored || sp.kind != SUM || !make_rule(s, p, plus(sp, 8), ra_on_stack))
		return false;
	s->exit.target = 0;
	return true;
}

/*
 * A jump to where @table is the rule of a table: the caller is that function's. What this code has pushed only before it jumps is an
 * argument, of which such a rule knows nothing (LuaJIT's exits to its interpreter), unless both are one function.
 */
static bool leaves_to_rule(struct search *s, struct path *p, const struct cfi_rule *table)
{
	struct value cfa;

	if (!s->source->in_table && p->regs[SP].kind == SUM && p->regs[SP].base == SP && p->regs[SP].at < 0)
		p->regs[SP].at = 0;
	if (!table->plain || table->cfa_reg >= NREGS)
		return false;
	cfa = plus(p->regs[table->cfa_reg], table->cfa_value);
	if (cfa.kind != SUM || stored_at(p, plus(cfa, table->ra_value)))
		return false;
	for (unsigned i = 0; i < table->nregs; i++) {
		const struct cfi_reg *entry = &table->regs[i];

		if (entry->reg < NREGS && entry->kind == CFI_REG_OFFSET)
			p->regs[entry->reg] = load(p, plus(cfa, entry->value));
	}
	if (table->ra_value != -8 || !make_rule(s, p, cfa, ra_on_stack))
		return false;
	s->exit.target = p->vaddr;
	return true;
}

/* ---- the search ------------------------------------------------------------------------------------ */

static void wait_behind(struct search *s, const struct path *p, uint64_t vaddr)
{
	if (!s->source->one_frame || s->behind.len == BRANCHES_MAX)
		return;
	vec_push(&s->behind, *p);
	s->behind.items[s->behind.len - 1].vaddr = vaddr;
}

static void wait_at(struct search *s, const struct path *p, uint64_t target)
{
	if (!target || s->waiting.len == BRANCHES_MAX)
		return;
	vec_push(&s->waiting, *p);
	s->waiting.items[s->waiting.len - 1].vaddr = target;
}

/* Was a way out found, or is this one a dead end? */
static bool ends(struct search *s, struct path *p, const struct disasm_step *step)
{
	switch (step->flow) {
	case DISASM_RETURN:
		s->found = leaves_by_return(s, p);
		pop(p, DISASM_NO_REG);
		wait_behind(s, p, p->vaddr + step->len);
		return true;
	case DISASM_JUMP:
		if (step->reg != DISASM_NO_REG)
			may_leave(s, p, p->regs[step->reg], p->regs[SP]);
		wait_at(s, p, step->target);
		wait_behind(s, p, p->vaddr + step->len);
		return true;
	case DISASM_UNDECODED:
		return true;
	case DISASM_BRANCH:
		wait_at(s, p, step->target);
		return false;
	case DISASM_PLAIN:
	case DISASM_CALL:
		return false;
	}
	return true;
}

/* Follow @p in a straight line. */
static void follow(struct search *s, struct path *p, uint64_t *steps)
{
	struct disasm_step step;

	for (; *steps; p->vaddr += step.len) {
		const uint8_t *code;
		bool is_new;
		size_t len;

		map_put(&s->seen, p->vaddr, &is_new);
		code = is_new ? s->source->code(s->source->context, p->vaddr, &len) : NULL;
		if (!code || !disasm_step(s->disasm, code, len, p->vaddr, &step))
			return;
		--*steps;
		if (ends(s, p, &step) || !carry_out(p, &step) || p->regs[SP].kind == UNKNOWN)
			return;
	}
}

/* The other side of a branch, or the target of a jump. */
static void follow_branch(struct search *s, struct path *p, uint64_t *steps)
{
	const struct cfi_rule *table = s->source->rule(s->source->context, p->vaddr);

	if (table)
		s->found = leaves_to_rule(s, p, table);
	else
		follow(s, p, steps);
}

static bool take_next(struct search *s, struct path *ret)
{
	if (s->next < s->waiting.len)
		*ret = s->waiting.items[s->next++];
	else if (s->next_behind < s->behind.len)
		*ret = s->behind.items[s->next_behind++];
	else
		return false;
	return true;
}

bool code_exits_find(struct cfi_rules *rules, struct disasm *d, const struct code_exits_source *source, uint64_t vaddr,
		     uint64_t *steps, struct code_exit *ret)
{
	struct search s = { .source = source, .rules = rules, .disasm = d };
	struct path p = { .vaddr = vaddr, .top_base = NREGS };
	uint64_t given = MIN(*steps, CODE_EXITS_STEPS_MAX), left = given;

	for (uint8_t reg = 0; reg < NREGS; reg++)
		p.regs[reg] = (struct value){ SUM, reg, 0 };
	follow(&s, &p, &left);
	while (!s.found && left && take_next(&s, &p))
		follow_branch(&s, &p, &left);
	*steps -= given - left;
	*ret = s.exit;
	map_deinit(&s.seen);
	vec_deinit(&s.waiting);
	vec_deinit(&s.behind);
	return s.found || s.may;
}

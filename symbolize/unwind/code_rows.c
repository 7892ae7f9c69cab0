/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_rows.c - one pass over the code in order of addresses. A branch ahead leaves its frame at its target; behind a jump or a
 * return, the frame is that of a branch that led there, or else the one from before the last frame was taken down, which
 * is how compilers lay out code (gcc says "remember, restore" of the same places). A loop's top behind a jump, which only a branch
 * back leads to, is such a place: where the body's frame is known, it has that one.
 *
 *	push %rbp           CFA = rsp + 16, rbp at CFA - 16
 *	mov  %rsp, %rbp     CFA = rbp + 16
 *	…
 *	pop  %rbp           CFA = rsp + 8
 *	ret
 *	… another part      as at "…"
 */
#include "symbolize/unwind/code_rows.h"

#include "formats/base/map.h"
#include "formats/base/vec.h"

#define NREGS	  16
#define FP	  6
#define SP	  7
#define RETURN	  16 /* the return address's number */
#define CALLEE_SAVED 0xf048 /* rbx, rbp, r12 .. r15 (psABI, figure 3.4) */

/* Where the frame is, at one instruction. */
struct frame {
	bool knows_sp, has_fp;
	int32_t sp;	      /* CFA = rsp + this */
	int32_t fp;	      /* CFA = rbp + this */
	uint32_t changed;     /* registers that do not hold the caller's value, as bits */
	int32_t saved[NREGS]; /* at CFA + this; 0: nowhere */
};

static const struct frame entry_frame = { .knows_sp = true, .sp = 8 };

static bool in_frame(int64_t value)
{
	return value > -(1 << 24) && value < 1 << 24;
}

static void set_sp(struct frame *f, bool known, int64_t sp)
{
	f->knows_sp = known && in_frame(sp);
	f->sp = f->knows_sp ? (int32_t)sp : 0;
}

static bool holds_callers(const struct frame *f, int reg)
{
	return reg >= 0 && CALLEE_SAVED >> reg & 1 && !(f->changed >> reg & 1);
}

/* @reg is stored at CFA + @at. */
static void save(struct frame *f, int reg, int64_t at)
{
	if (holds_callers(f, reg) && !f->saved[reg] && at < 0 && in_frame(at))
		f->saved[reg] = (int32_t)at;
}

/* @reg is loaded from CFA + @at. */
static void restore(struct frame *f, int reg, int64_t at)
{
	if (reg == FP)
		f->has_fp = false;
	if (reg < 0 || !(CALLEE_SAVED >> reg & 1))
		return;
	f->changed |= 1U << reg;
	if (f->saved[reg] && f->saved[reg] == at) {
		f->saved[reg] = 0;
		f->changed &= ~(1U << reg);
	}
}

/* What an offset from @base means as one from the CFA; false if that is not known. */
static bool from_cfa(const struct frame *f, int base, int64_t value, int64_t *ret)
{
	*ret = value - (base == SP ? f->sp : f->fp);
	return (base == SP && f->knows_sp) || (base == FP && f->has_fp);
}

static void move(struct frame *f, const struct disasm_step *s)
{
	int64_t at;
	bool known = from_cfa(f, s->base, s->value, &at);

	if (s->reg == SP) {
		set_sp(f, known, -at);
	} else if (s->reg == FP) {
		f->has_fp = known && in_frame(at);
		f->fp = f->has_fp ? (int32_t)-at : 0;
		f->changed |= 1U << FP;
	}
}

static void leave(struct frame *f)
{
	set_sp(f, f->has_fp, f->fp);
	if (f->knows_sp) {
		restore(f, FP, -(int64_t)f->sp);
		set_sp(f, true, f->sp - 8);
	}
	f->has_fp = false;
}

/* Registers that @s gives another value in any way but those above. */
static void overwrite(struct frame *f, uint64_t writes)
{
	if (writes >> SP & 1)
		set_sp(f, false, 0);
	if (writes >> FP & 1)
		f->has_fp = false;
	f->changed |= (uint32_t)writes & CALLEE_SAVED;
}

static void follow(struct frame *f, const struct disasm_step *s)
{
	int64_t at;

	switch (s->kind) {
	case DISASM_STEP_PUSH:
		set_sp(f, f->knows_sp, (int64_t)f->sp + 8);
		if (f->knows_sp)
			save(f, s->reg, -(int64_t)f->sp);
		return;
	case DISASM_STEP_POP:
		restore(f, s->reg, f->knows_sp ? -(int64_t)f->sp : 0);
		set_sp(f, f->knows_sp && s->reg != SP, (int64_t)f->sp - 8);
		return;
	case DISASM_STEP_MOVE:
		if (s->reg == SP || s->reg == FP)
			move(f, s);
		else
			overwrite(f, s->writes);
		return;
	case DISASM_STEP_STORE:
		if (from_cfa(f, s->base, s->value, &at))
			save(f, s->reg, at);
		return;
	case DISASM_STEP_LOAD:
		overwrite(f, s->writes);
		if (s->reg != SP)
			restore(f, s->reg, from_cfa(f, s->base, s->value, &at) ? at : 0);
		return;
	case DISASM_STEP_LEAVE:
		leave(f);
		return;
	case DISASM_STEP_ALIGN:
	case DISASM_STEP_OTHER:
		if (s->flow != DISASM_CALL) /* which pushes, and takes it off again */
			overwrite(f, s->writes);
		return;
	}
}

/* ---- the pass -------------------------------------------------------------------------------------- */

#define KINDS_MAX 8 /* of frames that are counted; few functions have more than three */

/* A frame, and how many instructions had one like it. */
struct kind {
	struct frame frame;
	unsigned count;
};

/* Frames that branches ahead leave, by the address they lead to; and those of the function so far. */
struct pass {
	struct map at; /* index in @frames + 1 */
	VEC(struct frame) frames;
	struct kind kinds[KINDS_MAX];
	size_t nkinds;
};

static void leave_at_target(struct pass *p, const struct frame *f, uint64_t target)
{
	bool is_new;
	uint64_t *slot = map_put(&p->at, target, &is_new);

	if (!is_new)
		return;
	vec_push(&p->frames, *f);
	*slot = p->frames.len - 1;
}

/* The frame that a branch left at @vaddr; NULL if none did. */
static const struct frame *left_at(const struct pass *p, uint64_t vaddr)
{
	const uint64_t *slot = map_get(&p->at, vaddr);

	return slot ? &p->frames.items[*slot] : NULL;
}

static unsigned count_saved(const struct frame *f)
{
	unsigned count = 0;

	for (size_t reg = 0; reg < NREGS; reg++)
		count += f->saved[reg] != 0;
	return count;
}

static bool alike(const struct frame *a, const struct frame *b)
{
	return a->knows_sp == b->knows_sp && a->sp == b->sp && a->has_fp == b->has_fp && a->fp == b->fp &&
	       count_saved(a) == count_saved(b);
}

static void count_frame(struct pass *p, const struct frame *f)
{
	size_t i = 0;

	while (i < p->nkinds && !alike(&p->kinds[i].frame, f))
		i++;
	if (i == KINDS_MAX)
		return;
	if (i == p->nkinds)
		p->kinds[p->nkinds++] = (struct kind){ .frame = *f };
	p->kinds[i].count++;
}

/*
 * The frame of the function's body is the one that most instructions have: more is pushed around a call, and at both ends of the
 * function there is less. A function that makes none has the one it began with.
 */
static struct frame body(const struct pass *p)
{
	const struct kind *best = NULL;

	for (size_t i = 0; i < p->nkinds; i++) {
		const struct kind *kind = &p->kinds[i];

		if (!alike(&kind->frame, &entry_frame) && (!best || kind->count > best->count))
			best = kind;
	}
	return best ? best->frame : entry_frame;
}

/* The frame behind a jump, if no branch led there. */
static struct frame guess(const struct pass *p, const struct code_rows_function *fn)
{
	struct frame f = body(p);

	if (fn->frame_len)
		set_sp(&f, true, fn->frame_len);
	return f;
}

/*
 * Where the body's frame is known, the stack pointer never is lost for long. String.indexOf keeps it on the stack, copies short strings
 * there on the way that is rarely taken, and takes it back: the frame is then the smaller one of two ways that meet.
 */
static void hold_to_body(const struct code_rows_function *fn, const struct frame *other, struct frame *f)
{
	if (!fn->frame_len || f->has_fp)
		return;
	if (!f->knows_sp)
		set_sp(f, true, fn->frame_len);
	if (other && other->knows_sp && other->sp >= (int32_t)fn->frame_len && other->sp < f->sp)
		set_sp(f, true, other->sp);
}

static bool frame_at(struct disasm *d, const struct code_rows_function *fn, uint64_t vaddr,
		     struct pass *p, struct frame *ret)
{
	struct frame f = entry_frame;
	size_t len = MIN(fn->len, CODE_ROWS_LEN_MAX);
	struct disasm_step step;
	bool guessed = false; /* that nothing but the code's order leads here */

	for (size_t at = 0; at < len; at += step.len) {
		uint64_t here = fn->vaddr + at;

		if (!disasm_step(d, fn->code + at, len - at, here, &step) || vaddr < here)
			return false;
		if (guessed && left_at(p, here)) {
			f = *left_at(p, here);
			guessed = false;
		}
		hold_to_body(fn, left_at(p, here), &f);
		if (vaddr - here < step.len) {
			*ret = f;
			return true;
		}
		if (step.target > here && step.target - fn->vaddr < len)
			leave_at_target(p, &f, step.target);
		follow(&f, &step);
		count_frame(p, &f);
		if (step.flow == DISASM_JUMP || step.flow == DISASM_RETURN) {
			f = guess(p, fn);
			guessed = true;
		}
	}
	return false;
}

static bool make_rule(struct cfi_rules *rules, const struct frame *f, uint32_t *ret)
{
	_Alignas(struct cfi_rule) char
		room[sizeof(struct cfi_rule) + (NREGS + 1) * sizeof(struct cfi_reg)];
	struct cfi_rule *rule = (struct cfi_rule *)room;

	*rule = (struct cfi_rule){ .return_reg = RETURN, .plain = true, .from_code = true };
	if (!f->has_fp && (!f->knows_sp || f->sp < 8))
		return false;
	rule->cfa_reg = f->has_fp ? FP : SP;
	rule->cfa_value = f->has_fp ? f->fp : f->sp;
	for (uint16_t reg = 0; reg < NREGS; reg++) {
		bool lost = reg == FP && f->changed >> FP & 1 && !f->saved[FP];

		if (f->saved[reg])
			rule->regs[rule->nregs++] = (struct cfi_reg){ reg, CFI_REG_OFFSET, f->saved[reg] };
		else if (lost)
			rule->regs[rule->nregs++] = (struct cfi_reg){ reg, CFI_REG_UNDEFINED, 0 };
		rule->plain = rule->plain && !lost;
	}
	rule->regs[rule->nregs++] = (struct cfi_reg){ RETURN, CFI_REG_OFFSET, -8 };
	cfi_rule_sum_up(rule, FP);
	*ret = cfi_rules_add(rules, rule);
	return true;
}

bool code_rows_find(struct cfi_rules *rules, struct disasm *d, const struct code_rows_function *f,
		    uint64_t vaddr, uint32_t *ret_rule)
{
	struct pass pass = { 0 };
	struct frame frame;
	bool found;

	/* Else all the code before it would be followed in vain, for each address anew. */
	if (vaddr - f->vaddr >= MIN(f->len, CODE_ROWS_LEN_MAX))
		return false;
	found = frame_at(d, f, vaddr, &pass, &frame) && make_rule(rules, &frame, ret_rule);
	map_deinit(&pass.at);
	vec_deinit(&pass.frames);
	return found;
}

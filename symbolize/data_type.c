/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_type.c - from an operand back to the variable that its base register came from.
 *
 * The search goes back along one way that control may have come. Compilers keep locations of variables for most registers,
 * so that these few steps are what is left: a pointer that was loaded a moment ago and never had a name.
 */
#include "symbolize/data_type.h"

#include "formats/base/bisect.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"

#include <stdlib.h>

#define NO_STEP	  SIZE_MAX
#define STEPS_MAX 8	    /* pointers followed one after the other */
#define BACK_MAX  256	    /* instructions looked back */
#define CODE_MAX  (1u << 20) /* bytes of one function */

struct step {
	uint64_t vaddr;
	uint64_t target; /* of a call */
	enum disasm_flow flow;
	size_t from;	 /* a branch that leads here, NO_STEP if none does */
	struct disasm_access access;
};

struct data_type_function {
	struct debug_types *types;
	int sp;
	uint64_t clobbered;	/* registers that calls may change */
	VEC(struct step) steps; /* in order */
};

/* The step at @vaddr, or the number of steps. */
static size_t step_at(const struct data_type_function *f, uint64_t vaddr)
{
	size_t low = BISECT(f->steps.len, i, f->steps.items[i].vaddr < vaddr);

	return low < f->steps.len && f->steps.items[low].vaddr == vaddr ? low : f->steps.len;
}

static void decode(struct data_type_function *f, struct disasm *disasm,
		   const struct data_type_code *code)
{
	struct disasm_insn insn;
	size_t len = code->len < CODE_MAX ? code->len : CODE_MAX;

	for (size_t at = 0; disasm_next(disasm, code->bytes + at, len - at, code->vaddr + at, &insn);
	     at += insn.len) {
		struct step step = { insn.vaddr, insn.target, insn.flow, NO_STEP, { 0 } };

		disasm_access(disasm, code->bytes + at, len - at, insn.vaddr, &step.access);
		vec_push(&f->steps, step);
	}
	for (size_t i = 0; i < f->steps.len; i++) {
		const struct step *step = &f->steps.items[i];
		size_t to = step->flow == DISASM_JUMP || step->flow == DISASM_BRANCH
				    ? step_at(f, step->target)
				    : f->steps.len;

		if (to < f->steps.len && f->steps.items[to].from == NO_STEP)
			f->steps.items[to].from = i;
	}
}

static struct debug_place memory_of(struct data_type_function *f, size_t at, int depth);
static struct debug_place pointed_by(struct data_type_function *f, int reg, int64_t disp, size_t at,
				     int depth);

static struct debug_place moved(struct debug_place place, int64_t disp)
{
	place.offset += disp;
	return place;
}

/* What @reg + @disp points to behind instruction @at, which changes @reg. */
static struct debug_place effect_of(struct data_type_function *f, int reg, int64_t disp, size_t at,
				    int depth)
{
	const struct step *step = &f->steps.items[at];
	const struct disasm_access *access = &step->access;
	struct debug_place place = { 0 };

	if (step->flow == DISASM_CALL)
		return reg == 0 && step->target ?
			       moved(debug_types_returned(f->types, step->target), disp) : place;
	if (access->target != reg)
		return place;
	switch (access->effect) {
	case DISASM_EFFECT_LOAD:
		return moved(debug_types_follow(f->types, memory_of(f, at, depth + 1)), disp);
	case DISASM_EFFECT_ADDRESS:
		return moved(memory_of(f, at, depth + 1), disp);
	case DISASM_EFFECT_COPY:
		return pointed_by(f, access->source, disp, at, depth + 1);
	case DISASM_EFFECT_ADD:
		return pointed_by(f, access->source, disp + access->disp, at, depth + 1);
	case DISASM_EFFECT_SUM: /* one is the pointer, the other an index */
		place = pointed_by(f, reg, disp, at, depth + 1);
		if (!place.type)
			place = pointed_by(f, access->source, disp, at, depth + 1);
		place.is_element = place.type;
		return place;
	default:
		return place;
	}
}

/*
 * An instruction that may run right before *@at. Where several may, any will do: what a register holds where control meets is
 * one variable, of one type.
 */
static bool step_before(const struct data_type_function *f, size_t *at)
{
	const struct step *here = &f->steps.items[*at];
	const struct step *before = *at ? here - 1 : NULL;

	if (before && before->flow != DISASM_JUMP && before->flow != DISASM_RETURN) {
		--*at;
		return true;
	}
	if (here->from == NO_STEP)
		return false;
	*at = here->from;
	return true;
}

static bool changes(const struct data_type_function *f, const struct step *step, int reg)
{
	uint64_t bit = 1ull << reg;

	return (step->access.written & bit) || (step->flow == DISASM_CALL && (f->clobbered & bit));
}

/* What @reg + @disp points to when instruction @at begins. */
static struct debug_place pointed_by(struct data_type_function *f, int reg, int64_t disp, size_t at,
				     int depth)
{
	struct debug_place none = { 0 }, place;

	if (depth > STEPS_MAX || reg < 0)
		return none;
	place = debug_types_pointed(f->types, f->steps.items[at].vaddr, reg, disp);
	if (place.type)
		return place;

	/* Up to where it got its value. A variable may be known to be there only at first, such as a parameter that is moved on. */
	size_t before = at, here = at;

	for (size_t back = 0; back < BACK_MAX; back++) {
		if (!step_before(f, &before))
			return debug_types_pointed(f->types, f->steps.items[here].vaddr, reg, disp);
		if (changes(f, &f->steps.items[before], reg)) {
			place = debug_types_pointed(f->types, f->steps.items[here].vaddr, reg, disp);
			return place.type ? place : effect_of(f, reg, disp, before, depth);
		}
		here = before;
	}
	return none;
}

/* The place of the memory operand of instruction @at. */
static struct debug_place memory_of(struct data_type_function *f, size_t at, int depth)
{
	const struct step *step = &f->steps.items[at];
	const struct disasm_access *access = &step->access;
	struct debug_place place = { 0 };

	if (!access->has_memory || access->is_segment || depth > STEPS_MAX)
		return place;
	if (access->base == DISASM_PC || (access->base < 0 && access->disp > 0))
		return debug_types_global(f->types, step->vaddr, (uint64_t)access->disp);
	if (access->base < 0)
		return place;
	place = debug_types_in_frame(f->types, step->vaddr, access->base, access->disp);
	if (!place.type) {
		place = pointed_by(f, access->base, access->disp, at, depth);
		if (!place.type && access->index >= 0 && access->scale == 1)
			place = pointed_by(f, access->index, access->disp, at, depth);
	}
	place.is_element |= access->index >= 0;
	return place;
}

struct data_type_function *data_type_open(struct debug_types *types, struct disasm *disasm,
					  const struct arch *arch,
					  const struct data_type_code *code)
{
	struct data_type_function *f = memory_zeroed(1, sizeof(*f));

	f->types = types;
	f->sp = arch->sp;
	f->clobbered = disasm_clobbered(disasm);
	decode(f, disasm, code);
	return f;
}

void data_type_close(struct data_type_function *f)
{
	if (!f)
		return;
	vec_deinit(&f->steps);
	free(f);
}

enum data_type_status data_type_find(struct data_type_function *f, uint64_t vaddr,
				     struct debug_place *ret)
{
	size_t at = step_at(f, vaddr);
	struct debug_place place = { 0 };

	if (at == f->steps.len)
		return DATA_TYPE_NO_CODE;
	if (!f->steps.items[at].access.accesses)
		return DATA_TYPE_NO_ACCESS;
	if (!f->types)
		return DATA_TYPE_UNKNOWN;
	place = memory_of(f, at, 0);
	if (!place.type && f->steps.items[at].access.base == f->sp)
		return DATA_TYPE_SPILL;
	if (!debug_types_is_inside(f->types, place))
		return DATA_TYPE_UNKNOWN;
	*ret = place;
	return DATA_TYPE_FOUND;
}

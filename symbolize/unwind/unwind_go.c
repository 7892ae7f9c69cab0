/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_go.c - a step out of a function of Go's runtime that calls something else on the thread's own stack (g0's), and whose table does not
 * say so.
 *
 *	goroutine's stack                          thread's stack
 *	… | caller's fp | return address | …       what was called | return address | whatever was there before
 *	    ▲ systemstack's frame pointer                          ▲ its stack pointer, as the table has it
 *
 * What lies above on the thread's stack is no frame of this call, although there may be return addresses among it. The goroutine's stack may be
 * anywhere: in the snapshot too, where it happens to lie above the thread's, or in what was read of the stack before.
 *
 * racecall(), which calls the race detector, is a leaf by its table. It keeps the goroutine's stack pointer in a register that calls preserve.
 *
 * Sources: runtime/asm_amd64.s, asm_arm64.s, sys_linux_amd64.s, race_amd64.s of Go 1.16 to 1.26; cmd/internal/obj/x86 and arm64 (where the frame pointer is
 * saved).
 */
#include "symbolize/unwind/unwind_walk.h"

#define RACE_SP_REG 12 /* r12: racecall()'s, of the goroutine's stack */
#define PAIRS_MAX 64 /* frames on the thread's stack */

/* What was there before a step that is given up. */
struct before {
	struct unwind_state state;
	size_t nsaves;
	const struct event_stack *stack;
};

static struct before remember(const struct unwind_walk *w)
{
	return (struct before){ w->state, w->nsaves, w->stack.snapshot };
}

static void give_up(struct unwind_walk *w, const struct before *before)
{
	w->state = before->state;
	w->nsaves = before->nsaves;
	if (w->stack.snapshot != before->stack)
		unwind_stack_switch(&w->stack);
}

static bool has_returned(struct unwind_walk *w, enum unwind_outcome outcome)
{
	return outcome == UNWIND_STEPPED && unwind_check_return(w, w->state.regs[w->arch->ip]) == UNWIND_CALL_YES;
}

/* The step by @rule, if the function's frame is at @sp, on this stack farther up or on the other one. */
static bool step_at(struct unwind_walk *w, const struct cfi_rule *rule, uint64_t sp)
{
	const struct before before = remember(w);

	if (!unwind_stack_holds(w->stack.snapshot, sp)) {
		if (!unwind_stack_holds(w->stack.other, sp))
			return false;
		unwind_stack_switch(&w->stack);
	} else if (sp < w->state.regs[w->arch->sp]) {
		return false;
	}
	unwind_state_return(w, w->state.regs[w->arch->ip], sp, /* known= */ 0);
	w->state.saved = 0;
	if (has_returned(w, unwind_step(w, rule))) {
		w->reads = w->ip | w->sp | w->fp;
		w->writes = ~0ULL;
		return true;
	}
	give_up(w, &before);
	return false;
}

/* The same if its frame pointer was @fp. */
static bool step_from(struct unwind_walk *w, const struct cfi_rule *rule, uint64_t fp)
{
	return rule->plain && rule->cfa_reg == w->arch->sp &&
	       step_at(w, rule, fp + 8 - (uint64_t)(int64_t)rule->ra_value - (uint64_t)(int64_t)rule->cfa_value);
}

static bool word_at(struct unwind_walk *w, uint64_t address, uint64_t *ret)
{
	return unwind_stack_holds(w->stack.snapshot, address) && unwind_stack_word(&w->stack, address, ret) == UNWIND_READ_OK;
}

/* What was called has pushed the frame pointer, unless it is a leaf: x86-64 below its return address, else at the end of the chain. */
static bool step_by_saved_pointer(struct unwind_walk *w, const struct cfi_rule *rule)
{
	uint64_t ip = w->state.regs[w->arch->ip], fp = w->state.regs[w->arch->fp], link;

	if (w->arch == &arch_x86_64)
		return word_at(w, w->state.regs[w->arch->sp] - 16, &fp) && step_from(w, rule, fp);
	for (unsigned i = 0; i < PAIRS_MAX && unwind_knows(&w->state, w->arch->fp); i++) {
		if (!word_at(w, fp + 8, &link) || !word_at(w, fp, &fp))
			return false;
		if ((link & w->code_mask) == ip)
			return step_from(w, rule, fp);
	}
	return false;
}

/*
 * asmcgocall() has called C where it was itself, having aligned the stack pointer: the one before is the lowest word of its frame. Else it was
 * noted where it left the goroutine's stack, and that was read from there on.
 */
static bool step_by_noted_pointer(struct unwind_walk *w, const struct cfi_rule *rule)
{
	uint64_t sp = w->state.regs[w->arch->sp], kept;

	if (w->arch == &arch_x86_64 && word_at(w, sp, &kept) && kept > sp && unwind_stack_holds(w->stack.snapshot, kept))
		return step_at(w, rule, kept);
	return w->stack.other && step_at(w, rule, w->stack.other->base);
}

/* racecall() has left the goroutine's stack where its register says, or where that was read from. */
static bool step_from_race(struct unwind_walk *w, const struct cfi_rule *rule)
{
	if (w->arch != &arch_x86_64)
		return false;
	if (unwind_knows(&w->state, RACE_SP_REG) && step_at(w, rule, w->state.regs[RACE_SP_REG]))
		return true;
	return w->stack.other && step_at(w, rule, w->stack.other->base);
}

/* The frame pointer is the caller's, whichever stack this is. */
static bool is_on_callers_stack(const struct unwind_walk *w)
{
	return unwind_knows(&w->state, w->arch->fp) && unwind_stack_holds(w->stack.snapshot, w->state.regs[w->arch->fp]);
}

/* Interrupted, it may not have switched yet, or have come back. */
static enum unwind_outcome step_interrupted(struct unwind_walk *w, const struct cfi_rule *rule)
{
	const struct before before = remember(w);
	enum unwind_outcome outcome;

	if (rule->go == CFI_GO_RACE && !is_on_callers_stack(w))
		return step_from_race(w, rule) ? UNWIND_STEPPED : UNWIND_NO_WAY;
	outcome = unwind_step(w, rule);
	if (outcome != UNWIND_STEPPED || has_returned(w, outcome))
		return outcome;
	give_up(w, &before);
	if (rule->go == CFI_GO_NO_RETURN)
		return UNWIND_IS_ROOT;
	return unwind_knows(&w->state, w->arch->fp) && step_from(w, rule, w->state.regs[w->arch->fp]) ? UNWIND_STEPPED : UNWIND_SWITCHES;
}

enum unwind_outcome unwind_step_go(struct unwind_walk *w, const struct cfi_rule *rule)
{
	if (w->state.exact)
		return step_interrupted(w, rule);
	w->reads = w->ip | w->sp | w->fp;
	w->writes = 0;
	if (rule->go == CFI_GO_NO_RETURN)
		return UNWIND_IS_ROOT;
	/* The frame pointer is its caller's, so that the kernel's chain lacks that. */
	if (rule->go == CFI_GO_RACE)
		return step_from_race(w, rule) ? UNWIND_STEPPED : UNWIND_NO_WAY;
	if (rule->go == CFI_GO_SYSTEM_STACK && step_by_saved_pointer(w, rule))
		return UNWIND_STEPPED;
	if (unwind_knows(&w->state, w->arch->fp) && step_from(w, rule, w->state.regs[w->arch->fp]))
		return UNWIND_STEPPED;
	if (rule->go == CFI_GO_C && step_by_noted_pointer(w, rule))
		return UNWIND_STEPPED;
	w->stack.failed = true;
	return UNWIND_SWITCHES;
}

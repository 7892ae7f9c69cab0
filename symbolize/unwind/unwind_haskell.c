/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_haskell.c - a step from code that GHC made (x86-64) to the C function that runs it.
 *
 *	machine's stack
 *	sp ─► | what was pushed for a call of C | room for spills, 16 KiB | 6 registers | return address | C: schedule() …
 *	                                        ▲ StgRun's frame
 *
 * Haskell code keeps its callers on a stack of its own, in the heap; what StgRun() left on the machine's stack when it jumped there stays
 * where it is. So the frame below all Haskell code is StgRun's, wherever that code is interrupted, and only the callers between are left out.
 * The return address must follow a direct call of a function whose table says what StgRun's does, and nothing else's: the stack pointer is
 * the frame's own end, and the return address lies above the room for spills.
 *
 * Sources: GHC, rts/StgCRun.c (StgRun for x86-64, "Note [Unwinding foreign exports on x86-64]"), rts/include/rts/Constants.h.
 */
#include "symbolize/unwind/unwind_walk.h"

#define SPILLS	   16384 /* RESERVED_C_STACK_BYTES */
#define RETURN_AT  (SPILLS + 48)
#define PUSHED_MAX 64 /* bytes: alignment, and arguments of C that are in no register */
#define BODY	   42 /* from StgRun's start to its jump into Haskell code, and on the way from where on its table holds */

static const struct cfi_reg *entry_of(const struct cfi_rule *rule, unsigned reg)
{
	for (size_t i = 0; i < rule->nregs; i++)
		if (rule->regs[i].reg == reg)
			return &rule->regs[i];
	return NULL;
}

static bool is_of_stg_run(const struct unwind_walk *w, struct unwind_rule rule)
{
	const struct cfi_reg *ip, *sp;

	if (rule.kind != UNWIND_RULE_CFI || rule.cfi->from_code || rule.cfi->cfa_is_expr || rule.cfi->cfa_reg != w->arch->sp || rule.cfi->cfa_value)
		return false;
	ip = entry_of(rule.cfi, w->arch->ip);
	sp = entry_of(rule.cfi, w->arch->sp);
	return ip && ip->kind == CFI_REG_OFFSET && ip->value == RETURN_AT && sp && sp->kind == CFI_REG_VAL_EXPR;
}

/* Where StgRun() has jumped, if its frame is at @frame; 0: that is none. */
static uint64_t jump_of_stg_run(struct unwind_walk *w, uint64_t frame)
{
	const struct space_map *map;
	uint64_t word, at;

	if (unwind_stack_word(&w->stack, frame + RETURN_AT, &word) != UNWIND_READ_OK || !word)
		return 0;
	at = unwind_called_at(w, word);
	map = at ? unwind_tables_map(w->tables, w->space, at + BODY) : NULL;
	return map && map->exec && is_of_stg_run(w, unwind_tables_find(w->tables, map, at + BODY)) ? at + BODY : 0;
}

bool unwind_step_haskell(struct unwind_walk *w)
{
	const bool failed = w->stack.failed;
	const uint64_t sp = w->state.regs[w->arch->sp], missing = w->stack.missing;

	if (w->arch != &arch_x86_64)
		return false;
	for (uint64_t pushed = 0; pushed <= PUSHED_MAX; pushed += 8) {
		uint64_t jump = jump_of_stg_run(w, sp + pushed);

		if (!jump)
			continue;
		w->reads = w->ip | w->sp;
		w->writes = ~0ULL;
		unwind_state_return(w, jump + 1, sp + pushed, /* known= */ 0);
		w->state.saved = 0;
		w->kept = w->skipped = true;
		return true;
	}
	w->stack.failed = failed;
	w->stack.missing = missing;
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_fallback.c - steps where no rule is: code of a JIT, hand-written assembly, files that are missing.
 *
 * Only the frame pointer, and for the interrupted function the word at the stack pointer, are tried.
 * Memory is never searched for something that looks like a return address.
 *
 *	fp ─► | caller's fp | return address |  caller's frame …      (both architectures)
 */
#include "symbolize/unwind_walk.h"

/* Words above a stack's first frame that are looked at: the environment, or what a thread library keeps there. */
#define BOTTOM_WORDS 64

/*
 * Both the address and the call in front of it are code: where a mapping begins or ends there is none, and
 * pruning keeps such a word no more than any other number.
 */
static enum unwind_call check_return(struct unwind_walk *w, uint64_t ip)
{
	const struct space_map *map = ip ? unwind_tables_map(w->tables, w->space, ip) : NULL;

	if (map && map->exec)
		map = unwind_tables_map(w->tables, w->space, ip - 1);
	return map && map->exec ? unwind_tables_call(w->tables, map, ip) : UNWIND_CALL_NO;
}

static uint64_t strip(const struct unwind_walk *w, uint64_t ip)
{
	return w->arch->lr >= 0 ? ip & w->arch->code_mask : ip;
}

/* Keep the frame pointer and what else calls preserve: a function without a frame has not touched them. */
static void return_from_leaf(struct unwind_walk *w, uint64_t ip, uint64_t sp)
{
	w->writes = ~w->arch->callee_saved | 1ULL << w->arch->sp;
	unwind_state_return(w, ip, sp, w->state.known & w->arch->callee_saved);
}

/*
 * The interrupted function may not have made its frame yet, or never will: then its return address is on
 * top of the stack, or below the frame pointer that it has just pushed. In a file that has a table, what the
 * table leaves out are stubs (_init, PLT entries) that have pushed two words at the most.
 */
static bool step_top_of_stack(struct unwind_walk *w, unsigned nwords)
{
	uint64_t sp = w->state.regs[w->arch->sp], fp = w->state.regs[w->arch->fp];
	uint64_t word;

	for (unsigned i = 0; i < nwords; i++) {
		if (unwind_stack_word(&w->stack, sp + 8 * i, &word) != UNWIND_READ_OK)
			return false;
		if (check_return(w, word) == UNWIND_CALL_YES) {
			return_from_leaf(w, word, sp + 8 * (i + 1));
			return true;
		}
		if (i == 0 && word == fp)
			nwords = MAX(nwords, 2);
	}
	return false;
}

/* Only where the frame pointer does not help: the link register may be left over from an earlier call. */
static bool step_link_register(struct unwind_walk *w)
{
	uint64_t link = strip(w, w->state.regs[w->arch->lr]);

	if (!unwind_knows(&w->state, (unsigned)w->arch->lr) || link == w->state.regs[w->arch->ip] ||
	    check_return(w, link) != UNWIND_CALL_YES)
		return false;
	return_from_leaf(w, link, w->state.regs[w->arch->sp]);
	return true;
}

bool unwind_is_bottom(struct unwind_walk *w)
{
	uint64_t address = w->state.regs[w->arch->sp], word;
	uint64_t end = address + 8 * BOTTOM_WORDS;

	while (unwind_stack_next(&w->stack, &address, &word) && address < end) {
		if (check_return(w, strip(w, word)) != UNWIND_CALL_NO)
			return false;
		address += 8;
	}
	return true;
}

/* A frame pointer that is followed: on the stack, not below its top, aligned. */
static enum unwind_outcome check_fp(struct unwind_walk *w, uint64_t fp)
{
	if (!unwind_knows(&w->state, w->arch->fp) || fp % 8 || fp < w->state.regs[w->arch->sp])
		return UNWIND_NO_WAY;
	if (unwind_stack_holds_pair(&w->stack, fp))
		return UNWIND_STEPPED;
	w->stack.failed = true;
	w->stack.missing = fp + 8;
	if (!w->stack.snapshot->cut || fp < w->stack.snapshot->base)
		return UNWIND_NO_WAY;
	return UNWIND_BEYOND;
}

static enum unwind_outcome step_frame_pointer(struct unwind_walk *w, enum unwind_how *ret_how)
{
	bool by_fp = *ret_how == UNWIND_FP || *ret_how == UNWIND_FP_UNCHECKED;
	uint64_t fp = w->state.regs[w->arch->fp];
	uint64_t caller_fp = 0, ip = 0;
	enum unwind_outcome outcome;
	enum unwind_call call;

	if (unwind_knows(&w->state, w->arch->fp) && fp == 0)
		return by_fp || unwind_is_bottom(w) ? UNWIND_IS_ROOT : UNWIND_NO_WAY;
	outcome = check_fp(w, fp);
	if (outcome != UNWIND_STEPPED)
		return outcome;
	unwind_stack_word(&w->stack, fp, &caller_fp);
	unwind_stack_word(&w->stack, fp + 8, &ip);
	ip = strip(w, ip);
	if (!ip && !caller_fp)
		return by_fp || unwind_is_bottom(w) ? UNWIND_IS_ROOT : UNWIND_NO_WAY;
	call = check_return(w, ip);
	if (call == UNWIND_CALL_NO || (caller_fp && caller_fp <= fp && call != UNWIND_CALL_YES))
		return UNWIND_NO_WAY;
	*ret_how = call == UNWIND_CALL_YES ? UNWIND_FP : UNWIND_FP_UNCHECKED;
	w->writes = ~0ULL;
	w->state.regs[w->arch->fp] = caller_fp;
	w->state.saved = 0;
	unwind_state_return(w, ip, fp + 16, 1ULL << w->arch->fp);
	return UNWIND_STEPPED;
}

enum unwind_outcome unwind_step_fallback(struct unwind_walk *w, bool in_stub,
					 enum unwind_how *ret_how)
{
	enum unwind_outcome outcome;

	w->reads = 1ULL << w->arch->ip | 1ULL << w->arch->sp | 1ULL << w->arch->fp;
	w->reads |= w->arch->lr >= 0 ? 1ULL << w->arch->lr : 0;
	w->writes = 0;
	if (w->state.exact && w->arch->lr < 0 && step_top_of_stack(w, in_stub ? 3 : 1)) {
		*ret_how = UNWIND_LINK;
		return UNWIND_STEPPED;
	}
	outcome = step_frame_pointer(w, ret_how);
	if (outcome == UNWIND_NO_WAY && w->state.exact && w->arch->lr >= 0 &&
	    step_link_register(w)) {
		*ret_how = UNWIND_LINK;
		return UNWIND_STEPPED;
	}
	return outcome;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_landing.c - the frame that an exception leaves for its handler.
 *
 * libgcc's _Unwind_RaiseException and the like return into another frame than they were called from. Before that they
 * replace what they have saved: registers and return address become those of the function that catches, copied from
 * where they were on the stack (uw_install_context). Their rule then leads to that function, but with the stack
 * pointer of their own caller:
 *
 *	  sp                                 CFA                              p
 *	| … | &p … | registers | return address | frames that are left … | return address |  frame of the one that catches
 *	      |                  = word at p                                ^
 *	      +-------------------------------------------------------------+
 *
 * The context of that function is in the frame (struct _Unwind_Context), and in it the address of the copied word,
 * from which the function's own frame follows. Until it is replaced, the return address is that of the caller, which
 * stands nowhere else: then nothing is found, and the rule is right. At last the word at p becomes the handler's address,
 * to which the function returns; no call precedes it.
 */
#include "symbolize/unwind/unwind_walk.h"

/* The registers that pass the exception to its handler; no other function saves them (System V ABI, AMD64 supplement, 6.2). */
enum { RAX, RDX };
#define PASSED (1ULL << RAX | 1ULL << RDX)

static bool may_leave(const struct unwind_walk *w, const struct cfi_rule *rule)
{
	return rule->plain && w->arch == &arch_x86_64 && cfi_rule_passes_exception(rule);
}

/* Is what stands at @place a copy of the return address, or the handler's address in the same function, which has taken its place? */
static bool is_origin(struct unwind_walk *w, uint64_t place, uint64_t return_address)
{
	const struct space_map *map;
	uint64_t word;

	if (!unwind_stack_holds(w->stack.snapshot, place) || unwind_stack_word(&w->stack, place, &word) != UNWIND_READ_OK)
		return false;
	if (word == return_address || unwind_check_return(w, word) != UNWIND_CALL_NO)
		return word == return_address;
	map = unwind_tables_map(w->tables, w->space, word);
	return map && map == unwind_tables_map(w->tables, w->space, return_address - 1) &&
	       unwind_tables_origin(w->tables, map, word).begin == unwind_tables_origin(w->tables, map, return_address - 1).begin;
}

/* Where the return address was copied from, as a word of the frame says; 0 if none does, or two say different things. */
static uint64_t origin_of(struct unwind_walk *w, uint64_t sp, uint64_t cfa, uint64_t return_address)
{
	uint64_t found = 0, place;

	for (uint64_t at = sp; unwind_stack_next(&w->stack, &at, &place) && at < cfa; at += 8) {
		if (place < cfa || place % 8 || place == found || !is_origin(w, place, return_address))
			continue;
		if (found)
			return 0;
		found = place;
	}
	return found;
}

/* What has been saved may have been restored already: the frame is then that of the function that catches. */
static bool has_left(struct unwind_walk *w, const struct cfi_rule *rule)
{
	return !(rule->saved & PASSED) && unwind_check_return(w, w->state.regs[w->arch->ip]) == UNWIND_CALL_NO;
}

/* Rare, so that the check before it stays a few instructions. */
static __attribute__((noinline)) void land(struct unwind_walk *w, const struct cfi_rule *rule, uint64_t sp)
{
	uint64_t *caller_sp = &w->state.regs[w->arch->sp], place = 0;

	w->state.exact = has_left(w, rule);
	if (!w->state.exact)
		place = origin_of(w, sp, *caller_sp, w->state.regs[w->arch->ip]);
	if (place)
		*caller_sp = place + 8;
	w->kept |= w->state.exact || place;
}

void unwind_land(struct unwind_walk *w, const struct cfi_rule *rule, uint64_t sp)
{
	if (may_leave(w, rule))
		land(w, rule, sp);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_red_zone.c - a step by a rule that reads below the stack pointer.
 *
 * A function that calls nothing may use the 128 bytes there (System V ABI, AMD64 supplement 1.0, 3.2.2). OpenSSL's
 * AVX2 code for SHA-256 and SHA-512 keeps in them the stack pointer that it had before it made its frame, and
 * its rule reads that. The kernel's copy of a stack begins at the stack pointer:
 *
 *	  sp - 8        sp                      copy                          value
 *	| missing |    | data of this round … | value | saved registers … | return address |  caller's frame …
 *	           no snapshot ◄─┴─► snapshot
 *
 * But the function has moved down since, and where it was first the frame still holds the same word. So each word of
 * the frame that points farther up is put in the place of the missing one. The rule must then lead to a return
 * address that follows a call, and all words that do must lead to the same one.
 */
#include "symbolize/unwind_walk.h"

#define RED_ZONE_LEN 128
#define FRAME_MAX    8192 /* from the stack pointer to the return address; OpenSSL's largest has less than 4 KiB */

static bool is_in_red_zone(const struct unwind_walk *w, uint64_t address)
{
	uint64_t sp = w->state.regs[w->arch->sp];

	return address < sp && sp - address <= RED_ZONE_LEN;
}

/* Could @word, which lies at @address, say where this frame ends? */
static bool may_be_copy(const struct unwind_walk *w, uint64_t address, uint64_t word)
{
	return word % 8 == 0 && word > address && word - w->state.regs[w->arch->sp] < FRAME_MAX &&
	       unwind_stack_holds_pair(&w->stack, word);
}

/* Step with @word as the missing one; @w is the caller's then. */
static bool try_word(struct unwind_walk *w, const struct cfi_rule *rule, uint64_t word)
{
	w->stack.assumed = word;
	return unwind_step(w, rule) == UNWIND_STEPPED &&
	       unwind_check_return(w, w->state.regs[w->arch->ip]) == UNWIND_CALL_YES;
}

/* The one word that leads to a caller; 0: none does, or not all to the same. */
static uint64_t find_copy(struct unwind_walk *w, const struct cfi_rule *rule)
{
	const struct unwind_state callee = w->state;
	uint64_t address = callee.regs[w->arch->sp], end = address + FRAME_MAX;
	uint64_t word, found = 0;

	for (; unwind_stack_next(&w->stack, &address, &word) && address < end; address += 8) {
		bool leads;

		if (word == found || !may_be_copy(w, address, word))
			continue;
		leads = try_word(w, rule, word);
		w->state = callee;
		if (leads && found)
			return 0;
		if (leads)
			found = word;
	}
	return found;
}

bool unwind_step_red_zone(struct unwind_walk *w, const struct cfi_rule *rule)
{
	uint64_t missing = w->stack.missing, word;

	if (!w->state.exact || !rule->cfa_is_expr || !w->stack.failed || !is_in_red_zone(w, missing))
		return false;
	w->stack.assumed_at = missing;
	word = find_copy(w, rule);
	if (word)
		try_word(w, rule, word);
	w->stack.assumed_at = 0;
	w->stack.failed = !word;
	w->stack.missing = missing;
	return word;
}

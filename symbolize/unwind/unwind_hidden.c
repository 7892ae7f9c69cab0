/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_hidden.c - a step by a rule that asks for what no trace has.
 *
 * OpenSSL's assembly keeps in its frames the stack pointer from before they were made, and its rules say where. Two of
 * these places cannot be found:
 *
 *	CFA = *(sp - 8) + 8           SHA-256 and SHA-512 for AVX2. A function that calls nothing may use the 128 bytes below
 *	                              the stack pointer (System V ABI, AMD64 supplement 1.0, 3.2.2); the kernel's copy of
 *	                              a stack begins at the stack pointer.
 *	CFA = *(sp + 8 * r9 + 8) + 8  Montgomery multiplication, for RSA. r9 is a number, and the recorder keeps no
 *	                              application data (record/sample/prune.h).
 *
 * But the word is in the frame: where the rule looks for it, or where it was stored before the function moved on:
 *
 *	  sp                              copy                          value
 *	| data … | | | | | | | | | | | | | value | saved registers … | return address |  caller's frame …
 *
 * So each word of the frame that points farther up is taken for what the rule reads. The rule must then lead to a
 * return address that follows a call, and all words that do must lead to the same one.
 */
#include "symbolize/unwind/unwind_walk.h"

/*
 * From the stack pointer to the return address: the word must be found if there is another like it. OpenSSL's largest
 * is for moduli of 16,384 bits, 4.4 KiB and as much as 4 KiB to keep away from other data.
 */
#define FRAME_MAX 16384

/* Could @word, which lies at @address, say where this frame ends? */
static bool may_be_copy(const struct unwind_walk *w, uint64_t address, uint64_t word)
{
	return word % 8 == 0 && word > address && word - w->state.regs[w->arch->sp] < FRAME_MAX &&
	       unwind_stack_holds_pair(&w->stack, word);
}

/* Step with @word as what the rule reads; @w is the caller's then. */
static bool try_word(struct unwind_walk *w, const struct cfi_rule *rule, uint64_t word)
{
	enum unwind_outcome outcome;

	w->assumed = &word;
	outcome = unwind_step(w, rule);
	w->assumed = NULL;
	return outcome == UNWIND_STEPPED &&
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

bool unwind_step_hidden(struct unwind_walk *w, const struct cfi_rule *rule)
{
	uint64_t missing = w->stack.missing, word;

	if (!w->state.exact || !rule->cfa_is_expr || !w->stack.failed)
		return false;
	word = find_copy(w, rule);
	if (word)
		try_word(w, rule, word);
	w->stack.failed = !word;
	w->stack.missing = missing;
	return word;
}

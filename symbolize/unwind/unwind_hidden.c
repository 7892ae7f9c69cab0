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
 * return address that follows a call.
 *
 * A large frame also holds words that earlier, deeper calls left there, and one of these may lead to a return address of
 * theirs. Which word is the function's own is known from the function itself: its first instructions, carried out with the
 * stack pointer that the word implies, store it at one place of the frame, where it must be (unwind_prologue.h). Without
 * that code, or where it computes with registers, the word is preferred that leads to a call of this function, or of one
 * just before it, from which assembly often goes on to another; and all that are as good must lead to the same one.
 */
#include "symbolize/unwind/unwind_walk.h"

#include "symbolize/unwind/unwind_prologue.h"

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

/* From the least sure on. */
enum verdict {
	REFUTED,
	UNPROVEN,
	CALLED, /* the call that it leads to is one of this function, or of one that went on to it */
	PROVEN,
};

/* Would the function, which stopped at @ip, have stored @word where it is? @w is the caller's, as @word leads to it. */
static enum verdict judge(struct unwind_walk *w, const struct unwind_code *code, uint64_t ip, uint64_t word)
{
	struct unwind_prologue p = { .entry = w->state.regs[w->arch->sp] - 8, .word = word };
	enum verdict by_call = unwind_calls_near(w, w->state.regs[w->arch->ip], ip) ? CALLED : UNPROVEN;
	uint64_t stored;

	if (!code->bytes || !unwind_prologue_find(unwind_tables_disasm(w->tables), code->bytes,
						  code->len, code->vaddr, &p))
		return by_call;
	if (unwind_stack_word(&w->stack, p.slot, &stored) == UNWIND_READ_OK && stored == word)
		return PROVEN;
	return p.sure ? REFUTED : by_call;
}

/* The surest word so far that leads to a caller. */
struct choice {
	enum verdict verdict;
	uint64_t word; /* 0: none does */
	bool differ;   /* there is another one as sure, which leads elsewhere */
};

static void add_choice(struct choice *c, uint64_t word, enum verdict verdict)
{
	if (verdict == REFUTED || verdict < c->verdict)
		return;
	*c = (struct choice){ verdict, word, verdict == c->verdict };
}

/* The word that the rule would have read; 0: there is none, or which one it is cannot be determined. */
static uint64_t find_copy(struct unwind_walk *w, const struct cfi_rule *rule)
{
	const struct unwind_state callee = w->state;
	uint64_t address = callee.regs[w->arch->sp], end = address + FRAME_MAX, ip = callee.regs[w->arch->ip];
	struct unwind_code code = { 0 };
	struct choice choice = { 0 };
	uint64_t word;

	if (unwind_tables_disasm(w->tables))
		unwind_tables_code(w->tables, unwind_tables_map(w->tables, w->space, ip), ip, &code);
	for (; unwind_stack_next(&w->stack, &address, &word) && address < end; address += 8) {
		if (word == choice.word || !may_be_copy(w, address, word))
			continue;
		if (try_word(w, rule, word))
			add_choice(&choice, word, judge(w, &code, ip, word));
		w->state = callee;
	}
	return choice.differ ? 0 : choice.word;
}

bool unwind_step_hidden(struct unwind_walk *w, const struct cfi_rule *rule)
{
	uint64_t missing = w->stack.missing, word;
	bool failed = w->stack.failed;

	if (!w->state.exact || !rule->cfa_is_expr)
		return false;
	word = find_copy(w, rule);
	if (word)
		try_word(w, rule, word);
	w->stack.failed = failed && !word;
	w->stack.missing = missing;
	return word;
}

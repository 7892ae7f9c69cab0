/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_prologue.h - where a function keeps the stack pointer from before it realigned its stack: its first
 * instructions, carried out with numbers.
 */
#ifndef SYMBOLIZE_UNWIND_PROLOGUE_H
#define SYMBOLIZE_UNWIND_PROLOGUE_H

#include "symbolize/disasm.h"

#define UNWIND_PROLOGUE_LEN 192 /* bytes of code that are looked at */

/* A function that was entered with stack pointer @entry and keeps @word somewhere. */
struct unwind_prologue {
	uint64_t entry, word;
	uint64_t slot; /* the answer: where on the stack */
	bool sure;     /* the answer: no branch leads around the store */
};

/*
 * Carry out the @len bytes of x86-64 code at @vaddr, where the function begins, up to a call, a jump or a return. False: they store
 * @p->word nowhere.
 */
bool unwind_prologue_find(struct disasm *d, const uint8_t *code, size_t len, uint64_t vaddr,
			  struct unwind_prologue *p);

#endif

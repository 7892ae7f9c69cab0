/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytecode_words.h - keeps, of a pruned stack, what the interpreters of HotSpot (symbolize/unwind/hotspot_frames.h) and V8 (v8_frames.h)
 * execute in each of their frames; x86-64.
 *
 *	| frame pointer | return address |   of what the interpreter called: it leads into the interpreter, and
 *	        └─► rbp: rbp-24 the method, rbp-64 its bytecode, 0 if it is native         (HotSpot)
 *	            rbp-16 the function, rbp-32 its array of bytecode, rbp-40 the offset  (V8)
 *
 * Pruning would drop these words because they point into data; they are the runtime's, not the application's. For V8 the sum of array and
 * offset replaces the array. HotSpot's native methods have no bytecode: the method itself replaces it. Compiled functions of V8 have
 * function and array there too; these are only passed on.
 */
#ifndef RECORD_BYTECODE_WORDS_H
#define RECORD_BYTECODE_WORDS_H

#include "record/runtime/runtime_reader.h"
#include "record/sample/prune.h"

#define BYTECODE_WORDS_MAX 512 /* frames of one stack, innermost first */

#define BYTECODE_WORDS_NO_SLOT UINT32_MAX

struct bytecode_word {
	struct runtime_bytecode code;
	uint32_t slot; /* where its address is kept on the stack; BYTECODE_WORDS_NO_SLOT: nowhere */
};

struct bytecode_words {
	struct bytecode_word items[BYTECODE_WORDS_MAX];
	size_t len;
};

/* The bytecode register of an interrupted interpreter, which pruning drops; 0 if it was not interrupted there. Before prune_sample(). */
uint64_t bytecode_words_register(const struct process *proc, const struct perf_record *rec);

/*
 * After prune_sample(), for a sample of @proc with a known interpreter: insert the words into the stack in @prune, and @reg into the
 * registers. @ret lists the words.
 */
void bytecode_words_keep(struct prune *prune, const struct process *proc, uint64_t reg, struct perf_record *rec,
			 struct bytecode_words *ret);

#endif

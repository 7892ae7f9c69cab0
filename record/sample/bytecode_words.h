/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytecode_words.h - keeps, of a pruned stack, the addresses of the bytecode that HotSpot's interpreter executes in each of its frames
 * (symbolize/runtime/hotspot_frames.h); x86-64.
 *
 *	| frame pointer | return address |   of what the interpreter called: it leads into the interpreter, and
 *	        └─► rbp: rbp-24 the method, rbp-64 its bytecode
 *
 * Pruning knows no such words, for they point into data. They are the runtime's, not the application's.
 */
#ifndef RECORD_BYTECODE_WORDS_H
#define RECORD_BYTECODE_WORDS_H

#include "record/sample/prune.h"

#define BYTECODE_WORDS_MAX 512 /* frames of one stack, innermost first */

struct bytecode_word {
	uint64_t bytecode, method; /* addresses */
	uint32_t slot;		   /* of the bytecode's address on the stack */
};

struct bytecode_words {
	struct bytecode_word items[BYTECODE_WORDS_MAX];
	size_t len;
};

/* The bytecode register of an interrupted interpreter, which pruning drops; 0 if it was not interrupted there. Before prune_sample(). */
uint64_t bytecode_words_register(const struct process *proc, const struct perf_record *rec);

/*
 * After prune_sample(), of a sample of @proc, whose interpreter is known: put them into the stack that @prune holds, and @reg back into the
 * registers. @ret says which there were.
 */
void bytecode_words_keep(struct prune *prune, const struct process *proc, uint64_t reg, struct perf_record *rec,
			 struct bytecode_words *ret);

#endif

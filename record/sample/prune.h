/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prune.h - drops from a stack snapshot and its registers everything that an unwinder does not need.
 *
 * An aligned word stays if it points into code of the process or into the thread's own stack; any other
 * word is the application's data, and is left out. This loses nothing: unwinding reads return addresses,
 * saved frame and stack pointers. It runs over every byte of every snapshot, so it is the hot loop of the
 * recorder.
 */
#ifndef RECORD_PRUNE_H
#define RECORD_PRUNE_H

#include "formats/event.h"
#include "formats/perf/perf_record.h"
#include "formats/process/process_table.h"
#include "record/sample/other_stack.h"

#include <stdbool.h>
#include <stdint.h>

/* A snapshot ends here at the latest when the recorder is short of time. */
#define PRUNE_ALL SIZE_MAX

/* Replaces data in the frame pointer: neither 0 nor an address. */
#define PRUNE_DATA 1

#define PRUNE_WORDS_MAX (PERF_RECORD_WORDS_MAX + OTHER_STACK_WORDS_MAX)

/* Room for one pruned sample and the rest of its stack, and the caller's settings. Large: allocate one and reuse it. */
struct prune {
	const struct arch *arch;
	bool raw; /* keep every word that is not zero, and all registers */
	uint64_t code_mask; /* as in the recording; 0: not known */

	/* Another range that counts as the thread's stack, [start, end); set before each sample. */
	uint64_t other_start, other_end;

	uint64_t own_start, own_len; /* of the last sample: the range of its stack */
	uint64_t mask; /* of the last sample: the bits of a word that make a code address */

	uint32_t slots[PRUNE_WORDS_MAX];
	uint64_t words[PRUNE_WORDS_MAX];
	/* Which of @words are code, as indices; valid like the stack. Empty if @raw. */
	uint32_t code[PERF_RECORD_WORDS_MAX];
	size_t ncode;
	uint32_t candidates[PRUNE_WORDS_MAX];
};

/*
 * Fill rec->event.sample.stack from the bytes that @rec points to, of which @max_len are looked at, and
 * drop from rec->regs what is neither code nor stack. The stack lasts until the next call.
 */
void prune_sample(struct prune *prune, const struct process *proc, size_t max_len,
		  struct perf_record *rec);

/*
 * After prune_sample(): does @word of the other stack point into either stack or into code (*@ret_code)? Only such words are kept; with
 * @prune->raw all are.
 */
bool prune_keeps_other(const struct prune *prune, const struct process *proc, uint64_t word, bool *ret_code);

#endif

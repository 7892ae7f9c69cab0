/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_stack.h - the stack snapshot of a record, as sparse words.
 *
 * Every word that is not zero is kept: only the recorder could have known what matters to unwinding, and perf does not.
 */
#ifndef FORMATS_PERF_DATA_STACK_H
#define FORMATS_PERF_DATA_STACK_H

#include "formats/perf/perf_record.h"

/* Room for the words of one snapshot. Large: allocate one and use it again. */
struct perf_data_stack {
	uint32_t slots[PERF_RECORD_WORDS_MAX];
	uint64_t words[PERF_RECORD_WORDS_MAX];
};

/*
 * Fill rec->event.sample.stack from the bytes that @rec points to; it lasts until the next call. It stays empty where there
 * is no snapshot or the stack pointer is not known.
 */
void perf_data_stack_take(struct perf_data_stack *room, const struct arch *arch,
			  struct perf_record *rec);

#endif

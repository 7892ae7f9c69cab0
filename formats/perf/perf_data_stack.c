/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_stack.c - one pass over the words. Files of machines of the other byte order are refused, so they are this one's.
 */
#include "formats/perf/perf_data_stack.h"

#include <string.h>

void perf_data_stack_take(struct perf_data_stack *room, const struct arch *arch,
			  struct perf_record *rec)
{
	struct event_stack *stack = &rec->event.sample.stack;
	uint64_t sp = rec->regs.values[arch->sp];
	size_t skip = (size_t)(-sp & 7); /* up to the first aligned word */
	size_t count = rec->stack_len > skip ? (rec->stack_len - skip) / 8 : 0;

	*stack = (struct event_stack){ 0 };
	if (!rec->event.sample.regs || !(rec->regs.mask >> arch->sp & 1) || !count ||
	    sp > UINT64_MAX - PERF_RECORD_LEN_MAX)
		return;
	*stack = (struct event_stack){
		.base = sp + skip,
		.end = sp + skip + 8 * count,
		.slots = room->slots,
		.words = room->words,
		.cut = rec->stack_len == rec->stack_room,
	};
	for (size_t i = 0; i < count; i++) {
		uint64_t word;

		memcpy(&word, rec->stack + skip + 8 * i, sizeof(word));
		room->slots[stack->nwords] = (uint32_t)i;
		room->words[stack->nwords] = word;
		stack->nwords += word != 0;
	}
}

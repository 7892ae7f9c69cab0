/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/unwind/unwind_memo.h"

#include "formats/base/memory.h"

#include <stdlib.h>

#define SLOTS_AT_FIRST 4096

/* At most 7 of 10 slots in use. */
static bool is_full(const struct unwind_memo *memo)
{
	return memo->len * 10 >= memo->nslots * 7;
}

static void grow(struct unwind_memo *memo)
{
	struct unwind_memo_slot *old = memo->slots;
	size_t nold = memo->nslots;

	memo->nslots = nold ? nold * 2 : SLOTS_AT_FIRST;
	memo->slots = memory_table(memo->nslots, sizeof(*memo->slots));
	for (size_t i = 0; i < nold; i++) {
		if (old[i].key)
			*unwind_memo_slot(memo, old[i].key) = old[i];
	}
	free(old);
}

void unwind_memo_put(struct unwind_memo *memo, uint64_t key, struct unwind_rule rule)
{
	if (is_full(memo))
		grow(memo);
	memo->len++;
	memo->misses++;
	*unwind_memo_slot(memo, key) = (struct unwind_memo_slot){
		.key = key,
		.value = unwind_rule_pack(rule),
	};
}

void unwind_memo_deinit(struct unwind_memo *memo)
{
	free(memo->slots);
	*memo = (struct unwind_memo){ 0 };
}

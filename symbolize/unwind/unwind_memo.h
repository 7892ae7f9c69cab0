/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_memo.h - from module and link-time address to a rule, for every address that was ever asked for.
 *
 * One probe of 16 bytes per frame: key and result side by side, and the table dense enough to stay in the
 * second-level cache for tens of thousands of addresses. A zeroed memo is empty and ready.
 */
#ifndef SYMBOLIZE_UNWIND_MEMO_H
#define SYMBOLIZE_UNWIND_MEMO_H

#include "symbolize/unwind/unwind_rule.h"

struct unwind_memo_slot {
	uint64_t key; /* 0: free */
	uintptr_t value; /* unwind_rule_pack() */
};

struct unwind_memo {
	struct unwind_memo_slot *slots;
	size_t nslots; /* a power of two, or 0 */
	size_t len;
	uint64_t hits, misses;
};

/* Never 0. False if the module's number or the address is too large to be remembered. */
static inline bool unwind_memo_key(uint32_t module, uint64_t vaddr, uint64_t *ret)
{
	*ret = (uint64_t)(module + 1) << 48 | vaddr;
	return module < 0xffff && vaddr < 1ULL << 48;
}

static inline struct unwind_memo_slot *unwind_memo_slot(const struct unwind_memo *memo,
							uint64_t key)
{
	size_t i = ((key ^ key >> 32) * 0x9e3779b97f4a7c15ULL >> 32) & (memo->nslots - 1);

	while (memo->slots[i].key && memo->slots[i].key != key)
		i = (i + 1) & (memo->nslots - 1);
	return &memo->slots[i];
}

/* What is known of @key; false if it was never put. */
static inline bool unwind_memo_get(struct unwind_memo *memo, uint64_t key, struct unwind_rule *ret)
{
	const struct unwind_memo_slot *slot = memo->nslots ? unwind_memo_slot(memo, key) : NULL;

	if (!slot || !slot->key)
		return false;
	memo->hits++;
	*ret = unwind_rule_unpack(slot->value);
	return true;
}

/* Remember @rule, whose .cfi must outlive the memo, for a key that was not there. */
void unwind_memo_put(struct unwind_memo *memo, uint64_t key, struct unwind_rule rule);

void unwind_memo_deinit(struct unwind_memo *memo);

#endif

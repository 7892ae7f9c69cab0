/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/unwind/chain_trie.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"

#include <stdlib.h>

#define SLOTS_AT_FIRST 4096

static uint32_t hash_of(const struct chain_node *node)
{
	uint64_t place = (uint64_t)node->parent << 32 | (uint64_t)node->how << 24;

	return (uint32_t)(map_hash(node->vaddr ^ map_hash(place ^ node->module)) >> 32);
}

static bool same(const struct chain_node *a, const struct chain_node *b)
{
	return a->vaddr == b->vaddr && a->parent == b->parent && a->module == b->module &&
	       a->how == b->how;
}

static void grow(struct chain_trie *trie)
{
	struct chain_slot *old = trie->slots;
	size_t nold = trie->nslots;

	trie->nslots = nold ? nold * 2 : SLOTS_AT_FIRST;
	trie->slots = memory_table(trie->nslots, sizeof(*trie->slots));
	for (size_t i = 0; i < nold; i++) {
		size_t at = old[i].hash & (trie->nslots - 1);

		if (!old[i].node)
			continue;
		while (trie->slots[at].node)
			at = (at + 1) & (trie->nslots - 1);
		trie->slots[at] = old[i];
	}
	free(old);
}

/* The node that is the same, appended if it is new. */
static uint32_t find(struct chain_trie *trie, const struct chain_node *node)
{
	uint32_t hash = hash_of(node);
	size_t at;

	if (trie->nodes.len >= trie->nslots / 4 * 3)
		grow(trie);
	for (at = hash & (trie->nslots - 1); trie->slots[at].node;
	     at = (at + 1) & (trie->nslots - 1)) {
		const struct chain_slot *slot = &trie->slots[at];

		if (slot->hash == hash && same(&trie->nodes.items[slot->node], node))
			return slot->node;
	}
	trie->slots[at] = (struct chain_slot){ hash, (uint32_t)trie->nodes.len };
	vec_push(&trie->nodes, *node);
	return trie->slots[at].node;
}

uint32_t chain_trie_add(struct chain_trie *trie, const struct unwind_chain *chain)
{
	uint32_t at = 0;

	if (!trie->nodes.len)
		vec_push(&trie->nodes, (struct chain_node){ 0 });
	for (size_t i = chain->nframes; i > 0; i--) {
		const struct unwind_frame *frame = &chain->frames[i - 1];
		struct chain_node node = {
			.vaddr = frame->vaddr,
			.module = frame->module->id,
			.parent = at,
			.how = (uint8_t)frame->how,
		};
		uint32_t recent = trie->nodes.items[at].recent;

		if (!recent || !same(&trie->nodes.items[recent], &node)) {
			recent = find(trie, &node);
			trie->nodes.items[at].recent = recent;
		}
		at = recent;
	}
	return at;
}

void chain_trie_deinit(struct chain_trie *trie)
{
	vec_deinit(&trie->nodes);
	free(trie->slots);
	*trie = (struct chain_trie){ 0 };
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "symbolize/unwind/chain_trie.h"

/* @text: a letter for each frame, leaf first. */
static uint32_t add(struct chain_trie *trie, struct module *mod, const char *text)
{
	struct unwind_frame frames[64] = { 0 };
	struct unwind_chain chain = { .frames = frames };

	for (; text[chain.nframes]; chain.nframes++) {
		frames[chain.nframes].vaddr = (uint64_t)text[chain.nframes];
		frames[chain.nframes].module = mod;
		frames[chain.nframes].how = chain.nframes ? UNWIND_CFI : UNWIND_LEAF;
	}
	return chain_trie_add(trie, &chain);
}

TEST(chains_that_share_callers_share_nodes)
{
	CLEANUP(chain_trie_deinit) struct chain_trie trie = { 0 };
	struct module one = { .id = 1 }, two = { .id = 2 };

	CHECK_UINT(add(&trie, &one, ""), 0);
	CHECK_UINT(trie.nodes.len, 1);
	CHECK_UINT(add(&trie, &one, "bam"), 3); /* m, a, b from the root's side */
	CHECK_UINT(trie.nodes.items[3].parent, 2);
	CHECK_UINT(trie.nodes.items[1].parent, 0);
	CHECK_UINT(add(&trie, &one, "cam"), 4);
	CHECK_UINT(trie.nodes.items[4].parent, 2);
	CHECK_UINT(add(&trie, &one, "bam"), 3);
	CHECK_UINT(add(&trie, &two, "bam"), 7); /* another module */
	CHECK_UINT(add(&trie, &one, "am"), 8);	/* found otherwise: as a leaf */
	CHECK_UINT(trie.nodes.len, 9);
}

TEST(a_trie_of_many_chains_finds_each_again)
{
	CLEANUP(chain_trie_deinit) struct chain_trie trie = { 0 };
	struct module mod = { .id = 0 };
	static uint32_t leaves[20000];

	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < ARRAY_LEN(leaves); i++) {
			char text[5] = { (char)('A' + i % 26), (char)('A' + i / 26 % 26),
					 (char)('A' + i / 676 % 26), (char)('A' + i / 17576), 0 };
			uint32_t leaf = add(&trie, &mod, text);

			CHECK(!round || leaf == leaves[i]);
			leaves[i] = leaf;
			for (unsigned depth = 0; depth < 4; depth++) {
				CHECK_UINT(trie.nodes.items[leaf].vaddr, (uint64_t)text[depth]);
				CHECK(trie.nodes.items[leaf].parent < leaf);
				leaf = trie.nodes.items[leaf].parent;
			}
			CHECK_UINT(leaf, 0);
		}
	}
}

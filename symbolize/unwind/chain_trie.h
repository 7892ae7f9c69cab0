/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_trie.h - chains as paths of a tree, so that what chains have in common is there once.
 *
 *	root (0) ◄─ _start ◄─ main ◄─ a ◄─ b	the chain b, a, main, _start is node 4
 *	                         ▲── c		and c, main, _start is node 5
 *
 * Nodes are numbered as they come up, a parent before its children. A node remembers the child that was asked for last,
 * which most often is asked for next. A zeroed trie is empty and ready. Not thread-safe; one per thread.
 */
#ifndef SYMBOLIZE_CHAIN_TRIE_H
#define SYMBOLIZE_CHAIN_TRIE_H

#include "formats/base/vec.h"
#include "symbolize/unwind/unwind.h"

struct chain_node {
	uint64_t vaddr;
	uint32_t module; /* id */
	uint32_t parent; /* towards the root */
	uint32_t recent; /* private: child that was asked for last, or 0 */
	uint8_t how;	 /* enum unwind_how */
};

struct chain_slot {
	uint32_t hash, node; /* 0: free */
};

struct chain_trie {
	VEC(struct chain_node) nodes; /* [0] is the root, if there is any */
	struct chain_slot *slots;
	size_t nslots;
};

/* The node of @chain's leaf; what was not there is appended, from the root's side on. 0 for an empty chain. */
uint32_t chain_trie_add(struct chain_trie *trie, const struct unwind_chain *chain);

void chain_trie_deinit(struct chain_trie *trie);

#endif

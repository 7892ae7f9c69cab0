/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walked_stacks.h - modules, addresses and chains of processes as modules, locations and stacks of a profile.
 *
 * Not thread-safe: where several threads walk, the one that puts events in order adds what they found.
 */
#ifndef REPORT_WALKED_STACKS_H
#define REPORT_WALKED_STACKS_H

#include "report/load/namer.h"
#include "report/load/event_walk.h"

/* The first three are the caller's; the rest starts out zeroed. */
struct walked_stacks {
	struct namer *namer; /* of the profile; is told which module is which */
	struct module_table *modules;
	struct space_table *spaces;
	struct chain_trie trie;	      /* private, as all below: what was walked alone */
	struct event_walk_stacks stacks; /* node of @trie -> stack of the profile */
	VEC(uint32_t) numbers;	      /* module.id -> module of the profile + 1, 0 for none yet */
};

void walked_stacks_deinit(struct walked_stacks *w);

/* The module of the profile that stands for @mod. */
uint32_t walked_stacks_module(struct walked_stacks *w, struct module *mod);

/* The location of address @ip in process @pid, as it is mapped now; PROFILE_NONE if nothing is. */
uint32_t walked_stacks_locate(struct walked_stacks *w, uint32_t pid, uint64_t ip);

/* @nodes are the next @count of the trie that @stacks belong to, numbered from 1 on. */
void walked_stacks_add(struct walked_stacks *w, struct event_walk_stacks *stacks, const struct chain_node *nodes, size_t count);

/* The stack of @chain. */
uint32_t walked_stacks_add_chain(struct walked_stacks *w, const struct unwind_chain *chain);

#endif

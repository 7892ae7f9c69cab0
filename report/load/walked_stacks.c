/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walked_stacks.c - modules, locations and stacks get their numbers in the order in which they come up.
 *
 * Chains go into a trie of modules and addresses first (chain_trie.h), where most of each is found at once; only
 * what is new there is looked up in the profile.
 */
#include "report/load/walked_stacks.h"

void walked_stacks_deinit(struct walked_stacks *w)
{
	chain_trie_deinit(&w->trie);
	vec_deinit(&w->stacks.of);
	vec_deinit(&w->numbers);
}

/* ---- places: modules and addresses of processes as those of the profile ---- */

static enum profile_module_kind kind_of(const struct module *mod)
{
	switch (mod->kind) {
	case MODULE_KERNEL:
	case MODULE_KERNEL_MODULE:
		return PROFILE_KERNEL;
	case MODULE_JIT:
		return PROFILE_JIT;
	case MODULE_UNKNOWN:
		return PROFILE_UNKNOWN;
	default:
		return PROFILE_USER;
	}
}

uint32_t walked_stacks_module(struct walked_stacks *w, struct module *mod)
{
	char build_id[2 * sizeof(mod->build_id) + 1] = "";

	while (w->numbers.len <= mod->id)
		vec_push(&w->numbers, 0);
	if (w->numbers.items[mod->id])
		return w->numbers.items[mod->id] - 1;

	image_build_id_hex(mod->build_id, mod->build_id_len, build_id);

	struct profile_module entry = {
		.name = profile_string(w->namer->profile, mod->name),
		.path = profile_string(w->namer->profile, mod->path),
		.build_id = profile_string(w->namer->profile, build_id),
		.kind = kind_of(mod),
	};
	uint32_t number = profile_add_module(w->namer->profile, &entry);

	w->numbers.items[mod->id] = number + 1;
	namer_set_module(w->namer, number, mod);
	return number;
}

static enum profile_frame_kind frame_kind_of(enum profile_module_kind kind)
{
	switch (kind) {
	case PROFILE_KERNEL:
		return PROFILE_FRAME_KERNEL;
	case PROFILE_JIT:
		return PROFILE_FRAME_JIT;
	default:
		return PROFILE_FRAME_NATIVE;
	}
}

static uint32_t location_of(struct walked_stacks *w, uint32_t module, uint64_t vaddr)
{
	struct profile *p = w->namer->profile;
	uint32_t location = profile_add_location(p, module, vaddr, frame_kind_of(p->modules.items[module].kind));

	p->locations.items[location].is_place = p->modules.items[module].kind == PROFILE_JIT;
	return location;
}

uint32_t walked_stacks_locate(struct walked_stacks *w, uint32_t pid, uint64_t ip)
{
	const struct space_map *map = ip >> 63 ? space_table_find_kernel(w->spaces, ip)
					       : space_find(space_table_get(w->spaces, pid), ip);

	if (!map || !map->module)
		return PROFILE_NONE;
	return location_of(w, walked_stacks_module(w, map->module), ip - map->bias);
}

/* ---- stacks ---- */

static enum profile_how how_of(enum unwind_how how)
{
	switch (how) {
	case UNWIND_KERNEL_CHAIN:
		return PROFILE_HOW_CHAIN;
	case UNWIND_FP_UNCHECKED:
		return PROFILE_HOW_GUESS;
	default:
		return PROFILE_HOW_SURE;
	}
}

void walked_stacks_add(struct walked_stacks *w, struct event_walk_stacks *stacks, const struct chain_node *nodes, size_t count)
{
	if (!stacks->of.len)
		vec_push(&stacks->of, 0);
	for (size_t i = 0; i < count; i++) {
		const struct chain_node *node = &nodes[i];
		uint32_t parent = stacks->of.items[node->parent];
		uint32_t module = walked_stacks_module(w, module_table_get(w->modules, node->module));
		uint32_t location = location_of(w, module, node->vaddr);
		uint32_t stack = profile_add_stack(w->namer->profile, parent, location,
						   how_of((enum unwind_how)node->how));

		vec_push(&stacks->of, stack);
	}
}

uint32_t walked_stacks_add_chain(struct walked_stacks *w, const struct unwind_chain *chain)
{
	uint32_t leaf = chain_trie_add(&w->trie, chain);
	size_t known = MAX(w->stacks.of.len, 1);

	walked_stacks_add(w, &w->stacks, w->trie.nodes.items + known, w->trie.nodes.len - known);
	return w->stacks.of.items[leaf];
}

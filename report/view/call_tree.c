/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_tree.c - a path_tree of functions, with the sums of its nodes beside it.
 */
#include "report/view/call_tree.h"

#include "report/view/path_tree.h"
#include "report/print/stats.h"
#include "report/view/view_keys.h"

#include <string.h>

struct builder {
	struct call_tree *tree;
	struct view_paths paths;
	struct path_tree nodes; /* tree->nodes has the same numbers */
};

static uint32_t child_of(struct builder *b, uint32_t parent, uint32_t function)
{
	uint32_t node = path_tree_child(&b->nodes, parent, function);

	if (node == b->tree->nodes.len)
		vec_push(&b->tree->nodes, ((struct call_node){ .parent = parent, .function = function }));
	return node;
}

static void add_path(struct builder *b, const struct view_path *path)
{
	bool callers = b->tree->direction == CALL_TREE_CALLERS;
	uint32_t node = 0;

	stats_add(&b->tree->nodes.items[0].sum, path->row);
	for (size_t i = 0; i < path->len; i++) {
		const struct view_frame *frame = &path->frames[callers ? i : path->len - 1 - i];

		node = child_of(b, node, frame->function);
		stats_add(&b->tree->nodes.items[node].sum, path->row);
	}
	stats_add(&b->tree->nodes.items[node].own, path->row);
}

static void add_rows(struct builder *b)
{
	const struct profile *p = b->tree->profile;

	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];
		struct view_path path;

		if (row->type != b->tree->spec.event ||
		    (b->tree->spec.rows && !b->tree->spec.rows[i]))
			continue;
		stats_add(&b->tree->all, row);
		if (view_paths_make(&b->paths, row, &path))
			add_path(b, &path);
	}
}

const char *call_tree_name(const struct call_tree *tree, const struct call_node *node)
{
	if (node->parent == PROFILE_NONE)
		return "all";
	if (node->function == PROFILE_NONE)
		return "[not named]";
	return profile_text(tree->profile,
			    tree->profile->functions.items[node->function].name);
}

const char *call_tree_module(const struct call_tree *tree, const struct call_node *node)
{
	const struct profile *p = tree->profile;

	if (node->function == PROFILE_NONE)
		return "";
	return profile_text(p, profile_module(p, p->functions.items[node->function].module)->name);
}

static int compare_nodes(const void *context, uint32_t left, uint32_t right)
{
	const struct call_tree *tree = context;
	const struct call_node *a = &tree->nodes.items[left], *b = &tree->nodes.items[right];
	int result;

	if (a->sum.weight != b->sum.weight)
		return a->sum.weight > b->sum.weight ? -1 : 1;
	result = strcmp(call_tree_name(tree, a), call_tree_name(tree, b));
	if (result == 0)
		result = strcmp(call_tree_module(tree, a), call_tree_module(tree, b));
	return result ? result : left < right ? -1 : 1; /* the one that was seen first */
}

static void sort(struct builder *b)
{
	struct call_tree *tree = b->tree;

	path_tree_sort(&b->nodes, compare_nodes, tree);
	vec_append(&tree->order, b->nodes.order.items, b->nodes.order.len);
	for (size_t i = 0; i < tree->nodes.len; i++) {
		tree->nodes.items[i].first = b->nodes.nodes.items[i].first;
		tree->nodes.items[i].count = b->nodes.nodes.items[i].count;
	}
}

void call_tree_build(struct call_tree *tree, const struct profile *p, const struct view_spec *spec,
		     enum call_tree_direction direction)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct view_levels none = { .len = 0 };
	struct view_keys *keys = view_keys_new(p, &none, &arena);
	struct builder b = {
		.tree = tree,
		.paths = { .profile = p,
			   .functions = view_keys_functions(keys),
			   .cut = spec->cut,
			   .cut_at = spec->cut_at,
			   .frames_max = SIZE_MAX },
	};

	*tree = (struct call_tree){ .profile = p, .spec = *spec, .direction = direction };
	path_tree_init(&b.nodes);
	vec_push(&tree->nodes,
		 ((struct call_node){ .parent = PROFILE_NONE, .function = PROFILE_NONE }));
	add_rows(&b);
	sort(&b);
	view_paths_deinit(&b.paths);
	path_tree_deinit(&b.nodes);
	view_keys_free(keys);
}

void call_tree_deinit(struct call_tree *tree)
{
	vec_deinit(&tree->nodes);
	vec_deinit(&tree->order);
}

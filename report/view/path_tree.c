/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_tree.c - children are found by (parent, key) while the tree grows, and put in order once at the end.
 */
#include "report/view/path_tree.h"

#include <stdlib.h>

struct sorting {
	const struct path_tree *tree;
	path_tree_compare *compare;
	const void *context;
};

void path_tree_init(struct path_tree *tree)
{
	*tree = (struct path_tree){ 0 };
	vec_push(&tree->nodes, ((struct path_node){ .parent = PROFILE_NONE, .key = PROFILE_NONE }));
}

void path_tree_deinit(struct path_tree *tree)
{
	vec_deinit(&tree->nodes);
	vec_deinit(&tree->order);
	map_deinit(&tree->children);
}

uint32_t path_tree_child(struct path_tree *tree, uint32_t parent, uint32_t key)
{
	bool is_new;
	uint64_t *node = map_put(&tree->children, (uint64_t)parent << 32 | key, &is_new);

	if (is_new) {
		*node = tree->nodes.len;
		vec_push(&tree->nodes, ((struct path_node){ .parent = parent, .key = key }));
	}
	return (uint32_t)*node;
}

static int compare_nodes(const void *a, const void *b, void *context)
{
	const struct sorting *sorting = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	uint32_t above_left = sorting->tree->nodes.items[left].parent, above_right = sorting->tree->nodes.items[right].parent;

	if (above_left != above_right)
		return above_left + 1 < above_right + 1 ? -1 : 1; /* + 1: node 0, which has no parent, comes first */
	return left == right ? 0 : sorting->compare(sorting->context, left, right);
}

void path_tree_sort(struct path_tree *tree, path_tree_compare *compare, const void *context)
{
	struct sorting sorting = { tree, compare, context };

	vec_reserve(&tree->order, tree->nodes.len);
	for (uint32_t i = 0; i < tree->nodes.len; i++)
		vec_push(&tree->order, i);
	qsort_r(tree->order.items, tree->order.len, sizeof(*tree->order.items), compare_nodes, &sorting);
	for (uint32_t i = 1; i < tree->order.len; i++) {
		struct path_node *parent = &tree->nodes.items[tree->nodes.items[tree->order.items[i]].parent];

		if (parent->count++ == 0)
			parent->first = i;
	}
}

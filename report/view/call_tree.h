/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_tree.h - stacks merged into one tree: from the root towards the leaves, or from the leaves towards their callers.
 *
 * What children do not account for is a node's own: in the call tree the function itself ran, in the caller tree
 * nothing called it. So a node's sum is that of its children and its own, and equal trees are equal byte for byte.
 */
#ifndef REPORT_CALL_TREE_H
#define REPORT_CALL_TREE_H

#include "report/view/view.h"

enum call_tree_direction {
	CALL_TREE_CALLEES, /* the root first: what each function calls */
	CALL_TREE_CALLERS, /* the leaf first: what each function is called by */
};

struct call_node {
	uint32_t parent;   /* node; PROFILE_NONE for node 0, which stands for all */
	uint32_t function; /* the first of those that look the same; PROFILE_NONE: no frame, see call_tree_name() */
	struct profile_sum sum;
	struct profile_sum own;
	uint32_t first, count; /* children in tree.order, heaviest first, ties by name */
};

struct call_tree {
	const struct profile *profile;
	struct view_spec spec; /* event and cut; no levels */
	enum call_tree_direction direction;
	VEC(struct call_node) nodes;
	VEC(uint32_t) order;
	struct profile_sum all; /* of the event; nodes[0].sum is what shares are of */
};

/* Merge the samples of @p, which must be named and outlive the tree. @spec gives the event and the cut. */
void call_tree_build(struct call_tree *tree, const struct profile *p, const struct view_spec *spec,
		     enum call_tree_direction direction);
void call_tree_deinit(struct call_tree *tree);

/* What @node is called, and the module it is in ("" if it has no frame). */
const char *call_tree_name(const struct call_tree *tree, const struct call_node *node);
const char *call_tree_module(const struct call_tree *tree, const struct call_node *node);

#endif

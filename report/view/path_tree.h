/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_tree.h - paths of keys merged into one tree: call trees and flame graphs grow in it, whatever a key is to them.
 *
 *	path_tree_init(&tree);
 *	for (each frame of each stack)
 *		node = path_tree_child(&tree, node, key);
 *	path_tree_sort(&tree, compare, context);
 *
 * Node 0 stands for all. Numbers are given in the order in which nodes come up and stay, so that the caller may keep what it
 * adds up in an array beside the tree.
 */
#ifndef REPORT_PATH_TREE_H
#define REPORT_PATH_TREE_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/profile/profile.h"

struct path_node {
	uint32_t parent;       /* smaller than its own number; PROFILE_NONE for node 0 */
	uint32_t key;	       /* PROFILE_NONE for node 0 */
	uint32_t first, count; /* its children in path_tree.order; set by path_tree_sort() */
};

struct path_tree {
	VEC(struct path_node) nodes;
	VEC(uint32_t) order; /* nodes, those of one parent together and sorted; node 0 first */
	struct map children; /* private: parent << 32 | key -> node */
};

void path_tree_init(struct path_tree *tree);
void path_tree_deinit(struct path_tree *tree);

/* The child of @parent with @key; it is added where there is none. */
uint32_t path_tree_child(struct path_tree *tree, uint32_t parent, uint32_t key);

/* Negative if node @a comes before @b, its brother; never 0. */
typedef int path_tree_compare(const void *context, uint32_t a, uint32_t b);

/* Sort the children of each node. Nothing is added afterwards. */
void path_tree_sort(struct path_tree *tree, path_tree_compare *compare, const void *context);

#endif

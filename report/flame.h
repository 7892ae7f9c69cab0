/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame.h - the tree that a flame graph draws: stacks merged by the names of their frames, root first.
 */
#ifndef REPORT_FLAME_H
#define REPORT_FLAME_H

#include "formats/folded.h"
#include "formats/profile.h"

struct flame_node {
	const char *name;
	uint32_t first_child, next; /* 0: none; brothers are sorted by name */
	uint32_t depth;             /* 0 for the root, which stands for all */
	uint64_t weight, count;     /* with everything above it */
	uint64_t self;              /* weight that ends here */
};

struct flame {
	VEC(struct flame_node) nodes; /* [0] is the root */
	uint32_t depth;               /* of the deepest node */
	struct arena arena;           /* of the names */
};

/* Merge the samples that @options chooses; frames are named as in collapsed stacks. */
void flame_init(struct flame *flame, const struct profile *p, const struct folded_options *options);
void flame_deinit(struct flame *flame);

#endif

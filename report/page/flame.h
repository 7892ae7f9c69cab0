/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame.h - the tree that a flame graph draws: stacks merged by the names of their frames, root first.
 */
#ifndef REPORT_FLAME_H
#define REPORT_FLAME_H

#include "formats/profile/folded.h"
#include "formats/profile/profile.h"

#include <stdbool.h>

struct flame_node {
	const char *name;
	uint32_t first_child, next; /* 0: none; brothers are sorted by name */
	uint32_t depth;             /* 0 for the root, which stands for all */
	int64_t weight;		    /* with everything above it */
	uint64_t count;		    /* the same */
	uint64_t self;              /* weight that ends here */
	int64_t off;		    /* the part of @weight in which threads were on no CPU */
};

struct flame {
	VEC(struct flame_node) nodes; /* [0] is the root */
	uint32_t depth;               /* of the deepest node */
	bool grouped;                 /* what stands on the root are processes and the like */
	struct arena arena;           /* of the names */
};

/* What stands between the root and the functions. */
enum flame_by {
	FLAME_BY_PROGRAM, /* all processes of one name */
	FLAME_BY_PROCESS,
	FLAME_BY_THREAD,
	FLAME_BY_COMM, /* all threads of one name */
	FLAME_BY_CPU,
	FLAME_BY_NONE,
};

struct flame_options {
	struct folded_options frames; /* how they are named; .pid and .tid are set by @by */
	enum flame_by by;
	uint32_t recorder_pid; /* marked wherever it is at the root; 0: none is */
	bool reverse; /* leaves first */
};

/* Merge the samples of the event that @options chooses. */
void flame_init(struct flame *flame, const struct profile *p, const struct flame_options *options);
void flame_deinit(struct flame *flame);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_frames.h - what V8's profiles have in common: call frames, and trees of nodes with numbers.
 *
 * .cpuprofile, .heapprofile and the Profile chunks of Chrome traces. Nodes name their parent or their children, in any order.
 */
#ifndef FORMATS_V8_FRAMES_H
#define FORMATS_V8_FRAMES_H

#include "formats/base/json_reader.h"
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_ids.h"

struct v8_node {
	int64_t id;
	struct import_frame frame;
	uint32_t location; /* PROFILE_NONE: the root, which is no frame */
	uint32_t parent;   /* index + 1; 0: none */
	uint32_t stack;	   /* PROFILE_NONE until it is known */
	uint32_t first_tick, nticks, turn; /* in v8_tree.ticks: those that are left, and whose turn it is */
	uint64_t hits, size; /* of itself: samples, and bytes in profiles of the heap */
};

/* A line of a node's function. */
struct v8_tick {
	uint32_t line;
	uint32_t count; /* samples that hit it and were not dealt out yet */
	uint32_t row;	/* for who reads samples: that of its samples, PROFILE_NONE before there is one */
};

struct v8_tree {
	struct profile *p;
	VEC(struct v8_node) nodes;
	VEC(struct v8_edge {
		uint32_t parent; /* index */
		int64_t child;	 /* id */
	}) edges;
	VEC(struct v8_tick) ticks;
	struct import_ids by_id; /* id -> index */
};

void v8_tree_init(struct v8_tree *tree, struct profile *p);
void v8_tree_deinit(struct v8_tree *tree);

/* Read an array of nodes. */
void v8_tree_read(struct v8_tree *tree, struct json_reader *r);

/* Read one node in which all others lie. */
void v8_tree_read_head(struct v8_tree *tree, struct json_reader *r);

/* Connect what was read by numbers of children. ERR_CORRUPT: a child is not there, or is its own ancestor. */
MUST_USE struct err *v8_tree_connect(struct v8_tree *tree);

/* The index of the node with @id, or PROFILE_NONE. */
uint32_t v8_tree_find(const struct v8_tree *tree, int64_t id);

/* The stack of the node at @index, after v8_tree_connect(). */
uint32_t v8_tree_stack(struct v8_tree *tree, uint32_t index);

/*
 * Which line the next sample of the node at @index is taken to be of: each as often as the file says that it was hit, and in turn,
 * since it does not say when. NULL: it says nothing of lines, or of no more samples.
 */
struct v8_tick *v8_tree_tick(struct v8_tree *tree, uint32_t index);

/* The same stack, whose leaf is at @line. */
uint32_t v8_tree_stack_at(struct v8_tree *tree, uint32_t index, uint32_t line);

#endif

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
	uint32_t location; /* PROFILE_NONE: the root, which is no frame */
	uint32_t parent;   /* index + 1; 0: none */
	uint32_t stack;	   /* PROFILE_NONE until it is known */
	uint32_t row;	   /* for who reads samples: the one of the last sample of it; PROFILE_NONE for none */
	uint64_t hits, size; /* of itself: samples, and bytes in profiles of the heap */
};

struct v8_tree {
	struct profile *p;
	VEC(struct v8_node) nodes;
	VEC(struct v8_edge {
		uint32_t parent; /* index */
		int64_t child;	 /* id */
	}) edges;
	struct import_ids by_id; /* id -> index */
};

void v8_tree_init(struct v8_tree *tree, struct profile *p);
void v8_tree_deinit(struct v8_tree *tree);

/* Read what V8 says of a function: {"functionName":, "url":, "lineNumber":, ...}; its location. */
uint32_t v8_call_frame(struct json_reader *r, struct profile *p);

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

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_tree.h - a profile's stacks as one tree of functions, with what stands on it: the part of a flame graph that
 * does not depend on how it is looked at.
 *
 *	samples ──► row (stop, thread, CPU) ──► node ──► parent ──► … ──► 0, the root
 *	                                         └► function, inlined or not
 *
 * Addresses are gone: what looks the same to the user is one function (see view_keys.h). Everything is in a fixed order,
 * whatever the order of the samples was: functions by name, nodes from the root with brothers by function, rows by node.
 */
#ifndef REPORT_FLAME_TREE_H
#define REPORT_FLAME_TREE_H

#include "formats/base/arena.h"
#include "formats/profile/facts.h"
#include "formats/profile/profile.h"

struct flame_tree_node {
	uint32_t parent; /* smaller than its own number */
	uint32_t depth;
	uint32_t function; /* index in flame_tree.functions; PROFILE_NONE for the root */
	bool inlined;
};

struct flame_tree_row {
	uint32_t node, thread, cpu; /* thread: index in flame_tree.threads */
	uint8_t stop;
};

/* Samples that are the same, at the same time. */
struct flame_tree_sample {
	uint32_t event, row, bin;
	uint64_t count;
	int64_t weight; /* of each */
};

/* Time in steps that a person would choose: 1, 2 or 5 times a power of ten, in ms. */
struct flame_tree_clock {
	uint64_t start_ns; /* of bin 0, since the recording began */
	uint64_t bin_ns;   /* 0: times are not known, all is in bin 0 */
	uint32_t nbins;
};

struct flame_tree {
	VEC(uint32_t) functions; /* of the profile */
	VEC(uint32_t) threads;   /* of the profile */
	VEC(struct flame_tree_node) nodes;
	VEC(struct flame_tree_row) rows;
	VEC(struct flame_tree_sample) samples; /* by event, row, bin, weight */
	struct flame_tree_clock clock;
};

/* Of all value types of @p, with every frame named. For a clock it needs times. */
void flame_tree_init(struct flame_tree *tree, const struct profile *p, const struct profile_facts *facts);
void flame_tree_deinit(struct flame_tree *tree);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_tree.h - the processes of a profile as a tree, with what each and its descendants cost.
 */
#ifndef REPORT_PROCESS_TREE_H
#define REPORT_PROCESS_TREE_H

#include "formats/base/vec.h"
#include "formats/profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

/* One process; its number is that in profile.processes. */
struct process_node {
	struct profile_sum own;   /* its samples of the event */
	struct profile_sum whole; /* and those of its descendants */
	bool shown;               /* it began, ended or was sampled in the recording, or has a descendant that did */
};

struct process_row {
	uint32_t process;
	uint32_t depth; /* from 0 */
};

struct process_tree {
	const struct profile *profile;
	struct process_node *nodes;   /* by process */
	VEC(struct process_row) rows; /* depth first; children in order of their beginnings */
	struct profile_sum all;       /* of the event */
};

/* @event: whose samples count. @all: processes that did nothing in the recording are rows, too. */
void process_tree_build(struct process_tree *tree, const struct profile *p, uint32_t event, bool all);
void process_tree_deinit(struct process_tree *tree);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topdown_tree.h - a recording's top-down tree: which model it was made by, and what each node comes to in some samples.
 *
 *	counting_open(&counting, s);
 *	topdown_tree_open(&tree, s->profile, &counting);	// between session_open() and session_load()
 *	... topdown_tree_judge(&tree, sums, values) ...
 *	topdown_tree_close(&tree);
 */
#ifndef REPORT_TOPDOWN_TREE_H
#define REPORT_TOPDOWN_TREE_H

#include "formats/topdown_formula.h"
#include "report/load/counting.h"
#include "report/view/view.h"

struct topdown_tree {
	const struct topdown_model *model; /* NULL: the recording has no such events */
	struct measures measures;
	const struct measures *shown; /* the same, as views want it */
	struct arena arena;
	struct topdown_formula nodes[TOPDOWN_NODES_MAX]; /* those that can be computed, as in the model */
	unsigned nnodes;
	const struct counting *counting;
};

struct topdown_value {
	struct measure_value value;
	bool flagged; /* over its threshold, as its parent is */
	bool sure;    /* the whole interval is */
};

/*
 * Bind to the value types of @p, and have @counting, which must outlive @tree, measure them. topdown_tree_close()
 * releases @tree. Without a model nothing is counted.
 */
void topdown_tree_open(struct topdown_tree *tree, const struct profile *p, struct counting *counting);
void topdown_tree_close(struct topdown_tree *tree);

/* What each node comes to. */
void topdown_tree_judge(const struct topdown_tree *tree, const double *sums,
			struct topdown_value values[TOPDOWN_NODES_MAX]);

/* The same for all of @p, and for a row of a view of topdown_tree_view(). */
void topdown_tree_judge_all(const struct topdown_tree *tree, const struct profile *p,
			    struct topdown_value values[TOPDOWN_NODES_MAX]);
void topdown_tree_judge_group(const struct topdown_tree *tree, const struct view *view,
			      const struct view_group *group,
			      struct topdown_value values[TOPDOWN_NODES_MAX]);

/* Groups of @type by @by, those with most weight first; view_deinit() releases @ret. */
void topdown_tree_view(const struct topdown_tree *tree, const struct profile *p, uint32_t type,
		       enum view_by by, struct view *ret);

/* The function that has most of what the bottleneck of @whole takes, in @arena; NULL if there is no bottleneck. */
const char *topdown_tree_worst(const struct topdown_tree *tree, const struct profile *p, uint32_t type,
			       const struct topdown_value whole[TOPDOWN_NODES_MAX],
			       struct arena *arena);

/* The parts of level 1 together: 1 but for rounding, unless one was held at 0. NaN if they are not known. */
double topdown_tree_sum(const struct topdown_tree *tree,
			const struct topdown_value values[TOPDOWN_NODES_MAX]);

/*
 * The node to look at: of those flagged that are no work done the largest, down the tree. UINT_MAX: none. The runner-up
 * at level 1, or UINT_MAX, tells whether it leads surely.
 */
unsigned topdown_tree_bottleneck(const struct topdown_tree *tree,
				 const struct topdown_value values[TOPDOWN_NODES_MAX],
				 bool *ret_sure);

#endif

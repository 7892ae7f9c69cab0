/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_table.h - a call tree as a table: guides in front of the names as text, node and parent numbers as data.
 */
#ifndef REPORT_TREE_TABLE_H
#define REPORT_TREE_TABLE_H

#include "report/view/call_tree.h"
#include "report/print/table.h"

struct tree_table_options {
	bool data;         /* for CSV and JSON: every node that passes, with its own number and its parent's */
	uint64_t limit;    /* children of each node, UINT64_MAX for no limit */
	double min_share;  /* 0 .. 1: nodes below are folded, what is folded is summed up */
	const char *event; /* first column of data */
	const char *unit;  /* of its values, for what has no number of samples */
	bool utf8;         /* guides may be box-drawing characters */
};

/* Fill the fresh @table from @tree, which must outlive it. */
void tree_table_fill(struct table *table, const struct call_tree *tree,
		     const struct tree_table_options *options);

#endif

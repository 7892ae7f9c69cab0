/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_table.h - a diff as a table: for people what changed, for programs every row.
 */
#ifndef REPORT_DIFF_TABLE_H
#define REPORT_DIFF_TABLE_H

#include "report/diff/diff.h"
#include "report/print/table.h"

struct diff_table_options {
	const char *const *labels; /* by side */
	const char *const *files;  /* by side, for data */
	uint64_t limit;            /* rows as text */
	bool all;                  /* as text, rows that are not sure too */
};

/* For people. Returns how many of the rows that were asked for are left out because of the limit. */
size_t diff_table_text(struct table *table, const struct diff *diff,
		       const struct diff_table_options *options);

/* For CSV and JSON: a row for each group and each recording but the first. */
void diff_table_data(struct table *table, const struct diff *diff,
		     const struct diff_table_options *options);

/* "+2.1" points of a share, "+3.10 ms" of an amount. */
const char *diff_table_change(struct arena *arena, const struct diff *diff, double change);

/* "points", "CPU time", "cycles a second": what the changes are in. */
const char *diff_table_unit(struct arena *arena, const struct diff *diff);

#endif

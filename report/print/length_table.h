/* SPDX-License-Identifier: Apache-2.0 */
/*
 * length_table.h - how long things took, for people and programs: quantiles of each group, and a histogram of all.
 */
#ifndef REPORT_LENGTH_TABLE_H
#define REPORT_LENGTH_TABLE_H

#include "report/print/json.h"
#include "report/print/table.h"
#include "report/view/wait_lengths.h"

struct length_table {
	const struct wait_lengths *lengths;
	enum view_by by;  /* what groups them */
	uint64_t limit;	  /* groups, 0: all */
	const char *noun; /* what was counted: "waits"; also the key of the count */
	bool errors;	  /* say how many failed */
};

/* Into @table, which is empty; texts live in the arena of @table. */
void length_table_fill(const struct length_table *t, struct table *table);

/* To standard output. */
void length_table_histogram(const struct length_table *t, struct arena *arena);

/* One object: sums, rows and their histograms. */
void length_table_json(const struct length_table *t, struct json *json);

#endif

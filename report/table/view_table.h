/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_table.h - a view as a table: shares with their intervals, counts, weights, names.
 *
 * As text every level is shown, the inner ones indented, and what is left out is summed up. As data there is one row
 * for each innermost group, with the names of all levels, so that the rows sum up to the whole.
 */
#ifndef REPORT_VIEW_TABLE_H
#define REPORT_VIEW_TABLE_H

#include "formats/base/err.h"
#include "report/metric/metrics.h"
#include "report/print/table.h"
#include "report/view/view.h"

#define VIEW_TABLE_ALL UINT64_MAX

struct view_table_options {
	bool data;         /* for CSV and JSON */
	uint64_t limit;    /* rows of each parent, VIEW_TABLE_ALL for no limit */
	double min_share;  /* 0 .. 1: rows below are left out */
	const char *event; /* first column of data; NULL: none */
	bool brief;        /* no weights and no row about the rest */
	bool without_idle; /* no row of threads that wait for work; shares are the same */
	const struct metrics *metrics; /* columns for each; NULL: none. The view has their measures */
	uint32_t recorder_pid; /* whose rows are marked where they are text; 0: none */
	bool bars;         /* draw shares as bars beside the numbers; needs UTF-8 */
};

/* Fill the fresh @table from @view, which is sorted and must outlive it. */
void view_table_fill(struct table *table, const struct view *view,
		     const struct view_table_options *options);

/* Parse @value of an option --limit, 0 for no limit, into @field, a uint64_t. ERR_USAGE: it is no number. */
MUST_USE struct err *view_table_parse_limit(void *field, const char *value);

#endif

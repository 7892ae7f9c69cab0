/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - a profile as tables or trees on standard output, one for each event that was asked for.
 */
#ifndef REPORT_TABLES_H
#define REPORT_TABLES_H

#include "report/load/data_places.h"
#include "report/metric/metrics.h"
#include "report/load/session.h"
#include "report/print/table.h"
#include "report/print/terminal.h"
#include "report/view/view.h"

struct tables_request {
	struct view_levels levels; /* at least one; a tree looks at none */
	bool tree;
	bool idle;		   /* threads without work where they wait, not in one row */
	bool native;		   /* see view_spec */
	bool from_leaf;                      /* a tree of callers instead of calls */
	const char *callers_of, *callees_of; /* at most one; NULL: whole stacks */
	uint64_t limit;                      /* rows of each group, VIEW_TABLE_ALL for no limit */
	double min_share;                    /* 0 .. 1 */
	enum view_sort_by sort;
	enum table_format format;
	const struct filter *filter; /* the events that it names get a table each, or the first one */
	const struct metrics *metrics; /* columns of tables; NULL: none */
	const struct data_places *data; /* that levels look at, and latencies; NULL: none */
};

/* The fewer names a table needs, the sooner it is there: frames of each stack that session_load() must name. */
unsigned tables_names(const struct tables_request *request);

/*
 * Print. ERR_USAGE: the function of callers_of or callees_of is not there, or several are; see lookup_function().
 */
MUST_USE struct err *tables_print(const struct tables_request *request, const struct profile *p,
				  const struct profile_facts *facts, const struct terminal_args *terminal);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch_table.h - --by branch: where the branches of stacks lead from and to, as text, CSV or JSON.
 */
#ifndef REPORT_BRANCH_TABLE_H
#define REPORT_BRANCH_TABLE_H

#include "report/load/branches.h"
#include "report/print/table.h"
#include "report/print/terminal.h"

struct branch_table_request {
	enum branches_by by;
	enum branches_sort sort;
	enum table_format format;
	uint64_t limit;   /* rows, VIEW_TABLE_ALL for no limit */
	double min_share; /* 0 .. 1 */
};

/* "branch", "branch=line" or "branch=address"; false if @word is none of them. */
bool branch_table_parse(const char *word, enum branches_by *ret);

/*
 * Instead of session_load(): read @s and print. ERR_UNSUPPORTED: there are no branches, or none passes @filter; the
 * remedy says how to record them.
 */
MUST_USE struct err *branch_table_run(const struct branch_table_request *request, struct session *s,
				      struct filter *filter, const struct terminal_args *terminal);

#endif

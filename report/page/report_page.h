/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_page.h - everything a person looks at in one file: the flame graph, the summary, tables, and the hottest
 * functions' instructions, which the frames of the flame graph lead to.
 */
#ifndef REPORT_REPORT_PAGE_H
#define REPORT_REPORT_PAGE_H

#include "report/load/remarks.h"
#include "report/page/flame_page.h"
#include "report/code/listing.h"
#include "report/topdown/topdown_tree.h"

struct report_page_options {
	const struct profile *profile; /* every frame is named */
	const struct profile_facts *facts;
	const struct remarks *remarks;
	struct session *code; /* of the same input, for instructions */
	struct flame_data_view view;
	size_t hot;   /* functions with their instructions */
	size_t limit; /* rows of each table */
	enum disasm_syntax syntax;
	struct listing_options listing;
	const struct topdown_tree *topdown; /* NULL: none was recorded */
};

/* Functions whose code is not there have a section that says so. ERR_SYSTEM: out of memory. */
MUST_USE struct err *report_page_write(const struct report_page_options *options, FILE *out);

#endif

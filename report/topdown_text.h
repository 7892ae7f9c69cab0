/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topdown_text.h - a loaded session's top-down tree on standard output, as text, CSV or JSON.
 */
#ifndef REPORT_TOPDOWN_TEXT_H
#define REPORT_TOPDOWN_TEXT_H

#include "report/table.h"
#include "report/terminal.h"
#include "report/topdown_tree.h"

/* @limit rows of processes and of functions each. */
void topdown_text_print(const struct topdown_tree *tree, struct session *s, enum table_format format,
			uint64_t limit, const struct terminal *term);

/* What holds it up, how sure that is and what to do next, in a sentence or two; @function may be NULL. */
const char *topdown_text_verdict(const struct topdown_tree *tree,
				 const struct topdown_value values[TOPDOWN_NODES_MAX],
				 const char *function, struct arena *arena);

#endif

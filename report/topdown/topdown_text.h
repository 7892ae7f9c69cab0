/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topdown_text.h - a profile's top-down tree on standard output, as text, CSV or JSON.
 */
#ifndef REPORT_TOPDOWN_TEXT_H
#define REPORT_TOPDOWN_TEXT_H

#include "report/print/table.h"
#include "report/print/terminal.h"
#include "report/topdown/topdown_tree.h"

/* @limit rows of processes and of functions each. */
void topdown_text_print(const struct topdown_tree *tree, const struct profile *profile,
			const struct profile_facts *facts, enum table_format format, uint64_t limit,
			const struct terminal *term);

/*
 * What holds it up, how sure that is and what to do next, in a sentence or two. @function, which may be NULL, has most of it;
 * @command is how preport is called for this input.
 */
const char *topdown_text_verdict(const struct topdown_tree *tree,
				 const struct topdown_value values[TOPDOWN_NODES_MAX],
				 const char *function, const char *command, struct arena *arena);

/* The part that holds it up, of level 2 where that is known: "memory bound 23 %", with a "?" if not surely; or "". */
const char *topdown_text_bottleneck(const struct topdown_tree *tree,
				    const struct topdown_value values[TOPDOWN_NODES_MAX],
				    struct arena *arena);

/* How the figures came about. */
const char *topdown_text_method(const struct topdown_tree *tree, struct arena *arena);

/* What to know of parts that do not sum up to all; NULL if they do. */
const char *topdown_text_sum(const struct topdown_tree *tree,
			     const struct topdown_value values[TOPDOWN_NODES_MAX], struct arena *arena);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_lines.h - the source of interpreted functions, each line with the samples that fell on it.
 *
 * Two shares for each line: of samples that it was the innermost frame of, and of those that it was anywhere on the stack of,
 * with what it called. The text comes from the script, if it is on this machine; it does not travel with recordings.
 */
#ifndef REPORT_SCRIPT_LINES_H
#define REPORT_SCRIPT_LINES_H

#include "report/view/lookup.h"
#include "report/load/session.h"
#include "report/print/table.h"

#include <stdio.h>

struct script_function {
	uint32_t function; /* of the profile */
	struct profile_sum total, self;
};

struct script_functions {
	VEC(struct script_function) items; /* most samples first, ties by number */
};

/* The interpreted functions of @s, loaded, that @wanted names and that @type of value has samples of. */
void script_functions_find(struct script_functions *functions, struct session *s,
			   const struct lookup *wanted, uint32_t type);
void script_functions_deinit(struct script_functions *functions);

struct script_options {
	enum table_format format;
	bool all; /* lines far from any that has samples, too */
	const struct terminal *term;
};

void script_lines_print(const struct script_functions *functions, struct session *s, uint32_t type,
			const struct script_options *options, FILE *out);

#endif

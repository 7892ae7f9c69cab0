/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_head.h - how alike the recordings are: side by side what they are of, and what forbids to compare them.
 */
#ifndef REPORT_DIFF_HEAD_H
#define REPORT_DIFF_HEAD_H

#include "formats/base/json_writer.h"
#include "report/diff/diff.h"
#include "report/print/table.h"
#include "report/print/terminal.h"

struct diff_power {
	const struct diff *diff;
	struct arena *arena;
};

/* For the head: how much rows of some sizes would have had to grow. */
void diff_power_print(const struct diff_power *power, const struct terminal *term, FILE *out);

/* For the end: how many rows were named, @nsure, and if none was, what could have been. */
void diff_power_conclude(const struct diff_power *power, size_t nsure, FILE *out);

/* The same as members of the object that is open. */
void diff_power_json(const struct diff_power *power, struct json *json);

struct diff_head {
	const struct diff *diff;
	const struct diff_input *inputs;
	const char *const *labels; /* "A", "B", ...: by side */
	struct arena *arena;
	VEC(const char *) warnings; /* what makes the comparison doubtful, worst first */
};

/* Look at the recordings. Texts live in @arena, the rest until diff_head_deinit(). */
void diff_head_init(struct diff_head *head, const struct diff *diff,
		    const struct diff_input *inputs, const char *const *labels,
		    struct arena *arena);
void diff_head_deinit(struct diff_head *head);

/* The facts as a table with a column for each recording, and the warnings below it. */
void diff_head_print(const struct diff_head *head, const struct terminal *term, FILE *out);

/* The same as members of the object that is open. */
void diff_head_json(const struct diff_head *head, struct json *json);

#endif

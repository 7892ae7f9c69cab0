/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_power.h - what a comparison could have found: "nothing changed" says little where little would have been seen.
 */
#ifndef REPORT_DIFF_POWER_H
#define REPORT_DIFF_POWER_H

#include "report/diff/diff.h"
#include "formats/base/json_writer.h"
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

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - where a command's result goes: standard output, or a file that appears under its name only when it is whole.
 */
#ifndef REPORT_OUTPUT_H
#define REPORT_OUTPUT_H

#include "formats/base/err.h"

#include <stdbool.h>
#include <stdio.h>

struct output {
	FILE *stream;
	const char *path; /* NULL for standard output */
	char *temporary;  /* the name until output_commit() */
};

/*
 * @path NULL or "-" is standard output. Otherwise a temporary file beside @path. @path must outlive @out.
 * ERR_SYSTEM: it cannot be created.
 */
MUST_USE struct err *output_open(struct output *out, const char *path);

/* Everything was written: give the file its name. ERR_SYSTEM: the disk is full or the like. */
MUST_USE struct err *output_commit(struct output *out);

/* Without output_commit() before, nothing is left behind. */
void output_close(struct output *out);

#endif

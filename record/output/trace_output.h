/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_output.h - the file that a recording goes to.
 *
 * Only its owner may read it. A file of that name from before is kept under the name with ".old".
 */
#ifndef RECORD_TRACE_OUTPUT_H
#define RECORD_TRACE_OUTPUT_H

#include "formats/base/err.h"

#include <stdbool.h>

struct trace_output {
	const char *path;
	int fd;       /* -1: none */
	bool is_pipe; /* standard output, which stays open */
};

/*
 * Create @path, which must outlive @ret; "-" is standard output, which must not be a terminal.
 * ERR_SYSTEM: it cannot be created.  ERR_USAGE: it is a directory or a terminal.
 */
MUST_USE struct err *trace_output_open(const char *path, struct trace_output *ret);

/* ERR_SYSTEM: what was written did not reach the file. */
MUST_USE struct err *trace_output_close(struct trace_output *out);

#endif

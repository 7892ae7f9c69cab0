/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_copy.h - a trace written once more by a command, to a file that appears when it is whole.
 */
#ifndef REPORT_TRACE_COPY_H
#define REPORT_TRACE_COPY_H

#include "formats/event.h"
#include "formats/recording.h"

#include <stdbool.h>
#include <stdint.h>

struct trace_copy {
	const char *input, *output; /* may be the same file */
	const struct recording *as; /* instead of the input's own */

	/* Change @ev, or return false to leave it out; NULL keeps all. What it points @ev to lasts until its next call. */
	bool (*event)(void *context, struct event *ev);
	void *context;
};

/*
 * Copy; *@ret_len is the length of the new file. ERR_USAGE: @output is a terminal, or @input no file that can be read
 * twice. ERR_SYSTEM, ERR_CORRUPT: as reader and writer say; then @output is what it was.
 */
MUST_USE struct err *trace_copy(const struct trace_copy *copy, uint64_t *ret_len);

/* The trace that a command is about: its operand if there is one. ERR_USAGE: there are several, or it is "-". */
MUST_USE struct err *trace_copy_input(char **operands, int noperands, const char **input);

#endif

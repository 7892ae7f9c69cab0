/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status_line.h - one line on the terminal with the recording's progress, redrawn about twice a second.
 */
#ifndef RECORD_STATUS_LINE_H
#define RECORD_STATUS_LINE_H

#include "formats/trace/trace_writer.h"
#include "record/sample/drain.h"

#include <stdbool.h>
#include <stdint.h>

struct status_line {
	bool shown; /* standard error is a terminal, and the line is enabled */
	bool drawn; /* a line is on the screen */
	uint64_t start_ns;
	uint64_t next_ns; /* when to draw again */
};

void status_line_init(struct status_line *line, bool quiet, uint64_t now_ns);
void status_line_update(struct status_line *line, uint64_t now_ns,
			const struct drain_totals *totals, const struct trace_sizes *sizes);

/* Before anything else is printed. */
void status_line_wipe(struct status_line *line);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status_line.c - each update is one write(2) to standard error: no stdio while sampling.
 */
#include "record/status_line.h"

#include "formats/base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REDRAW_NS 500000000ULL
#define WIPE_LINE "\r\033[K"
#define WIDTH_MAX 160

void status_line_init(struct status_line *line, bool quiet, uint64_t now_ns)
{
	const char *term = getenv("TERM");

	*line = (struct status_line){
		.shown = !quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0,
		.start_ns = now_ns,
		.next_ns = now_ns + REDRAW_NS,
	};
}

static void put(const char *text, size_t len)
{
	/* A closed terminal does not stop the recording. */
	if (write(STDERR_FILENO, text, len) < 0)
		return;
}

void status_line_update(struct status_line *line, uint64_t now_ns,
			const struct drain_totals *totals, const struct trace_sizes *sizes)
{
	char text[WIDTH_MAX];

	if (!line->shown || now_ns < line->next_ns)
		return;
	line->next_ns = now_ns + REDRAW_NS;
	line->drawn = true;
	int len = snprintf(text, sizeof(text),
			   WIPE_LINE "recording: %" PRIu64 " s, %" PRIu64 " samples, %" PRIu64
				     " lost, %.1f MB",
			   (now_ns - line->start_ns) / 1000000000, totals->samples, totals->lost,
			   (double)sizes->total / 1e6);

	put(text, (size_t)len);
}

void status_line_wipe(struct status_line *line)
{
	if (line->drawn)
		put(WIPE_LINE, strlen(WIPE_LINE));
	line->drawn = false;
}

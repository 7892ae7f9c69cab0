/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - one line on a terminal while something takes long, gone when it is over.
 *
 *	progress_begin(&p, stderr, wanted);
 *	while (...) {
 *		if (progress_due(&p))
 *			progress_show(&p, text);
 *	}
 *	progress_end(&p);
 *
 * Nothing is shown in the first half second, nor anywhere but on a terminal that can erase a line.
 */
#ifndef REPORT_PROGRESS_H
#define REPORT_PROGRESS_H

#include "formats/base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
	FILE *out; /* NULL: not on a terminal, or not wanted */
	unsigned columns;
	uint32_t calls;
	uint64_t began_ns, next_ns; /* next_ns: when the line is due */
	bool shown;
};

void progress_begin(struct progress *p, FILE *out, bool wanted);

/* Is it time to show another line? Asks the clock now and then only; meant to be called for each event. */
bool progress_due(struct progress *p);

/* Show @text, which is cut where the terminal ends, in place of what is there. */
void progress_show(struct progress *p, const char *text);

/* Since progress_begin(). */
uint64_t progress_elapsed_ns(const struct progress *p);

/* Erase the line. May be called again, also if it never began. */
void progress_end(struct progress *p);

/* "43 % of run.trace, 1,234,567 samples, 12 s left": after @elapsed_ns @done of @len bytes are read. */
const char *progress_text(struct arena *arena, const char *input, uint64_t done, uint64_t len,
			  uint64_t samples, uint64_t elapsed_ns);

#endif

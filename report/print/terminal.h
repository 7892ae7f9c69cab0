/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.h - how much room there is, and what may be shown in it.
 */
#ifndef REPORT_TERMINAL_H
#define REPORT_TERMINAL_H

#include "formats/base/err.h"
#include "formats/base/opt.h"

#include <stdbool.h>
#include <stdio.h>

struct pager;

struct terminal {
	unsigned columns, lines; /* 0: no limit, as in a pipe or a file */
	bool colour;
	bool utf8;
	struct pager *pager; /* of terminal_open() */
};

/* --color and --no-pager, for commands that print to standard output. */
struct terminal_args {
	const char *color; /* "auto", "always", "never" */
	bool pager;
};

extern const struct opt terminal_opts[];

/*
 * Look at @out and the environment: COLUMNS and LINES count wherever the output goes, otherwise only a terminal has
 * limits and colour. NO_COLOR and TERM=dumb switch colour off.
 */
struct terminal terminal_of(FILE *out);

/*
 * The same of standard output as @args ask for it, which goes through a pager from now on if it is a terminal. To be called
 * when the result is ready, so that errors and progress come before it.
 */
struct terminal terminal_open(const struct terminal_args *args);

/* Wait for the pager. @err, which printing ended with, comes back; if it is NULL, what pager_finish() says. */
MUST_USE struct err *terminal_close(struct terminal *term, struct err *err);

#endif

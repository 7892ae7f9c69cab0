/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.h - how much room there is, and what may be shown in it.
 */
#ifndef REPORT_TERMINAL_H
#define REPORT_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

struct terminal {
	unsigned columns, lines; /* 0: no limit, as in a pipe or a file */
	bool colour;
	bool utf8;
};

/*
 * Look at @out and the environment: COLUMNS and LINES count wherever the output goes, otherwise only a terminal has
 * limits and colour. NO_COLOR and TERM=dumb switch colour off.
 */
struct terminal terminal_of(FILE *out);

#endif

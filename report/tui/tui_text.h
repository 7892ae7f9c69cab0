/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_text.h - a text that is longer than the screen, scrolled.
 */
#ifndef REPORT_TUI_TEXT_H
#define REPORT_TUI_TEXT_H

#include "report/tui/screen.h"

#include <stddef.h>

struct tui_text {
	const char *title;
	const char *text; /* lines end in '\n' */
	size_t middle;    /* the line that is in the middle at first */
	size_t heading;   /* the line that stays in view when what it is above is; 0: none */
};

/* Show @text until q, Escape or Enter. False if the terminal is gone. */
bool tui_text_show(struct screen *screen, const struct tui_text *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_text.h - a text that is longer than the screen: scrolled, searched, and with a cursor if lines can be chosen.
 */
#ifndef REPORT_TUI_TEXT_H
#define REPORT_TUI_TEXT_H

#include "report/tui/screen.h"

#include <stddef.h>

struct tui_text {
	const char *title;
	const char *text;    /* lines end in '\n' */
	size_t heading;      /* the line that stays in view when what it is above is; 0: none */
	const size_t *stops; /* @nstops lines that h goes to one after the other, the most important first; NULL: none */
	size_t nstops;
	const int *chosen_by; /* keys, ended by 0, that end tui_text_show() for the line of the cursor; NULL: there is no cursor */
	const char *status;  /* the last line at first; NULL: the keys */
};

/*
 * Show @text until q or Escape, or without a cursor Enter, or one of @text->chosen_by. Returns the key, SCREEN_KEY_CLOSED if the terminal
 * is gone. @line is in the middle at first, and where the cursor is; it is left where the cursor was.
 */
int tui_text_show(struct screen *screen, const struct tui_text *text, size_t *line);

#endif

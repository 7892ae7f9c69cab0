/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen.h - a terminal that is drawn as a whole and sends keys: the one place that knows ncurses.
 *
 * Lines and columns count from 0. Text is cut at the right edge; it is escaped here, so callers pass names as they
 * are. Only what changed since the last screen_show() goes over the line.
 */
#ifndef REPORT_SCREEN_H
#define REPORT_SCREEN_H

#include "formats/base/err.h"

#include <stdbool.h>

enum screen_style {
	SCREEN_PLAIN,
	SCREEN_BOLD,
	SCREEN_DIM,
	SCREEN_DOUBTFUL, /* the name is not known */
	SCREEN_BAR,      /* title and status: reverse video */
	SCREEN_CHOSEN,   /* the row that keys are about: reverse video */
};

/* What screen_key() returns besides characters (Unicode code points). */
enum screen_key {
	SCREEN_KEY_ENTER = 0x110000,
	SCREEN_KEY_ESCAPE,
	SCREEN_KEY_BACKSPACE,
	SCREEN_KEY_TAB,
	SCREEN_KEY_UP,
	SCREEN_KEY_DOWN,
	SCREEN_KEY_LEFT,
	SCREEN_KEY_RIGHT,
	SCREEN_KEY_PAGE_UP,
	SCREEN_KEY_PAGE_DOWN,
	SCREEN_KEY_HOME,
	SCREEN_KEY_END,
	SCREEN_KEY_RESIZE, /* the size is another: draw again */
	SCREEN_KEY_CLOSED, /* the terminal is gone */
	SCREEN_KEY_NONE,   /* none came in time */
	SCREEN_KEY_OTHER,
};

struct screen;

/* Take the terminal. ERR_USAGE: standard input or output is none, or TERM is not known. */
MUST_USE struct err *screen_new(struct screen **ret);

/* Give the terminal back as it was. */
void screen_free(struct screen *screen);

unsigned screen_columns(const struct screen *screen);
unsigned screen_lines(const struct screen *screen);

/* May text hold more than ASCII? */
bool screen_is_utf8(const struct screen *screen);

/* Begin a new picture. */
void screen_clear(struct screen *screen);

/* @text at @line from @column on, over at most @width columns; a style that has a background fills them. */
void screen_put(struct screen *screen, unsigned line, unsigned column, unsigned width,
		enum screen_style style, const char *text);

void screen_show(struct screen *screen);

/* Wait for a key. */
int screen_key(struct screen *screen);

/* The same, but no longer than @wait_ms: SCREEN_KEY_NONE. */
int screen_key_within(struct screen *screen, unsigned wait_ms);

#endif

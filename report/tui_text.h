/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_text.h - a text that is longer than the screen, scrolled.
 */
#ifndef REPORT_TUI_TEXT_H
#define REPORT_TUI_TEXT_H

#include "report/screen.h"

#include <stddef.h>

/*
 * Show @text, whose lines end in '\n', under @title until q, Escape or Enter; @middle is the line that is in the middle
 * at first. False if the terminal is gone.
 */
bool tui_text_show(struct screen *screen, const char *title, const char *text, size_t middle);

#endif

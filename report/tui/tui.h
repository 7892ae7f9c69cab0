/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui.h - a session on the terminal: a table to walk through with keys.
 */
#ifndef REPORT_TUI_H
#define REPORT_TUI_H

#include "report/tui/screen.h"
#include "report/load/session.h"

/* @s is loaded, every frame named, with .keep_times. Until q is pressed or the terminal is gone. */
MUST_USE struct err *tui_run(struct session *s, struct screen *screen);

#endif

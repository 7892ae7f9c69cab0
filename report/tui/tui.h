/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui.h - a profile on the terminal: a table to walk through with keys.
 */
#ifndef REPORT_TUI_H
#define REPORT_TUI_H

#include "report/tui/screen.h"
#include "formats/profile/facts.h"

struct tui_input {
	const struct profile *profile; /* every frame is named; with times, for the flame graph that f writes */
	const struct profile_facts *facts;

	/* Show the instructions of "MODULE:FUNCTION"; @ret_closed: the terminal is gone. */
	struct err *(*list)(void *context, struct screen *screen, const char *wanted, bool *ret_closed);
	void *context;
};

/* Until q is pressed or the terminal is gone. */
MUST_USE struct err *tui_run(const struct tui_input *input, struct screen *screen);

#endif

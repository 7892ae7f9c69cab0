/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui.h - a profile on the terminal: a table to walk through with keys.
 */
#ifndef REPORT_TUI_H
#define REPORT_TUI_H

#include "report/tui/screen.h"
#include "formats/profile/facts.h"

#include <stdio.h>

struct tui_model;

/* What only the profile's owner can do. */
struct tui_ops {
	/* Show the instructions of "MODULE:FUNCTION"; @ret_closed: the terminal is gone. */
	struct err *(*list)(struct tui_model *model, struct screen *screen, const char *wanted, bool *ret_closed);

	/* Print what the recording holds and how far to trust it. */
	struct err *(*info)(struct tui_model *model, FILE *out);

	/* Look at the file @path from now on. On failure all is as it was. */
	struct err *(*open)(struct tui_model *model, const char *path);

	/* Of a live view, all NULL otherwise: is there news; write the last moments to a new file; older samples count less, or no longer. */
	bool (*tick)(struct tui_model *model);
	struct err *(*save)(struct tui_model *model, const char *path);
	void (*turn_decay)(struct tui_model *model);
};

struct tui_model {
	/* May be others after tick() and open(). Every frame is named; with times, if there are any, for timelines and the flame graph. */
	const struct profile *profile;
	const struct profile_facts *facts;
	const char *state; /* of a live view: "last 12 s", never NULL there */
	const struct tui_ops *ops;
	void *context;
};

/* Until q is pressed or the terminal is gone. */
MUST_USE struct err *tui_run(struct tui_model *model, struct screen *screen);

#endif

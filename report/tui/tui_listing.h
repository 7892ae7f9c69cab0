/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_listing.h - the instructions of a function on the screen, the hottest in the middle.
 */
#ifndef REPORT_TUI_LISTING_H
#define REPORT_TUI_LISTING_H

#include "report/tui/screen.h"
#include "report/load/session.h"

/*
 * Show the function that annotate would find as @wanted until a key closes the listing. *@ret_closed: the terminal is gone;
 * untouched on failure. Errors are those of annotate_find() and annotate_list().
 */
MUST_USE struct err *tui_listing_show(struct screen *screen, struct session *s, const char *wanted,
				      bool *ret_closed);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_write.h - what the browser shows, written to a new file.
 */
#ifndef REPORT_TUI_WRITE_H
#define REPORT_TUI_WRITE_H

#include "formats/base/err.h"
#include "formats/profile/facts.h"
#include "report/tui/browser.h"

/*
 * All rows of @b, which shows @p, to @path: as CSV if it ends in ".csv", as a flame graph of all samples if it ends in ".html", as text
 * otherwise.
 *
 * ERR_USAGE: the file is there already.  ERR_SYSTEM: it cannot be written.
 */
MUST_USE struct err *tui_write(struct browser *b, const struct profile *p, const struct profile_facts *facts,
				const char *path);

#endif

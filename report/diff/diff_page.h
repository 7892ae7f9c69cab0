/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_page.h - two merged recordings as one interactive flame graph: each frame is as wide as its shares in both, what
 * vanished included, and says by colour and sign what changed.
 */
#ifndef REPORT_DIFF_PAGE_H
#define REPORT_DIFF_PAGE_H

#include "report/diff/diff.h"

#include <stdio.h>

/*
 * @diff is of two recordings by total, with every frame named; @inputs and @files are theirs. ERR_SYSTEM: out of memory.
 */
MUST_USE struct err *diff_page_write(const struct diff *diff,
				     const struct diff_input *inputs,
				     const char *const *files, FILE *out);

#endif

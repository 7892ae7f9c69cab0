/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pager.h - long output on a terminal goes through a program that scrolls.
 */
#ifndef REPORT_PAGER_H
#define REPORT_PAGER_H

#include "formats/base/err.h"

struct pager;

/*
 * From now on standard output goes to $PREPORT_PAGER, $PAGER or less(1), the first that is set; with LESS=FRX unless
 * LESS is set, so that what fits on the screen stays there. NULL, and nothing happens, if standard output is no terminal or
 * the pager is empty or "cat", or if none is named and less is not there.
 */
struct pager *pager_start(void);

/*
 * Wait until the reader is through, and give standard output back. @pager may be NULL. ERR_SYSTEM: the pager could not be run.
 */
MUST_USE struct err *pager_finish(struct pager *pager);

#endif

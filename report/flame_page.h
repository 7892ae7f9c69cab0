/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_page.h - the interactive flame graph: the script of report/web/ with a session's data.
 */
#ifndef REPORT_FLAME_PAGE_H
#define REPORT_FLAME_PAGE_H

#include "report/flame_data.h"

#include <stdio.h>

/* @s is loaded, with every frame named; with .keep_times there is a time strip. ERR_SYSTEM: out of memory. */
MUST_USE struct err *flame_page_write(struct session *s, const struct flame_data_view *view, FILE *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_page.h - the interactive flame graph: the script of report/page/web/ with a profile's data.
 */
#ifndef REPORT_FLAME_PAGE_H
#define REPORT_FLAME_PAGE_H

#include "report/page/flame_data.h"
#include "report/page/page.h"

#include <stdio.h>

/* What else is on the page, for reports; everything may be NULL. */
struct flame_page_more {
	const struct page_asset *styles; /* behind the flame graph's own; end with { NULL } */
	const struct page_asset *bodies; /* before it */
	const struct page_asset *scripts; /* before its last; they hear of each frame that is shown by the event "frame" */
	struct err *(*write)(void *context, FILE *out); /* markup behind it */
	void *context;
};

/* Every frame of @p is named; if it has times there is a time strip, if it has spans there are lanes. ERR_SYSTEM: out of memory. */
MUST_USE struct err *flame_page_write(const struct profile *p, const struct profile_facts *facts,
				      const struct flame_data_view *view, FILE *out);

/* The same, with more on the page. ERR_SYSTEM: out of memory, or as more->write says. */
MUST_USE struct err *flame_page_write_more(const struct profile *p, const struct profile_facts *facts,
					   const struct flame_data_view *view,
					   const struct flame_page_more *more, FILE *out);

#endif

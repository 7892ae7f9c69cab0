/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing_page.h - annotated functions as markup: a page of their own, or sections of another page.
 *
 *	page = listing_page_new(a, &options, out);
 *	listing_page_put(page, &listing);		// any number of functions
 *	listing_page_free(page);
 *
 * No script is needed. A section knows its function by data-name and data-module, for report/page/web/code.js.
 */
#ifndef REPORT_LISTING_PAGE_H
#define REPORT_LISTING_PAGE_H

#include "report/code/listing.h"

struct listing_page;

/* Calls between the functions of @a become links, so all of them should follow. */
struct listing_page *listing_page_new(const struct annotate *a,
				      const struct listing_options *options, FILE *out);
void listing_page_free(struct listing_page *page);

/* Write one function's section. */
void listing_page_put(struct listing_page *page, struct annotate_listing *listing);

/* The section of a function whose code is not there, with the reason. Takes @why over. */
void listing_page_put_missing(struct listing_page *page, const struct annotate_function *function,
			      struct err *why);

/*
 * Before and after the sections, if they are a page of their own: @title is plain text. ERR_SYSTEM: out of memory.
 */
void listing_page_begin(struct listing_page *page, const char *title);
MUST_USE struct err *listing_page_end(struct listing_page *page, const char *title);

#endif

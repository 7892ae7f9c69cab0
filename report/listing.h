/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing.h - prints annotated functions as text, CSV or JSON.
 */
#ifndef REPORT_LISTING_H
#define REPORT_LISTING_H

#include "report/annotate.h"
#include "report/table.h"

struct listing_options {
	enum table_format format;
	bool all;    /* long stretches without samples too */
	bool source; /* interleave source lines */
	bool bytes;
	bool global; /* shares of all samples instead of the function's */
};

struct listing_printer;

struct listing_printer *listing_printer_new(const struct annotate *a,
					    const struct listing_options *options, FILE *out);
void listing_print(struct listing_printer *printer, const struct annotate_function *function,
		   const struct annotate_listing *listing);

/* Ends the output and frees the printer. */
void listing_printer_finish(struct listing_printer *printer);

#endif

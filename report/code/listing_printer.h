/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing_printer.h - prints annotated functions as text, CSV or JSON.
 *
 *	printer = listing_printer_new(a, &options, out);
 *	listing_print(printer, &listing);		// any number of functions
 *	listing_printer_finish(printer);
 */
#ifndef REPORT_LISTING_PRINTER_H
#define REPORT_LISTING_PRINTER_H

#include "report/code/listing.h"

struct listing_printer;

struct listing_printer *listing_printer_new(const struct annotate *a,
					    const struct listing_options *options, FILE *out);
void listing_print(struct listing_printer *printer, struct annotate_listing *listing);

/* Ends the output and frees the printer. */
void listing_printer_finish(struct listing_printer *printer);

#endif

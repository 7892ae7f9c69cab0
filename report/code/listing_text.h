/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing_text.h - one annotated function for a terminal; for listing_printer.c alone.
 */
#ifndef REPORT_LISTING_TEXT_H
#define REPORT_LISTING_TEXT_H

#include "report/code/listing.h"
#include "report/code/source_text.h"

/* @arena and @sources may serve several functions. */
void listing_text_print(const struct annotate *a, struct annotate_listing *listing,
			const struct listing_options *options, struct source_text *sources, FILE *out);

#endif

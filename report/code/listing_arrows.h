/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing_arrows.h - the gutter of jump arrows beside a listing's rows; for listing_rows.c alone.
 */
#ifndef REPORT_LISTING_ARROWS_H
#define REPORT_LISTING_ARROWS_H

#include "report/code/listing_rows.h"

/*
 * Fill @rows->lanes and @rows->arrows with at most @lanes lanes. Arrows to one target share a lane, short ones lie nearest to
 * the code; those that are longer than a few screens, or find no lane, are left out.
 */
void listing_arrows_place(struct listing_rows *rows, const struct annotate_listing *listing,
			  unsigned lanes);

#endif

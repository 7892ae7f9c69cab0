/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg.h - a flame graph as a static SVG picture: no script, nothing loaded, fit for mail and documents.
 */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include "report/page/flame.h"

#include <stdbool.h>
#include <stdio.h>

#define SVG_FRAMES_MAX \
	10000 /* boxes drawn at most; the narrowest are left out, and the picture says so */

struct svg_options {
	const char *title, *subtitle; /* plain text */
	uint32_t width;               /* in pixels */
	bool root_on_top;
	bool weight_is_ns;
};

void svg_write(const struct flame *flame, const struct svg_options *options, FILE *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markup.h - plain text from hostile places made fit for HTML, XML and SVG: the one place where that is done.
 */
#ifndef REPORT_MARKUP_H
#define REPORT_MARKUP_H

#include <stddef.h>
#include <stdio.h>

/*
 * Write at most @len bytes of @text (SIZE_MAX: all of it) for use between tags or inside a quoted attribute. Control
 * bytes, which XML 1.0 does not allow however they are written, must have been taken out before (text_escape()).
 */
void markup_put(FILE *out, const char *text, size_t len);

#endif

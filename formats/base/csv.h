/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.h - one cell of CSV (RFC 4180). What does not print cannot fail; the stream's error flag is looked at when the program ends.
 */
#ifndef FORMATS_CSV_H
#define FORMATS_CSV_H

#include <stdio.h>

/* @text, in quotes only if it holds a comma, a quote or a line's end. */
void csv_put(FILE *out, const char *text);

/* @text, in quotes whatever it holds. */
void csv_put_quoted(FILE *out, const char *text);

#endif

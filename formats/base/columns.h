/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.h - how wide lines may be.
 */
#ifndef BASE_COLUMNS_H
#define BASE_COLUMNS_H

#include <stdio.h>

/* What $COLUMNS says, which is set deliberately, or the terminal that @out is, at least 40; 0: neither limits lines. */
unsigned columns_of(FILE *out);

/* The same for help and other prose: 80 where nothing limits lines, and never more. */
unsigned columns_of_prose(FILE *out);

#endif

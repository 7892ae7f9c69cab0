/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_page.h - a table as markup.
 */
#ifndef REPORT_TABLE_PAGE_H
#define REPORT_TABLE_PAGE_H

#include "report/print/table.h"

/* What people would see in text: columns with a title. @caption is plain text. */
void table_page_put(const struct table *table, const char *caption, FILE *out);

#endif

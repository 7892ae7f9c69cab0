/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fact_sheet.h - facts, each a key and a value, and then tables: as text for people, as CSV, as JSON. In CSV the
 * facts come first as "key,value", then each table after an empty line; in JSON they are members of one object.
 */
#ifndef REPORT_FACT_SHEET_H
#define REPORT_FACT_SHEET_H

#include "report/print/table.h"

struct fact_sheet {
	struct arena *arena; /* where texts are made */
	enum table_format format;
	FILE *out;
	struct json json;
	struct terminal term;
};

void fact_sheet_open(struct fact_sheet *sheet, struct arena *arena, enum table_format format, FILE *out);
void fact_sheet_close(struct fact_sheet *sheet);

/*
 * One fact: @title and @text for people, @key and @data for programs. @title NULL: not for people. @data NULL: the
 * same text. An empty value is left out in text.
 */
void fact_sheet_put(struct fact_sheet *sheet, const char *title, const char *key, const char *text,
		    const char *data);

/* A count: "1,234" for people, 1234 for programs. */
void fact_sheet_put_number(struct fact_sheet *sheet, const char *title, const char *key, uint64_t value);

/* Print @table under @title, or as the member @key, and free it. */
void fact_sheet_put_table(struct fact_sheet *sheet, struct table *table, const char *title,
			  const char *key);

#endif

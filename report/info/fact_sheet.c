/* SPDX-License-Identifier: Apache-2.0 */
#include "report/info/fact_sheet.h"

#include "formats/base/csv.h"
#include "formats/base/text.h"
#include "report/print/number.h"

#include <inttypes.h>

#define FACT_WIDTH 14 /* columns of the facts' names in text */

void fact_sheet_open(struct fact_sheet *sheet, struct arena *arena, enum table_format format, FILE *out)
{
	*sheet = (struct fact_sheet){ .arena = arena, .format = format, .out = out };
	sheet->term = terminal_of(out);
	if (format != TABLE_JSON)
		return;
	json_init(&sheet->json, out);
	sheet->json.lines = true;
	json_open(&sheet->json, NULL, '{');
}

void fact_sheet_close(struct fact_sheet *sheet)
{
	if (sheet->format == TABLE_JSON)
		json_close(&sheet->json, '}');
}

void fact_sheet_put(struct fact_sheet *sheet, const char *title, const char *key, const char *text,
		    const char *data)
{
	data = data ? data : text;
	switch (sheet->format) {
	case TABLE_TEXT:
		if (!title || !*text)
			break;
		fprintf(sheet->out, "%-*s ", FACT_WIDTH, title);
		text_put_wrapped(sheet->out, text_escape(sheet->arena, text), FACT_WIDTH + 1,
				 sheet->term.columns ? sheet->term.columns : SIZE_MAX);
		break;
	case TABLE_CSV:
		csv_put(sheet->out, key);
		fputc(',', sheet->out);
		csv_put(sheet->out, data);
		fputs("\r\n", sheet->out);
		break;
	case TABLE_JSON:
		json_string(&sheet->json, key, data);
		break;
	}
}

void fact_sheet_put_number(struct fact_sheet *sheet, const char *title, const char *key, uint64_t value)
{
	if (sheet->format == TABLE_JSON)
		json_uint(&sheet->json, key, value);
	else
		fact_sheet_put(sheet, title, key, number_count(sheet->arena, value),
			       arena_printf(sheet->arena, "%" PRIu64, value));
}

void fact_sheet_put_table(struct fact_sheet *sheet, struct table *table, const char *title, const char *key)
{
	switch (sheet->format) {
	case TABLE_TEXT:
		fprintf(sheet->out, "\n%s\n", title);
		table_print_text(table, &sheet->term, sheet->out);
		break;
	case TABLE_CSV:
		fputs("\r\n", sheet->out);
		table_print_csv(table, sheet->out, /* with_header= */ true);
		break;
	case TABLE_JSON:
		table_print_json(table, key, &sheet->json);
		break;
	}
	table_deinit(table);
}

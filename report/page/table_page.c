/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_page.c - cells are escaped once for control bytes and once for markup.
 */
#include "report/page/table_page.h"

#include "formats/base/text.h"
#include "report/page/markup.h"

static void put(const struct table *table, const char *text, FILE *out)
{
	markup_put(out, text_escape(table->arena, text), SIZE_MAX);
}

static void put_titles(const struct table *table, FILE *out)
{
	fputs("<thead><tr>", out);
	for (size_t c = 0; c < table->columns.len; c++) {
		const struct table_column *column = &table->columns.items[c];

		if (!column->title)
			continue;
		fprintf(out, "<th scope=\"col\"%s>",
			column->align == TABLE_LEFT ? " class=\"left\"" : "");
		put(table, column->title, out);
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n", out);
}

static void put_row(const struct table *table, size_t row, FILE *out)
{
	fputs("<tr>", out);
	for (size_t c = 0; c < table->columns.len; c++) {
		const struct table_cell *cell =
			&table->cells.items[row * table->columns.len + c];

		if (!table->columns.items[c].title)
			continue;
		fputs(table->columns.items[c].align == TABLE_LEFT ? "<td class=\"left\">" : "<td>",
		      out);
		put(table, cell->text, out);
		fputs("</td>", out);
	}
	fputs("</tr>\n", out);
}

void table_page_put(const struct table *table, const char *caption, FILE *out)
{
	fputs("<table><caption>", out);
	put(table, caption, out);
	fputs("</caption>\n", out);
	put_titles(table, out);
	fputs("<tbody>\n", out);
	for (size_t row = 0; row < table_rows(table); row++)
		put_row(table, row, out);
	fputs("</tbody></table>\n", out);
}

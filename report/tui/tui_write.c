/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_write.c - rows to a table, a table to a file.
 */
#include "report/tui/tui_write.h"

#include "report/page/flame_page.h"
#include "report/print/number.h"
#include "report/print/output.h"
#include "report/print/table.h"
#include "report/view/stats.h"

#include <string.h>
#include <unistd.h>

#define INDENT 2

static bool ends_in(const char *path, const char *ending)
{
	size_t len = strlen(path), end = strlen(ending);

	return len > end && strcmp(path + len - end, ending) == 0;
}

static const struct table_column columns[] = {
	{ NULL, "depth", TABLE_RIGHT, TABLE_KEEP, true },      { "share", "share", TABLE_RIGHT, TABLE_KEEP, true },
	{ NULL, "low", TABLE_RIGHT, TABLE_KEEP, true },	       { NULL, "high", TABLE_RIGHT, TABLE_KEEP, true },
	{ "95 % range", NULL, TABLE_RIGHT, TABLE_KEEP, true }, { "samples", "samples", TABLE_RIGHT, TABLE_KEEP, true },
	{ "name", "name", TABLE_LEFT, TABLE_KEEP, false },     { "", "detail", TABLE_LEFT, TABLE_KEEP, false },
};

static void add_row(struct table *table, const struct browser_row *row, const struct profile_sum *whole)
{
	struct stats_share share = stats_share(&row->sum, whole);
	struct arena *arena = table->arena;

	table_add_row(table, 0, TABLE_PLAIN);
	table_add_format(table, "%u", row->depth);
	table_add_cell(table, number_share(arena, share.share), arena_printf(arena, "%.6f", share.share));
	table_add_cell(table, number_bound(arena, &share, share.low), NULL);
	table_add_cell(table, number_bound(arena, &share, share.high), NULL);
	table_add_cell(table, number_interval(arena, &share), NULL);
	table_add_cell(table, number_samples(arena, &row->sum), number_samples_data(arena, &row->sum));
	table_add_cell(table, arena_printf(arena, "%*s%s", (int)row->depth * INDENT, "", row->name), row->name);
	table_add_cell(table, row->detail, NULL);
}

static void put_rows(struct browser *b, const struct profile *p, const struct profile_facts *facts, bool csv, FILE *out)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile_sum whole = browser_whole(b);
	const char *narrowed = browser_narrowed(b);
	struct terminal plain = { .utf8 = true };
	struct table table;
	size_t count;
	const struct browser_row *rows = browser_rows(b, &count);

	table_init(&table, &arena);
	table_add_columns(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < count; i++)
		add_row(&table, &rows[i], &whole);
	if (csv) {
		table_print_csv(&table, out, /* with_header= */ true);
	} else {
		fprintf(out, "%s of %s: %s, %s%s%s\n", browser_table_name(browser_table(b)),
			profile_text(p, p->types.items[browser_event(b)].name), number_of(&arena, whole.count, "sample"),
			facts->input, *narrowed ? "; only " : "", narrowed);
		table_print_text(&table, &plain, out);
	}
	table_deinit(&table);
}

struct err *tui_write(struct browser *b, const struct profile *p, const struct profile_facts *facts, const char *path)
{
	const struct flame_data_view view = { .title = path, .by = "program", .event = browser_event(b) };
	struct output out;
	struct err *err;

	if (access(path, F_OK) == 0)
		return err_new(ERR_USAGE, "'%s' is there already", path);
	err = output_open(&out, path);
	if (err)
		return err;
	if (ends_in(path, ".html"))
		err = flame_page_write(p, facts, &view, out.stream);
	else
		put_rows(b, p, facts, ends_in(path, ".csv"), out.stream);
	if (!err)
		err = output_commit(&out);
	output_close(&out);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_table.c - weights of events have units of their own, so that only their samples have shares.
 */
#include "report/view/event_table.h"

#include "report/print/number.h"
#include "report/view/stats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct event_row {
	const char *name, *unit;
	struct profile_sum sum;
};

static int by_count(const void *a, const void *b)
{
	const struct event_row *x = a, *y = b;

	if (x->sum.count != y->sum.count)
		return x->sum.count > y->sum.count ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void add_row(struct table *table, const struct event_row *row, uint64_t all)
{
	double share = all ? (double)row->sum.count / (double)all : 0;

	table_add_row(table, 0, TABLE_PLAIN);
	table_add_cell(table, number_share(table->arena, share), arena_printf(table->arena, "%.6f", share));
	table_add_cell(table, number_samples(table->arena, &row->sum), number_samples_data(table->arena, &row->sum));
	table_add_cell(table, number_weight(table->arena, row->sum.weight, row->unit),
		       arena_printf(table->arena, "%" PRId64, row->sum.weight));
	table_add_cell(table, row->unit, NULL);
	table_add_cell(table, row->name, NULL);
}

static size_t gather(const struct profile *p, struct event_row *rows, uint64_t *ret_all)
{
	size_t count = 0;

	for (uint32_t i = 0; i < p->types.len; i++) {
		struct event_row row = { .name = profile_text(p, p->types.items[i].name),
					 .unit = profile_text(p, p->types.items[i].unit),
					 .sum = profile_total(p, i) };

		if (!row.sum.count)
			continue;
		*ret_all += row.sum.count;
		rows[count++] = row;
	}
	qsort(rows, count, sizeof(*rows), by_count);
	return count;
}

static void print(const struct table *table, enum table_format format, const struct terminal *term)
{
	struct json json;

	if (format == TABLE_TEXT) {
		table_print_text(table, term, stdout);
	} else if (format == TABLE_CSV) {
		table_print_csv(table, stdout, /* with_header= */ true);
	} else {
		json_init(&json, stdout);
		json_open(&json, NULL, '{');
		table_print_json(table, "events", &json);
		json_close(&json, '}');
	}
}

struct err *event_table_print(struct session *s, enum table_format format, uint64_t limit,
			      const struct terminal_args *terminal)
{
	static const struct table_column columns[] = {
		{ "share", "share", TABLE_RIGHT, TABLE_KEEP, true },
		{ "samples", "samples", TABLE_RIGHT, TABLE_KEEP, true },
		{ "weight", "weight", TABLE_RIGHT, TABLE_KEEP, true },
		{ NULL, "unit", TABLE_LEFT, TABLE_KEEP, false },
		{ "event", "event", TABLE_LEFT, TABLE_CUT_END, false },
	};
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct event_row *rows = ARENA_ARRAY(&arena, struct event_row, s->profile->types.len + 1);
	struct terminal term = terminal_open(terminal);
	struct table table;
	uint64_t all = 0;
	size_t count = gather(s->profile, rows, &all);

	table_init(&table, &arena);
	table_add_columns(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < count && i < limit; i++)
		add_row(&table, &rows[i], all);
	print(&table, format, &term);
	table_deinit(&table);
	return terminal_close(&term, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * length_table.c - one list of quantiles for columns and keys alike.
 */
#include "report/print/length_table.h"

#include "report/print/number.h"

#include <inttypes.h>

#define BAR_LEN 40

static const struct quantile {
	const char *title, *key;
	double part;
} quantiles[] = { { "median", "median", 0.5 }, { "90 %", "p90", 0.9 }, { "99 %", "p99", 0.99 }, { "longest", "max", 1 } };

static size_t groups_shown(const struct length_table *t)
{
	size_t len = t->lengths->groups.len;

	return t->limit ? MIN(len, (size_t)t->limit) : len;
}

static void add_number(struct table *table, const char *title, const char *key)
{
	table_add_column(table, &(struct table_column){ title, key, TABLE_RIGHT, TABLE_KEEP, true });
}

static void add_columns(const struct length_table *t, struct table *table)
{
	unsigned nfields;
	const struct view_field *fields = view_fields(t->by, &nfields);

	add_number(table, t->noun, t->noun);
	if (t->errors)
		add_number(table, "errors", "errors");
	add_number(table, "time", "total_ns");
	for (size_t q = 0; q < ARRAY_LEN(quantiles); q++)
		add_number(table, quantiles[q].title, quantiles[q].key);
	for (unsigned f = 0; f < nfields; f++)
		table_add_column(table, &(struct table_column){ fields[f].title, fields[f].key,
								fields[f].number ? TABLE_RIGHT : TABLE_LEFT,
								TABLE_CUT_END, fields[f].number });
}

static void add_row(const struct length_table *t, struct table *table, const struct wait_group *group)
{
	struct arena *arena = table->arena;
	unsigned nfields;

	view_fields(t->by, &nfields);
	table_add_row(table, 0, TABLE_PLAIN);
	table_add_cell(table, number_count(arena, group->lengths_ns.len),
		       arena_printf(arena, "%zu", group->lengths_ns.len));
	if (t->errors)
		table_add_cell(table, number_count(arena, group->errors), arena_printf(arena, "%" PRIu64, group->errors));
	table_add_cell(table, number_time(arena, group->total_ns), arena_printf(arena, "%" PRIu64, group->total_ns));
	for (size_t q = 0; q < ARRAY_LEN(quantiles); q++) {
		uint64_t ns = wait_group_quantile(group, quantiles[q].part);

		table_add_cell(table, number_time(arena, ns), arena_printf(arena, "%" PRIu64, ns));
	}
	for (unsigned f = 0; f < nfields; f++)
		table_add_cell(table, group->fields[f], NULL);
}

void length_table_fill(const struct length_table *t, struct table *table)
{
	add_columns(t, table);
	for (size_t i = 0; i < groups_shown(t); i++)
		add_row(t, table, &t->lengths->groups.items[i]);
}

void length_table_histogram(const struct length_table *t, struct arena *arena)
{
	const uint64_t *buckets = t->lengths->all.buckets;
	unsigned first = WAIT_BUCKETS, last = 0;
	uint64_t most = 1;

	for (unsigned i = 0; i < WAIT_BUCKETS; i++) {
		if (!buckets[i])
			continue;
		first = MIN(first, i);
		last = i;
		most = MAX(most, buckets[i]);
	}
	printf("\n%10s  %10s\n", "from", t->noun);
	for (unsigned i = first; i <= last && first < WAIT_BUCKETS; i++) {
		unsigned len = (unsigned)((buckets[i] * BAR_LEN + most - 1) / most);

		printf("%10s  %10s  %.*s\n", number_time(arena, 1ull << i), number_count(arena, buckets[i]), (int)len,
		       "****************************************");
	}
}

static void print_json_group(const struct length_table *t, struct json *json, const struct wait_group *group)
{
	unsigned nfields;
	const struct view_field *fields = view_fields(t->by, &nfields);

	json_open(json, NULL, '{');
	for (unsigned f = 0; f < nfields && group->fields[f]; f++)
		json_string(json, fields[f].key, group->fields[f]);
	json_uint(json, t->noun, group->lengths_ns.len);
	if (t->errors)
		json_uint(json, "errors", group->errors);
	json_uint(json, "total_ns", group->total_ns);
	for (size_t q = 0; q < ARRAY_LEN(quantiles); q++)
		json_uint(json, quantiles[q].key, wait_group_quantile(group, quantiles[q].part));
	json_open(json, "histogram", '[');
	for (unsigned i = 0; i < WAIT_BUCKETS; i++) {
		if (!group->buckets[i])
			continue;
		json_open(json, NULL, '{');
		json_uint(json, "from_ns", i ? 1ull << i : 0);
		json_uint(json, t->noun, group->buckets[i]);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

void length_table_json(const struct length_table *t, struct json *json)
{
	json_open(json, NULL, '{');
	json_string(json, "by", view_by_name(t->by));
	json_uint(json, t->noun, t->lengths->all.lengths_ns.len);
	if (t->errors)
		json_uint(json, "errors", t->lengths->all.errors);
	json_uint(json, "total_ns", t->lengths->all.total_ns);
	json_open(json, "rows", '[');
	for (size_t i = 0; i < groups_shown(t); i++)
		print_json_group(t, json, &t->lengths->groups.items[i]);
	json_close(json, ']');
	json_close(json, '}');
}

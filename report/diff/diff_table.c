/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_table.c - a sign and a word say what colour says as well.
 */
#include "report/diff/diff_table.h"

#include "report/print/number.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct filler {
	struct table *table;
	const struct diff *diff;
	const struct diff_table_options *options;
	struct arena *arena;
};

static const char *event_unit(const struct diff *diff)
{
	const struct profile *p = diff->merge->profile;

	return profile_text(p, p->types.items[0].unit);
}

const char *diff_table_unit(struct arena *arena, const struct diff *diff)
{
	const struct profile *p = diff->merge->profile;
	const char *unit = strcmp(event_unit(diff), "ns") == 0
				   ? "CPU time"
				   : profile_text(p, p->types.items[0].name);

	if (diff->options.scale == DIFF_SHARE)
		return "points";
	return diff->options.scale == DIFF_TIME ? arena_printf(arena, "%s a second", unit) : unit;
}

const char *diff_table_change(struct arena *arena, const struct diff *diff, double change)
{
	const char *sign = change < 0 ? "-" : "+";

	if (diff->options.scale == DIFF_SHARE)
		return arena_printf(arena, "%s%.2f", sign, fabs(change) * 100);
	return arena_printf(arena, "%s%s", sign,
			    number_weight(arena, (uint64_t)(fabs(change) + 0.5), event_unit(diff)));
}

static const char *diff_table_verdict(const struct diff_row *row, uint32_t side)
{
	if (!row->changes[side].sure)
		return "";
	if (!row->sums[0].count)
		return "new";
	if (!row->sums[side].count)
		return "gone";
	return row->changes[side].change > 0 ? "grew" : "shrank";
}

static const char *value_text(const struct filler *f, const struct diff_row *row, uint32_t side)
{
	double value = diff_value(f->diff, row, side);

	if (!row->sums[side].count)
		return "-";
	if (f->diff->options.scale == DIFF_SHARE)
		return number_share(f->arena, fmin(value, 1));
	return number_weight(f->arena, (uint64_t)(value + 0.5), event_unit(f->diff));
}

/* ---- for people ---- */

static void add_number(struct filler *f, const char *title)
{
	table_add_column(f->table,
			 &(struct table_column){ title, NULL, TABLE_RIGHT, TABLE_KEEP, true });
}

static void add_field_columns(struct filler *f)
{
	unsigned nfields;
	const struct view_field *fields = view_fields(f->diff->options.by, &nfields);

	for (unsigned i = 0; i < nfields; i++)
		table_add_column(f->table,
				 &(struct table_column){ fields[i].title, fields[i].key,
							 fields[i].number ? TABLE_RIGHT : TABLE_LEFT,
							 fields[i].is_path ? TABLE_CUT_START
									   : TABLE_CUT_NAME,
							 fields[i].number });
}

static void add_text_columns(struct filler *f)
{
	add_number(f, f->options->labels[0]);
	for (uint32_t side = 1; side < f->diff->nsides; side++) {
		add_number(f, f->options->labels[side]);
		add_number(f, "change");
		if (f->diff->nsides == 2)
			add_number(f, "95 % range");
		table_add_column(f->table, &(struct table_column){ "", NULL, TABLE_LEFT, TABLE_KEEP,
								   false });
	}
	add_field_columns(f);
}

static void put_fields(struct filler *f, const struct diff_row *row)
{
	unsigned nfields;

	view_fields(f->diff->options.by, &nfields);
	for (unsigned i = 0; i < nfields; i++)
		table_add_cell(f->table, row->key->fields[i] ? row->key->fields[i] : "", NULL);
}

static enum table_tone tone_of(const struct diff_row *row)
{
	return row->sure ? TABLE_HOT : TABLE_PLAIN;
}

static void put_text_row(struct filler *f, const struct diff_row *row)
{
	table_add_row(f->table, 0, tone_of(row));
	table_add_cell(f->table, value_text(f, row, 0), NULL);
	for (uint32_t side = 1; side < f->diff->nsides; side++) {
		const struct diff_compared *c = &row->changes[side];

		table_add_cell(f->table, value_text(f, row, side), NULL);
		table_add_cell(f->table, diff_table_change(f->arena, f->diff, c->change), NULL);
		if (f->diff->nsides == 2)
			table_add_cell(f->table,
				       arena_printf(f->arena, "%s..%s",
						    diff_table_change(f->arena, f->diff, c->low),
						    diff_table_change(f->arena, f->diff, c->high)),
				       NULL);
		table_add_cell(f->table, diff_table_verdict(row, side), NULL);
	}
	put_fields(f, row);
}

size_t diff_table_text(struct table *table, const struct diff *diff,
		       const struct diff_table_options *options)
{
	struct filler f = { table, diff, options, table->arena };
	size_t shown = 0, left_out = 0;

	add_text_columns(&f);
	for (size_t i = 0; i < diff->rows.len; i++) {
		const struct diff_row *row = &diff->rows.items[i];

		if (!row->sure && !options->all)
			break;
		if (shown < options->limit) {
			put_text_row(&f, row);
			shown++;
		} else {
			left_out++;
		}
	}
	return left_out;
}

/* ---- for programs ---- */

static void add_data_columns(struct filler *f)
{
	static const char *const numbers[] = { "a",     "b",          "change",  "low",
					       "high",  "p",          "p_adjusted", "sure",
					       "samples_a", "samples_b", "weight_a", "weight_b",
					       "least",	"least_slower" };
	static const char *const texts[] = { "verdict", "file" };

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		table_add_column(f->table, &(struct table_column){ NULL, numbers[i], TABLE_RIGHT,
								   TABLE_KEEP, true });
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		table_add_column(f->table, &(struct table_column){ NULL, texts[i], TABLE_LEFT,
								   TABLE_KEEP, false });
	add_field_columns(f);
}

/* What is not known, or would never be found, is left empty. */
static void put_least(struct filler *f, const struct diff_row *row, uint32_t side)
{
	struct diff_least least = { INFINITY, INFINITY };

	if (row->changes[side].tested)
		least = diff_least_of_row(f->diff, row, side);
	for (int i = 0; i < 2; i++) {
		double value = i ? least.slower : least.change;

		table_add_cell(f->table, isfinite(value) ? arena_printf(f->arena, "%.4g", value) : "",
			       NULL);
	}
}

static void put_data_row(struct filler *f, const struct diff_row *row, uint32_t side)
{
	const struct diff_compared *c = &row->changes[side];

	table_add_row(f->table, 0, TABLE_PLAIN);
	table_add_format(f->table, "%.9g", diff_value(f->diff, row, 0));
	table_add_format(f->table, "%.9g", diff_value(f->diff, row, side));
	table_add_format(f->table, "%.9g", c->change);
	table_add_format(f->table, "%.9g", c->low);
	table_add_format(f->table, "%.9g", c->high);
	table_add_format(f->table, "%.3g", c->p);
	table_add_format(f->table, "%.3g", c->adjusted);
	table_add_cell(f->table, c->sure ? "true" : "false", NULL);
	table_add_format(f->table, "%" PRId64, row->sums[0].count);
	table_add_format(f->table, "%" PRId64, row->sums[side].count);
	table_add_format(f->table, "%" PRId64, row->sums[0].weight);
	table_add_format(f->table, "%" PRId64, row->sums[side].weight);
	put_least(f, row, side);
	table_add_cell(f->table, diff_table_verdict(row, side), NULL);
	table_add_cell(f->table, f->options->files[side], NULL);
	put_fields(f, row);
}

void diff_table_data(struct table *table, const struct diff *diff,
		     const struct diff_table_options *options)
{
	struct filler f = { table, diff, options, table->arena };

	add_data_columns(&f);
	for (size_t i = 0; i < diff->rows.len; i++)
		for (uint32_t side = 1; side < diff->nsides; side++)
			put_data_row(&f, &diff->rows.items[i], side);
}

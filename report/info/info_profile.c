/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info_profile.c - what a profile of another tool holds. What it lacks is named, never shown as 0.
 */
#include "report/info/info.h"

#include "report/info/facts_text.h"
#include "report/print/number.h"
#include "report/view/view_needs.h"

#include <inttypes.h>
#include <stdlib.h>

static void put_origin(struct fact_sheet *sheet, const struct profile_facts *facts)
{
	struct arena *arena = sheet->arena;

	fact_sheet_put(sheet, "Format", "format", facts->tool, NULL);
	fact_sheet_put(sheet, "Command", "cmdline", facts->cmdline, NULL);
	fact_sheet_put(sheet, "Comment", "comment", facts->comment, NULL);
	fact_sheet_put(sheet, "Host", "hostname", facts->hostname, NULL);
	fact_sheet_put(sheet, "System", "os_release", facts->os_release, NULL);
	fact_sheet_put(sheet, "Processor", "cpu_model", facts->cpu_model, NULL);
	fact_sheet_put(sheet, "Began", "began",
		       facts_text_began(facts, "%Y-%m-%d %H:%M:%S UTC", arena), NULL);
	if (facts->has_duration)
		fact_sheet_put(sheet, "Lasted", "duration_ns", number_time(arena, facts->duration_ns),
			       arena_printf(arena, "%" PRIu64, facts->duration_ns));
	fact_sheet_put(sheet, "Filter", "filter", facts->filter, NULL);
}

static uint64_t distinct_threads(const struct profile *p)
{
	bool *seen = memory_zeroed(p->threads.len + 1, sizeof(*seen));
	uint64_t count = 0;

	for (size_t i = 0; i < p->samples.len; i++) {
		bool *mark = &seen[p->samples.items[i].thread];

		count += !*mark;
		*mark = true;
	}
	free(seen);
	return count;
}

static uint64_t distinct_stacks(const struct profile *p)
{
	bool *seen = memory_zeroed(p->stacks.len + 1, sizeof(*seen));
	uint64_t count = 0;

	for (size_t i = 0; i < p->samples.len; i++) {
		bool *mark = &seen[p->samples.items[i].stack];

		count += !*mark;
		*mark = true;
	}
	free(seen);
	return count;
}

static void put_contents(struct fact_sheet *sheet, const struct profile *p)
{
	fact_sheet_put_number(sheet, "Stacks", "stacks", distinct_stacks(p));
	fact_sheet_put_number(sheet, "Functions", "functions", p->functions.len);
	if (view_needs_are_met(p, VIEW_THREAD))
		fact_sheet_put_number(sheet, "Threads", "threads", distinct_threads(p));
	if (p->times.len)
		fact_sheet_put_number(sheet, "With times", "with_times", p->times.len);
}

static void put_missing(struct fact_sheet *sheet, const struct profile *p, const struct profile_facts *facts)
{
	const struct {
		bool there;
		const char *what;
	} parts[] = {
		{ p->times.len, "times" },
		{ view_needs_are_met(p, VIEW_PROCESS), "processes" },
		{ view_needs_are_met(p, VIEW_THREAD), "threads" },
		{ view_needs_are_met(p, VIEW_CPU), "CPUs" },
		{ view_needs_are_met(p, VIEW_LINE), "source lines" },
		{ view_needs_are_met(p, VIEW_ADDRESS), "addresses" },
		{ view_needs_are_met(p, VIEW_MODULE), "modules" },
		{ view_needs_are_met(p, VIEW_STATE), "states of threads" },
		{ p->label_sets.len > 1, "labels" },
		{ !facts->sums_only, "lost samples" },
	};
	const char *text = "";

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (!parts[i].there)
			text = arena_printf(sheet->arena, "%s%s%s", text, *text ? ", " : "", parts[i].what);
	fact_sheet_put(sheet, "Not in it", "missing", text, NULL);
}

/* What is counted, with its sum. */
static void put_types(struct fact_sheet *sheet, const struct profile *p)
{
	static const struct table_column columns[] = {
		{ .title = "Value", .key = "value", .fit = TABLE_CUT_END },
		{ .title = "Unit", .key = "unit" },
		{ .title = "Samples", .key = "samples", .align = TABLE_RIGHT, .number = true },
		{ .title = "Sum", .key = "sum", .align = TABLE_RIGHT, .number = true },
	};
	struct table table;

	table_init(&table, sheet->arena);
	table_add_columns(&table, columns, ARRAY_LEN(columns));
	for (uint32_t i = 0; i < p->types.len; i++) {
		const struct profile_value_type *type = &p->types.items[i];
		struct profile_sum sum = profile_total(p, i);
		const char *unit = profile_text(p, type->unit);

		table_add_row(&table, 0, TABLE_PLAIN);
		table_add_cell(&table, profile_text(p, type->name), NULL);
		table_add_cell(&table, unit, NULL);
		table_add_cell(&table, number_samples(sheet->arena, &sum), number_samples_data(sheet->arena, &sum));
		table_add_cell(&table, number_weight(sheet->arena, sum.weight, unit),
			       arena_printf(sheet->arena, "%" PRId64, sum.weight));
	}
	fact_sheet_put_table(sheet, &table, "What is counted", "values");
}

void info_print_profile(const struct profile *p, const struct profile_facts *facts, enum table_format format,
			FILE *out)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct fact_sheet sheet;

	fact_sheet_open(&sheet, &arena, format, out);
	put_origin(&sheet, facts);
	put_contents(&sheet, p);
	put_missing(&sheet, p, facts);
	put_types(&sheet, p);
	fact_sheet_close(&sheet);
}

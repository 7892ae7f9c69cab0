/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing_printer.c - CSV and JSON, a row an instruction and event, and the words that text and pages share.
 */
#include "report/code/listing_printer.h"

#include "report/code/listing_text.h"
#include "report/print/number.h"
#include "report/code/source_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct listing_printer {
	const struct annotate *a;
	const struct listing_options *options;
	FILE *out;
	struct arena arena;
	struct json json;
	struct source_text sources;
	bool begun;
};

struct listing_printer *listing_printer_new(const struct annotate *a,
					    const struct listing_options *options, FILE *out)
{
	struct listing_printer *printer = memory_zeroed(1, sizeof(*printer));

	printer->a = a;
	printer->options = options;
	printer->out = out;
	if (options->format == TABLE_JSON) {
		json_init(&printer->json, out);
		printer->json.lines = true;
		json_open(&printer->json, NULL, '[');
	}
	return printer;
}

void listing_printer_finish(struct listing_printer *printer)
{
	if (printer->options->format == TABLE_JSON)
		json_close(&printer->json, ']');
	source_text_deinit(&printer->sources);
	arena_deinit(&printer->arena);
	free(printer);
}

/* ---- CSV and JSON ---------------------------------------------------------------------------------- */

static const struct table_column columns[] = {
	{ .key = "function" },
	{ .key = "module" },
	{ .key = "address" },
	{ .key = "instruction" },
	{ .key = "event" },
	{ .key = "samples", .number = true },
	{ .key = "weight", .number = true },
	{ .key = "share", .number = true },
	{ .key = "low", .number = true },
	{ .key = "high", .number = true },
	{ .key = "file" },
	{ .key = "line", .number = true },
	{ .key = "inlined" },
	{ .key = "target" },
	{ .key = "callee" },
	{ .key = "block", .number = true },
	{ .key = "block_share", .number = true },
	{ .key = "loop", .number = true },
	{ .key = "loop_depth", .number = true },
	{ .key = "loop_share", .number = true },
};

static void add_sum_cells(struct table *table, const struct profile_sum *sum,
			  const struct profile_sum *whole)
{
	static const struct profile_sum none;
	struct stats_share share = stats_share(sum ? sum : &none, whole);

	table_add_format(table, "%" PRIu64, sum ? sum->count : 0);
	table_add_format(table, "%" PRId64, sum ? sum->weight : 0);
	table_add_format(table, "%.6f", share.share);
	table_add_format(table, "%.6f", share.low);
	table_add_format(table, "%.6f", share.high);
}

/* The inlined functions at @line, outermost first: "a > b". */
static const char *inlined_text(struct arena *arena, const struct annotate_line *line)
{
	const char *text = "";

	for (size_t i = line->nframes; i-- > 1;)
		text = arena_printf(arena, "%s%s%s", text, *text ? " > " : "",
				    line->frames[i - 1].function ? line->frames[i - 1].function : "?");
	return text;
}

/* Blocks and loops are numbered from 1; loop 0 is none. */
static void add_flow_cells(const struct listing_printer *printer, struct table *table,
			   const struct annotate_listing *listing, size_t i, size_t column)
{
	size_t nevents = printer->a->events.len;
	uint32_t block = listing->flow->block_of[i], loop = listing->flow->blocks[block].loop;
	bool in_loop = loop != FLOW_NONE;
	const struct profile_sum none = { 0 };
	const struct profile_sum *whole =
		listing_whole(printer->a, listing, column, printer->options->global);
	const struct profile_sum *of_block = &listing->block_sums[block * nevents + column];
	const struct profile_sum *of_loop =
		in_loop ? &listing->loop_sums[loop * nevents + column] : &none;

	table_add_format(table, "%" PRIu32, block + 1);
	table_add_format(table, "%.6f", stats_share(of_block, whole).share);
	table_add_format(table, "%" PRIu32, in_loop ? loop + 1 : 0);
	table_add_format(table, "%" PRIu32, in_loop ? listing->flow->loops[loop].depth : 0);
	table_add_format(table, "%.6f", stats_share(of_loop, whole).share);
}

static bool has_branches(const struct listing_printer *printer)
{
	return printer->a->branches && printer->a->branches->rows.len;
}

static void add_branch_columns(const struct listing_printer *printer, struct table *table)
{
	static const char *const keys[] = {
		"taken",  "mispredicted", "mispredicted_low", "mispredicted_high",
		"mispredicted_branches", "cycles", "cycles_low", "cycles_high", "cycles_branches",
		"entered",
	};

	for (size_t i = 0; has_branches(printer) && i < ARRAY_LEN(keys); i++)
		table_add_column(table,
				 &(struct table_column){ .key = keys[i], .number = true });
}

/* Three figures, empty where nothing is known, and how many branches they are of. */
static void add_known_cells(struct table *table, const double figures[3], double count)
{
	for (size_t i = 0; i < 3; i++)
		table_add_cell(table,
			       count > 0 ? arena_printf(table->arena, "%.6f", figures[i]) : "",
			       NULL);
	table_add_format(table, "%.0f", count);
}

static void add_branch_cells(const struct listing_printer *printer, struct table *table,
			     const struct annotate_listing *listing, size_t line)
{
	if (!has_branches(printer))
		return;

	const struct annotate_branch *branch = &listing->branches[line];
	struct stats_share missed = stats_ratio_share(&branch->missed);
	struct stats_mean cycles = stats_ratio_mean(&branch->cycles);

	table_add_format(table, "%.0f", branch->taken);
	add_known_cells(table, (const double[]){ missed.share, missed.low, missed.high },
			branch->missed.whole);
	add_known_cells(table, (const double[]){ cycles.mean, cycles.low, cycles.high },
			branch->cycles.whole);
	table_add_format(table, "%.0f", branch->entered);
}

static const char *const metric_parts[] = { "", "_low", "_high", "_samples" };

static void add_metric_columns(const struct listing_printer *printer, struct table *table)
{
	for (size_t i = 0; i < listing_nmetrics(printer->options); i++) {
		const char *name = printer->options->metrics->items.items[i].name;

		for (size_t k = 0; k < ARRAY_LEN(metric_parts); k++) {
			struct table_column column = {
				.key = arena_printf(table->arena, "metric_%s%s", name, metric_parts[k]),
				.number = true,
			};

			table_add_column(table, &column);
		}
	}
}

static void add_metric_cells(const struct listing_printer *printer, struct table *table,
			     const struct annotate_listing *listing, size_t line)
{
	for (size_t i = 0; i < listing_nmetrics(printer->options); i++) {
		struct measure_value v = listing_metric(printer->options, listing, line, i);
		double parts[] = { v.value, v.low, v.high };

		for (size_t k = 0; k < ARRAY_LEN(parts); k++) {
			if (v.known)
				table_add_format(table, "%.6f", parts[k]);
			else
				table_add_cell(table, "", NULL);
		}
		table_add_format(table, "%" PRIu64, v.n);
	}
}

static void add_row(struct listing_printer *printer, struct table *table,
		    struct annotate_listing *listing, size_t i, size_t column)
{
	const struct profile *p = printer->a->s->profile;
	const struct annotate_function *function = listing->function;
	struct annotate_line *line = &listing->lines.items[i];
	const struct disasm_insn *insn = &line->insn;
	const char *file;

	annotate_name(printer->a, listing, line);
	file = annotate_file(line);
	table_add_row(table, 0, TABLE_PLAIN);
	table_add_cell(table, function->name, NULL);
	table_add_cell(table, profile_text(p, profile_module(p, function->module)->path), NULL);
	table_add_format(table, "0x%" PRIx64, insn->vaddr);
	table_add_format(table, "%s%s%s", insn->mnemonic, *insn->operands ? " " : "",
			 insn->operands);
	table_add_cell(table, printer->a->events.items[column].name, NULL);
	add_sum_cells(table, line->sums ? &line->sums[column] : NULL,
		      listing_whole(printer->a, listing, column, printer->options->global));
	table_add_cell(table, file ? file : "", NULL);
	table_add_format(table, "%" PRIu32, annotate_line_number(line));
	table_add_cell(table, inlined_text(table->arena, line), NULL);
	table_add_cell(table,
		       insn->target ? arena_printf(table->arena, "0x%" PRIx64, insn->target) : "",
		       NULL);
	table_add_cell(table, line->callee ? line->callee : "", NULL);
	add_flow_cells(printer, table, listing, i, column);
	add_branch_cells(printer, table, listing, i);
	add_metric_cells(printer, table, listing, i);
}

static void print_json(struct listing_printer *printer, const struct annotate_listing *listing,
		       const struct table *table)
{
	const struct annotate *a = printer->a;
	struct json *json = &printer->json;

	json_open(json, NULL, '{');
	json_string(json, "function", listing->function->name);
	if (listing->origin)
		json_string(json, "code", listing->origin);
	json_uint(json, "samples", listing->function->sums[0].count);
	json_uint(json, "all_samples", a->events.items[0].total.count);
	json_open(json, "events", '[');
	for (size_t e = 0; e < a->events.len; e++) {
		const char *skid = annotate_skid(a, &a->events.items[e]);

		json_open(json, NULL, '{');
		json_string(json, "event", a->events.items[e].name);
		json_uint(json, "samples", listing->function->sums[e].count);
		json_uint(json, "all_samples", a->events.items[e].total.count);
		if (skid)
			json_string(json, "skid", skid);
		json_close(json, '}');
	}
	json_close(json, ']');
	table_print_json(table, "instructions", json);
	json_close(json, '}');
}

static void print_table(struct listing_printer *printer, struct annotate_listing *listing)
{
	struct table table;

	table_init(&table, &printer->arena);
	table_add_columns(&table, columns, ARRAY_LEN(columns));
	add_branch_columns(printer, &table);
	add_metric_columns(printer, &table);
	for (size_t i = 0; i < listing->lines.len; i++)
		for (size_t e = 0; e < printer->a->events.len; e++)
			add_row(printer, &table, listing, i, e);
	if (printer->options->format == TABLE_CSV)
		table_print_csv(&table, printer->out, /* with_header= */ !printer->begun);
	else
		print_json(printer, listing, &table);
	table_deinit(&table);
	arena_reset(&printer->arena);
}

void listing_print(struct listing_printer *printer, struct annotate_listing *listing)
{
	if (printer->options->format != TABLE_TEXT) {
		print_table(printer, listing);
	} else {
		if (printer->begun)
			fputc('\n', printer->out);
		listing_text_print(printer->a, listing, printer->options, &printer->sources,
				   printer->out);
	}
	printer->begun = true;
}

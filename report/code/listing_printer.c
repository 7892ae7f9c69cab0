/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing_printer.c - CSV and JSON, a row an instruction and event, and the words that text and pages share.
 */
#include "report/code/listing_printer.h"

#include "formats/base/path.h"
#include "formats/base/text.h"
#include "report/code/listing.h"
#include "report/code/listing_rows.h"
#include "report/code/source_text.h"
#include "report/print/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- one annotated function for a terminal; for listing_printer.c alone ---- */

/*
 * a line an instruction, under the source line that it comes from:
 *
 *	   share  95 % range   block          address
 *	                                                parse.c:17  while (*p != ';')
 *	                                                loop from 1a2b to 1a2e: 90.4 %
 *	  45.2 %  42.1-48.3   90.4 %  ╭>  1a2b    movq (%rax), %rdx
 *	  45.2 %  42.1-48.3           ╰─  1a2e    jne 0x1a2b
 *
 * Loops are indented. "block" is the share of the basic block that begins there. Several events stand side by side, with their
 * ranges if there is room. On a terminal, lines end at its edge.
 */

#define CODE_LEAST    60  /* columns that code should have before ranges are shown */
#define NARROW        110 /* columns: fewer lanes */
#define LANES_NARROW  3
#define BESIDE_COLUMN 44 /* of the code: where source beside it begins */
#define ADDRESS_LEAST 7  /* digits: as wide as the title */
#define METRIC_WIDTH  23 /* of a value and its range */
#define BRANCH_WIDTH  25 /* of what is known of branches */
#define HOT           0.05
#define SUMMARY_LOOPS 3

struct printer {
	const struct annotate *a;
	struct annotate_listing *listing;
	const struct listing_options *options;
	struct source_text *sources;
	struct listing_rows rows;
	struct arena arena;
	FILE *out;
	FILE *line; /* memory; ends at each line feed */
	char *text;
	size_t text_len;
	const struct annotate_line *beside; /* the last one with source beside it */
	bool ranges;
	int address_width;
};

/* ---- lines ----------------------------------------------------------------------------------------- */

/* Print what was gathered in p->line, as far as the terminal is wide. */
static void end_line(struct printer *p, bool hot)
{
	unsigned columns = p->options->term.columns, width = 0;
	size_t len = 0;

	fputc(0, p->line);
	fflush(p->line);
	while (p->text[len]) {
		size_t bytes = MAX(text_char_len(p->text + len), 1);
		char one[8] = { 0 };

		memcpy(one, p->text + len, MIN(bytes, sizeof(one) - 1));
		width += (unsigned)text_width(one);
		if (columns && width > columns)
			break;
		len += bytes;
	}
	while (len && p->text[len - 1] == ' ')
		len--;
	hot &= p->options->term.colour;
	fprintf(p->out, "%s%.*s%s\n", hot ? "\033[1m" : "", (int)len, p->text, hot ? "\033[0m" : "");
	rewind(p->line);
}

static size_t shares_width(const struct printer *p)
{
	return p->a->events.len * (p->ranges ? 19 : 8) +
	       listing_nmetrics(p->options) * METRIC_WIDTH +
	       (p->listing->branches ? BRANCH_WIDTH : 0);
}

static const char *share_text(struct printer *p, const struct profile_sum *sum, size_t column)
{
	const struct profile_sum *whole =
		listing_whole(p->a, p->listing, column, p->options->global);

	return number_share(&p->arena, stats_share(sum, whole).share);
}

static void put_shares(struct printer *p, const struct profile_sum *sums)
{
	for (size_t e = 0; e < p->a->events.len; e++) {
		const struct profile_sum *whole =
			listing_whole(p->a, p->listing, e, p->options->global);

		if (!sums || !sums[e].count) {
			fprintf(p->line, "%*s", p->ranges ? 19 : 8, "");
			continue;
		}
		struct stats_share share = stats_share(&sums[e], whole);

		fprintf(p->line, "%7s ", number_share(&p->arena, share.share));
		if (p->ranges)
			fprintf(p->line, " %-9s ", number_interval(&p->arena, &share));
	}
}

static void put_metrics(struct printer *p, size_t line)
{
	for (size_t i = 0; i < listing_nmetrics(p->options); i++) {
		const struct metric *metric = &p->options->metrics->items.items[i];
		struct measure_value v = listing_metric(p->options, p->listing, line, i);

		fprintf(p->line, "%8s  %-12s ",
			v.n ? metrics_text(metric, &v, &p->arena) : "",
			metrics_range(metric, &v, &p->arena));
	}
}

/* How often the branch at @line was taken, what part was mispredicted, the cycles of the code up to it. */
static void put_branch(struct printer *p, size_t line)
{
	struct listing_branch_text text;

	if (!p->listing->branches)
		return;
	text = listing_branch_text(&p->arena, &p->listing->branches[line]);
	fprintf(p->line, "%8s %7s %7s ", text.taken, text.missed, text.cycles);
}

/* ", ipc 0.87 (0.72-1.01)", of each metric in @loop. */
static void put_loop_metrics(struct printer *p, uint32_t loop)
{
	for (size_t i = 0; i < listing_nmetrics(p->options); i++) {
		const struct metric *metric = &p->options->metrics->items.items[i];
		struct measure_value v = listing_loop_metric(p->options, p->listing, loop, i);

		if (v.known)
			fprintf(p->line, ", %s %s (%s)", metric->name,
				metrics_text(metric, &v, &p->arena),
				metrics_range(metric, &v, &p->arena));
	}
}

/* The share of the block that begins with instruction @i, of the first event. */
static void put_block(struct printer *p, const struct listing_row *row)
{
	uint32_t block = p->listing->flow->block_of[row->line];
	const struct profile_sum *sum = &p->listing->block_sums[block * p->a->events.len];
	bool begins = p->listing->flow->blocks[block].first == row->line &&
		      p->listing->flow->blocks[block].count > 1;

	fprintf(p->line, "%7s ", begins && sum->count ? share_text(p, sum, 0) : "");
}

/* The columns left of the code, without shares for rows that have none of their own. */
static void put_margin(struct printer *p, size_t i)
{
	const struct listing_row *row = &p->rows.rows.items[i];
	char arrows[32];

	listing_rows_arrows(&p->rows, i, p->options->term.utf8, arrows);
	if (row->kind == LISTING_INSN) {
		put_shares(p, row->sums);
		put_branch(p, row->line);
		put_metrics(p, row->line);
		put_block(p, row);
		fprintf(p->line, "%s %*" PRIx64 "  ", arrows, p->address_width,
			p->listing->lines.items[row->line].insn.vaddr);
	} else {
		fprintf(p->line, "%*s%s %*s  ", (int)shares_width(p) + 8, "", arrows,
			p->address_width, "");
	}
	fprintf(p->line, "%*s", (int)row->indent * 2, "");
}

/* ---- rows ------------------------------------------------------------------------------------------ */

static void put_source(struct printer *p, const struct annotate_line *line, bool indented)
{
	const char *file = annotate_file(line);

	if (!file)
		return;
	const char *text = source_text_line(p->sources, file, annotate_line_number(line));

	text_put_escaped(p->line, path_last_part(file));
	fprintf(p->line, ":%" PRIu32 "%s", annotate_line_number(line), *text ? "  " : "");
	text_put_escaped(p->line, indented ? text : text + strspn(text, " "));
}

/* A jump whose arrow is not drawn still says where it goes. */
static bool has_arrow(const struct printer *p, size_t row)
{
	for (unsigned lane = 0; lane < p->rows.lanes; lane++)
		if ((p->rows.arrows[row * p->rows.lanes + lane] & LISTING_ARROW_END))
			return true;
	return false;
}

static void put_insn(struct printer *p, size_t i)
{
	const struct listing_row *row = &p->rows.rows.items[i];
	const struct annotate_line *line = &p->listing->lines.items[row->line];
	const struct disasm_insn *insn = &line->insn;
	uint32_t target = flow_jump(p->listing->insns, (uint32_t)p->listing->lines.len, row->line);
	long begin = ftell(p->line);

	for (uint8_t k = 0; p->options->bytes && k < insn->len; k++)
		fprintf(p->line, "%02x ", line->code[k]);
	if (p->options->bytes)
		fprintf(p->line, "%*s", MAX(0, 3 * (8 - insn->len)), "");
	fprintf(p->line, "%s%s%s", insn->mnemonic, *insn->operands ? " " : "", insn->operands);
	if (target != FLOW_NONE && !has_arrow(p, i))
		fputs(target <= row->line ? "  ^" : "  v", p->line);
	if (line->callee) {
		fputs("  <", p->line);
		text_put_escaped(p->line, line->callee);
		fputc('>', p->line);
	}
	if (p->options->source == LISTING_SOURCE_BESIDE && annotate_file(line) &&
	    !annotate_same_source(p->beside, line)) {
		long used = ftell(p->line) - begin + (long)row->indent * 2;

		fprintf(p->line, "%*s  ", (int)MAX(0, BESIDE_COLUMN - used), "");
		put_source(p, line, /* indented= */ false);
		p->beside = line;
	}
}

/* ": 12.3 % | 4.5 %", nothing if there are no samples. */
static void put_sums_in_words(struct printer *p, const struct profile_sum *sums)
{
	uint64_t count = 0;

	for (size_t e = 0; e < p->a->events.len; e++)
		count += sums[e].count;
	for (size_t e = 0; count && e < p->a->events.len; e++)
		fprintf(p->line, "%s%s", e ? " | " : ": ", share_text(p, &sums[e], e));
}

static void print_row(struct printer *p, size_t i)
{
	const struct listing_row *row = &p->rows.rows.items[i];
	const struct annotate_line *line = &p->listing->lines.items[row->line];
	bool hot = false;

	put_margin(p, i);
	switch (row->kind) {
	case LISTING_INSN:
		put_insn(p, i);
		hot = row->sums && stats_share(row->sums, listing_whole(p->a, p->listing, 0,
									p->options->global))
						   .low > HOT;
		break;
	case LISTING_SOURCE:
		put_source(p, line, /* indented= */ true);
		break;
	case LISTING_INLINE:
		fputs("inlined ", p->line);
		text_put_escaped(p->line, listing_call_text(&p->arena, line, row->frame));
		put_sums_in_words(p, row->sums);
		break;
	case LISTING_LOOP:
		fputs(listing_loop_text(&p->arena, p->listing, row->loop), p->line);
		put_sums_in_words(p, row->sums);
		put_loop_metrics(p, row->loop);
		break;
	case LISTING_FOLD:
		fprintf(p->line, "... %" PRIu32 " instructions without samples", row->count);
		break;
	}
	end_line(p, hot);
}

/* ---- head and foot --------------------------------------------------------------------------------- */

static void print_wrapped(struct printer *p, const char *text)
{
	unsigned columns = p->options->term.columns;

	if (columns)
		text_put_wrapped(p->out, text, 0, columns);
	else
		fprintf(p->out, "%s\n", text);
}

static void print_event(struct printer *p, size_t e)
{
	const struct annotate_event *event = &p->a->events.items[e];
	const struct profile_sum *sum = &p->listing->function->sums[e];
	struct stats_share share = stats_share(sum, &event->total);
	struct arena *arena = &p->arena;

	print_wrapped(p, text_escape(arena, arena_printf(arena, "%s (%s) of all %s of %s, here %s",
							  number_share(arena, share.share),
							  number_interval(arena, &share),
							  number_of(arena, event->total.count, "sample"),
							  event->name,
							  number_of(arena, sum->count, "sample"))));
}

/* What is true of several events is printed once. */
static void print_skids(struct printer *p)
{
	for (size_t e = 0; e < p->a->events.len; e++) {
		const char *skid = annotate_skid(p->a, &p->a->events.items[e]);
		const char *names = "";
		bool said = false;

		for (size_t k = 0; skid && k < p->a->events.len; k++) {
			const char *other = annotate_skid(p->a, &p->a->events.items[k]);

			if (!other || strcmp(other, skid) != 0)
				continue;
			said |= k < e;
			names = arena_printf(&p->arena, "%s%s%s", names, *names ? ", " : "",
					     p->a->events.items[k].name);
		}
		if (skid && !said)
			print_wrapped(p, text_escape(&p->arena,
						     arena_printf(&p->arena, "%s: %s", names, skid)));
	}
}

/* Of the whole function, and how they were counted. */
static void print_metrics(struct printer *p)
{
	const char *note;

	for (size_t i = 0; i < listing_nmetrics(p->options); i++) {
		const struct metric *metric = &p->options->metrics->items.items[i];
		struct measure_value v = listing_function_metric(p->options, p->listing, i);

		fprintf(p->line, "%s %s (%s)", text_escape(&p->arena, metric->name),
			metrics_text(metric, &v, &p->arena),
			metrics_range(metric, &v, &p->arena));
		end_line(p, false);
	}
	for (unsigned i = 0; listing_nmetrics(p->options) &&
			     (note = metrics_note(p->options->metrics, i, &p->arena)) != NULL;
	     i++)
		print_wrapped(p, note);
}

static int heavier_loop(const void *a, const void *b, void *context)
{
	const struct printer *p = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int64_t xw = p->listing->loop_sums[x * p->a->events.len].weight;
	int64_t yw = p->listing->loop_sums[y * p->a->events.len].weight;

	if (xw != yw)
		return xw > yw ? -1 : 1;
	return COMPARE(x, y);
}

/* Where to look first, for a function of many screens. */
static void print_hot_loops(struct printer *p)
{
	uint32_t nloops = p->listing->flow->nloops;
	uint32_t *order = ARENA_ARRAY(&p->arena, uint32_t, nloops);

	for (uint32_t i = 0; i < nloops; i++)
		order[i] = i;
	if (nloops)
		qsort_r(order, nloops, sizeof(*order), heavier_loop, p);
	for (uint32_t i = 0; i < MIN(nloops, SUMMARY_LOOPS); i++) {
		const struct profile_sum *sum =
			&p->listing->loop_sums[order[i] * p->a->events.len];
		struct stats_share share =
			stats_share(sum, listing_whole(p->a, p->listing, 0, p->options->global));

		if (!sum->count)
			break;
		fprintf(p->line, "%s (%s) in the %s", number_share(&p->arena, share.share),
			number_interval(&p->arena, &share),
			listing_loop_text(&p->arena, p->listing, order[i]));
		end_line(p, false);
	}
}

static void print_titles(struct printer *p)
{
	fputc('\n', p->out);
	if (p->a->events.len > 1) {
		for (size_t e = 0; e < p->a->events.len; e++) {
			int width = p->ranges ? 19 : 8;
			const char *name = text_escape(&p->arena, p->a->events.items[e].name);

			fprintf(p->line, "%*.*s ", width - 1, width - 1, name);
		}
		end_line(p, false);
	}
	for (size_t e = 0; e < p->a->events.len; e++)
		fputs(p->ranges ? "  share  95 % range " : "  share ", p->line);
	if (p->listing->branches)
		fprintf(p->line, "%8s %7s %7s ", "taken", "missed", "cycles");
	for (size_t i = 0; i < listing_nmetrics(p->options); i++)
		fprintf(p->line, "%*.*s ", METRIC_WIDTH - 1, METRIC_WIDTH - 1,
			text_escape(&p->arena, p->options->metrics->items.items[i].name));
	fprintf(p->line, "%7s %*s %*s", "block", (int)p->rows.lanes + 1, "",
		p->address_width, "address");
	end_line(p, true);
}

static void print_head(struct printer *p)
{
	const struct profile *profile = p->a->s->profile;
	const struct annotate_function *function = p->listing->function;
	const char *module = profile_text(profile, profile_module(profile, function->module)->path);

	fprintf(p->line, "%s in %s", text_escape(&p->arena, function->name),
		text_escape(&p->arena, module));
	end_line(p, true);
	if (p->listing->origin)
		print_wrapped(p, text_escape(&p->arena, p->listing->origin));
	for (size_t e = 0; e < p->a->events.len; e++)
		print_event(p, e);
	print_skids(p);
	print_metrics(p);
	if (p->listing->branches) {
		fputs(listing_branches_text(&p->arena, p->a, p->listing), p->line);
		end_line(p, false);
	}
	fprintf(p->line, "shares below are of %s, with 95 %% intervals%s",
		p->options->global ? "all" : "these",
		p->ranges ? "" : " where there is room for them");
	end_line(p, false);
	print_hot_loops(p);
	print_titles(p);
}

static bool fits_ranges(const struct annotate *a, unsigned columns)
{
	return a->events.len == 1 || !columns || columns >= a->events.len * 19 + CODE_LEAST;
}

/* @arena and @sources may serve several functions. */
static void listing_text_print(const struct annotate *a, struct annotate_listing *listing,
			const struct listing_options *options, struct source_text *sources, FILE *out)
{
	unsigned columns = options->term.columns;
	struct listing_rows_options how = {
		.all = options->all,
		.source = options->source == LISTING_SOURCE_BETWEEN,
		.lanes = columns && columns < NARROW ? LANES_NARROW : LISTING_LANES_MAX,
	};
	struct printer p = { .a = a, .listing = listing, .options = options, .sources = sources,
			     .out = out, .ranges = fits_ranges(a, columns) };

	p.line = open_memstream(&p.text, &p.text_len);
	if (!p.line)
		memory_exhausted(BUFSIZ);
	p.address_width = MAX(ADDRESS_LEAST, snprintf(NULL, 0, "%" PRIx64,
						      listing->function->vaddr - listing->level + listing->code_len));
	listing_rows_init(&p.rows, a, listing, &how);
	print_head(&p);
	for (size_t i = 0; i < p.rows.rows.len; i++)
		print_row(&p, i);
	fputs(listing_missing_text(&p.arena, a, listing), out);
	listing_rows_deinit(&p.rows);
	arena_deinit(&p.arena);
	fclose(p.line);
	free(p.text);
}

/* ---- all functions ---- */

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

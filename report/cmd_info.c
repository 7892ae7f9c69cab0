/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_info.c - what is in the file and how far it can be trusted: header, counts, where stacks broke and why,
 * modules with what each gave, losses over time, and where the bytes went.
 */
#include "formats/perf/perf_data.h"
#include "formats/perf/trace_dat.h"
#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_sizes.h"
#include "report/commands.h"
#include "report/load/session.h"
#include "report/info/info.h"
#include "report/print/number.h"
#include "report/print/table.h"
#include "report/print/terminal.h"

#include <inttypes.h>

/* ---- where the bytes of a trace file went; all of them ---- */

/* What the parts of a trace are called, and what a sample took of each. */

static const struct {
	const char *group, *part;
} size_names[TRACE_PARTS] = {
	[TRACE_PART_HEADER] = { "framing", "header" },
	[TRACE_PART_HEADS] = { "samples", "kind, CPU, thread" },
	[TRACE_PART_TIMES] = { "samples", "times" },
	[TRACE_PART_SAMPLES] = { "samples", "addresses, periods, chains" },
	[TRACE_PART_EXTRAS] = { "samples", "extras" },
	[TRACE_PART_REGS] = { "registers", "registers" },
	[TRACE_PART_STACK_SHAPES] = { "stacks", "shapes" },
	[TRACE_PART_STACK_POINTERS] = { "stacks", "pointers into the stack" },
	[TRACE_PART_STACK_NUMBERS] = { "stacks", "code addresses seen before" },
	[TRACE_PART_FRESH] = { "stacks", "new code addresses" },
	[TRACE_PART_SIDE_BAND] = { "side-band", "mappings, names, forks, exits" },
	[TRACE_PART_IMAGES] = { "modules", "unwind tables, symbols, code" },
	[TRACE_PART_KERNEL_CODE] = { "modules", "kernel code" },
	[TRACE_PART_LINES] = { "modules", "lines and inlined calls" },
	[TRACE_PART_KSYMS] = { "symbols", "kernel symbols" },
	[TRACE_PART_JIT_MAPS] = { "symbols", "JIT maps" },
	[TRACE_PART_END] = { "framing", "counts and notes" },
	[TRACE_PART_INDEX] = { "framing", "index" },
	[TRACE_PART_FRAMING] = { "framing", "heads of blocks and columns" },
	[TRACE_PART_OTHER] = { "other", "of a newer version" },
	[TRACE_PART_UNREADABLE] = { "other", "damaged" },
};

/* How many samples are in the file, by its own counts; without an end, by reading them. */
static uint64_t samples_in(struct session *s)
{
	struct event ev;
	uint64_t count = 0;

	for (size_t i = 0; i < s->recording->ncounts; i++)
		count += s->recording->counts[i].samples;
	while (!s->recording->complete && event_source_next(s->source, &ev))
		count += ev.kind == EVENT_SAMPLE;
	return count;
}

/* The row of @part. @all is the length of the file, and in .len the number of samples. */
static void add_row(struct table *table, enum trace_part part, const struct trace_part_size *size,
		    const struct trace_part_size *all)
{
	struct arena *arena = table->arena;
	double share = (double)size->packed_len / (double)MAX(all->packed_len, 1);

	table_add_row(table, 0, TABLE_PLAIN);
	table_add_cell(table, size_names[part].group, NULL);
	table_add_cell(table, size_names[part].part, NULL);
	table_add_format(table, "%" PRIu64, size->packed_len);
	table_add_cell(table, number_share(arena, share), arena_printf(arena, "%.6f", share));
	table_add_format(table, "%" PRIu64, size->len);
	table_add_format(table, "%.2f", (double)size->packed_len / (double)MAX(all->len, 1));
}

/* ERR_SYSTEM: it cannot be read. */
static MUST_USE struct err *info_sizes_print(struct session *s, enum table_format format, FILE *out)
{
	static const struct table_column columns[] = {
		{ .title = "What", .key = "group" },
		{ .title = "Part", .key = "part" },
		{ .title = "Bytes", .key = "bytes", .align = TABLE_RIGHT, .number = true },
		{ .title = "Share", .key = "share", .align = TABLE_RIGHT, .number = true },
		{ .title = "Unpacked", .key = "content_bytes", .align = TABLE_RIGHT, .number = true },
		{ .title = "A sample", .key = "bytes_per_sample", .align = TABLE_RIGHT, .number = true },
	};
	struct trace_part_size sizes[TRACE_PARTS];
	struct fact_sheet sheet;
	struct table table;
	struct err *err = trace_sizes(s->source, sizes);

	if (err)
		return err;
	struct trace_part_size all = { trace_reader_len(s->source), samples_in(s) };

	fact_sheet_open(&sheet, &s->arena, format, out);
	fact_sheet_put_number(&sheet, "File, bytes", "total", all.packed_len);
	fact_sheet_put_number(&sheet, "Samples", "samples", all.len);
	info_put_kernel_code(&sheet, s->recording);
	table_init(&table, &s->arena);
	table_add_columns(&table, columns, ARRAY_LEN(columns));
	for (enum trace_part i = 0; i < TRACE_PARTS; i++)
		if (sizes[i].packed_len)
			add_row(&table, i, &sizes[i], &all);
	fact_sheet_put_table(&sheet, &table, "Where the bytes went", "sizes");
	fact_sheet_close(&sheet);
	return NULL;
}

/* ---- the command ---- */

struct info_args {
	struct session_args session;
	struct filter filter;
	struct terminal_args terminal;
	const char *format;
	bool sizes;
};

static const struct opt info_opts[] = {
	OPT_FLAG(struct info_args, sizes, "sizes", 0,
		 "show where the bytes of the file went, nothing else"),
	OPT_CHOICE(struct info_args, format, "format", 0, "FORMAT", "text, csv or json", table_formats),
	OPT_GROUP(struct info_args, terminal, terminal_opts),
	OPT_GROUP(struct info_args, filter, filter_opts),
	OPT_GROUP(struct info_args, session, session_opts),
	OPT_END,
};

static struct err *need_blocks(const struct session *s)
{
	struct err *err = session_need(s, "blocks", "--sizes");

	if (err || (!perf_data_is_source(s->source) && !trace_dat_is_source(s->source)))
		return err;
	return err_new(ERR_UNSUPPORTED, "'%s' is %s: its bytes cannot be split by part", s->facts.input,
		       perf_data_is_source(s->source) ? "perf.data" : "trace.dat");
}

/* All there is to know of a profile is in it. */
static struct err *show_profile(struct session *s, struct info_args *args)
{
	struct terminal term;
	struct err *err;

	s->keep_times = true;
	err = session_load(s, &args->filter);
	if (err)
		return err;
	term = terminal_open(&args->terminal);
	info_print_profile(s->profile, &s->facts, table_format_named(args->format), stdout);
	return terminal_close(&term, NULL);
}

static struct err *show(struct session *s, void *args_)
{
	struct info_args *args = args_;

	if (s->imported && !args->sizes)
		return show_profile(s, args);

	CLEANUP(unwind_quality_deinit) struct unwind_quality unwind_quality = { 0 };

	enum table_format format = table_format_named(args->format);
	struct err *err = args->sizes ? need_blocks(s)
				      : unwind_quality_count(&unwind_quality, s, &args->filter);

	if (err)
		return err;

	struct terminal term = terminal_open(&args->terminal);

	if (args->sizes)
		err = info_sizes_print(s, format, stdout);
	else
		info_print(s, &unwind_quality, format, stdout);
	return terminal_close(&term, err);
}

static struct err *info_run(void *args_, char **operands, int noperands, int *ret_status)
{
	struct info_args *args = args_;

	(void)operands;
	(void)noperands;
	(void)ret_status;
	if (args->sizes && !filter_is_empty(&args->filter))
		return err_remedy(err_new(ERR_USAGE, "--sizes is about the whole file"),
				  "leave --comm, --time and the like out");
	return session_run(&cmd_info, &args->session, show, args);
}

const struct command cmd_info = {
	.name = "info",
	.summary = "the contents of a trace, and its data quality",
	.operands = "",
	.examples = "  preport info                       machine, options, losses, quality\n"
		    "  preport info -i run.trace --sizes  what takes the bytes\n",
	.manual = "preport(1)",
	.opts = info_opts,
	.args_size = sizeof(struct info_args),
	.run = info_run,
};

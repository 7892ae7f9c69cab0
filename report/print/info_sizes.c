/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info_sizes.c - what the parts of a trace are called, and what a sample took of each.
 */
#include "report/print/info_sizes.h"

#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_sizes.h"
#include "report/print/info.h"
#include "report/print/number.h"

#include <inttypes.h>

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

struct err *info_sizes_print(struct session *s, enum table_format format, FILE *out)
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

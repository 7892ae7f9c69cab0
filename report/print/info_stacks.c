/* SPDX-License-Identifier: Apache-2.0 */
#include "report/print/info_stacks.h"

#include "report/load/remedies.h"
#include "report/print/number.h"
#include "symbolize/name/symbolizer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_stops(struct fact_sheet *sheet, const struct session *s, const struct unwind_quality *unwind_quality)
{
	static const struct table_column columns[] = {
		{ .title = "Stacks", .key = "stacks", .align = TABLE_RIGHT, .number = true },
		{ .title = "Share", .key = "share", .align = TABLE_RIGHT, .number = true },
		{ .title = "How they end", .key = "end", .fit = TABLE_CUT_END },
		{ .title = "What would help", .key = "remedy", .fit = TABLE_CUT_END },
	};
	struct arena *arena = sheet->arena;
	struct table table;

	table_init(&table, arena);
	table_add_columns(&table, columns, ARRAY_LEN(columns));
	for (int stop = 0; stop < UNWIND_STOPS; stop++) {
		double share =
			unwind_quality->samples ? (double)unwind_quality->stops[stop] / (double)unwind_quality->samples : 0;
		const char *remedy = remedy_for_stop(s, (enum unwind_stop)stop);

		if (!unwind_quality->stops[stop])
			continue;
		table_add_row(&table, 0, TABLE_PLAIN);
		table_add_cell(&table, number_count(arena, unwind_quality->stops[stop]),
			       arena_printf(arena, "%" PRIu64, unwind_quality->stops[stop]));
		table_add_cell(&table, number_share(arena, share),
			       arena_printf(arena, "%.6f", share));
		table_add_cell(&table, unwind_stop_name(stop), NULL);
		table_add_cell(&table, remedy ? remedy : "", NULL);
	}
	fact_sheet_put_table(sheet, &table, "Stacks", "stacks");
}

/* Most broken stacks first, then most leaves, then by name. */
static int compare_modules(const void *a, const void *b)
{
	const struct unwind_quality_module *x = a, *y = b;

	if (x->broken != y->broken)
		return x->broken > y->broken ? -1 : 1;
	if (x->leaves != y->leaves)
		return x->leaves > y->leaves ? -1 : 1;
	if (x->frames != y->frames)
		return x->frames > y->frames ? -1 : 1;
	return strcmp(x->mod->path, y->mod->path);
}

/* Stacks that ended in one module for one reason. */
struct broken {
	const struct unwind_quality_module *mod;
	enum unwind_stop stop;
	uint64_t count;
};

/* Most stacks first, then by path and reason. */
static int compare_broken(const void *a, const void *b)
{
	const struct broken *x = a, *y = b;
	int by_path = strcmp(x->mod->mod->path, y->mod->mod->path);

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return by_path ? by_path : (int)x->stop - (int)y->stop;
}

/* What is known of the module says more than the reason alone. */
static const char *remedy_of(struct arena *arena, const struct broken *broken)
{
	const char *remedy = unwind_stop_remedy_in(broken->stop, broken->mod->mod);

	if (broken->stop == UNWIND_NO_BINARY)
		return arena_printf(arena, "%s; %s", module_files_note(broken->mod->mod), remedy);
	return remedy ? remedy : "'preport debug-unwind' shows one";
}

static void put_broken(struct fact_sheet *sheet, const struct unwind_quality *unwind_quality)
{
	static const struct table_column columns[] = {
		{ .title = "Stacks", .key = "stacks", .align = TABLE_RIGHT, .number = true },
		{ .title = "Share", .key = "share", .align = TABLE_RIGHT, .number = true },
		{ .title = "Because", .key = "because", .fit = TABLE_CUT_END },
		{ .title = "Module", .key = "module", .fit = TABLE_CUT_START },
		{ .title = "What would help", .key = "remedy", .fit = TABLE_CUT_END },
	};
	struct arena *arena = sheet->arena;
	VEC(struct broken) list = { 0 };
	struct table table;

	for (size_t i = 0; i < unwind_quality->modules.len; i++) {
		const struct unwind_quality_module *mod = &unwind_quality->modules.items[i];

		for (int stop = 0; mod->mod && stop < UNWIND_STOPS; stop++)
			if (mod->stops[stop])
				vec_push(&list, ((struct broken){ mod, (enum unwind_stop)stop,
								  mod->stops[stop] }));
	}
	if (!list.len)
		return;
	vec_sort(&list, compare_broken);
	table_init(&table, arena);
	table_add_columns(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < list.len; i++) {
		const struct broken *broken = &list.items[i];
		double share = (double)broken->count / (double)MAX(unwind_quality->samples, 1);

		table_add_row(&table, 0, TABLE_PLAIN);
		table_add_format(&table, "%" PRIu64, broken->count);
		table_add_cell(&table, number_share(arena, share),
			       arena_printf(arena, "%.6f", share));
		table_add_cell(&table, unwind_stop_name(broken->stop), NULL);
		table_add_cell(&table, broken->mod->mod->path, NULL);
		table_add_cell(&table, remedy_of(arena, broken), NULL);
	}
	vec_deinit(&list);
	fact_sheet_put_table(sheet, &table, "Where stacks broke, worst first", "broken");
}

/* What came of reading the stacks of interpreters. */
static void put_managed(struct fact_sheet *sheet, const struct session *s)
{
	static const struct table_column columns[] = {
		{ .title = "Samples", .key = "samples", .align = TABLE_RIGHT, .number = true },
		{ .title = "Share", .key = "share", .align = TABLE_RIGHT, .number = true },
		{ .title = "Stack of the interpreter", .key = "stack" },
	};
	static const char *const states[EVENT_MANAGED_STATES] = {
		[EVENT_MANAGED_WHOLE] = "read",
		[EVENT_MANAGED_NO_FRAMES] = "none: native code that the program started",
		[EVENT_MANAGED_CUT] = "read, its innermost frames",
		[EVENT_MANAGED_TORN] = "torn: the thread ran meanwhile; thrown away",
		[EVENT_MANAGED_LATE] = "late: the reader had no CPU in time",
		[EVENT_MANAGED_FAILED] = "unreadable: not in memory, or it made no sense",
	};
	struct arena *arena = sheet->arena;
	struct table table;
	uint64_t all = 0;

	for (size_t i = 0; i < EVENT_MANAGED_STATES; i++)
		all += s->stream.managed[i];
	if (!all)
		return;
	table_init(&table, arena);
	table_add_columns(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < EVENT_MANAGED_STATES; i++) {
		uint64_t count = s->stream.managed[i];

		if (!count)
			continue;
		table_add_row(&table, 0, TABLE_PLAIN);
		table_add_cell(&table, number_count(arena, count), arena_printf(arena, "%" PRIu64, count));
		table_add_cell(&table, number_share(arena, (double)count / (double)all),
			       arena_printf(arena, "%.6f", (double)count / (double)all));
		table_add_cell(&table, states[i], NULL);
	}
	fact_sheet_put_table(sheet, &table, "Interpreters", "interpreters");
}

static void add_module(struct table *table, struct session *s, const struct unwind_quality_module *mod)
{
	char hex[2 * sizeof(mod->mod->build_id) + 1];

	image_build_id_hex(mod->mod->build_id, mod->mod->build_id_len, hex);
	table_add_row(table, 0, TABLE_PLAIN);
	table_add_format(table, "%" PRIu64, mod->leaves);
	table_add_format(table, "%" PRIu64, mod->frames);
	table_add_format(table, "%" PRIu64, mod->unsure);
	table_add_format(table, "%" PRIu64, mod->broken);
	table_add_cell(table, mod->mod->path, NULL);
	table_add_cell(table, arena_printf(table->arena, "%.12s", hex),
		       arena_strdup(table->arena, hex));
	table_add_cell(table, symbolizer_note(s->binaries.symbolizer, mod->mod), NULL);
}

static void put_modules(struct fact_sheet *sheet, struct session *s, const struct unwind_quality *unwind_quality)
{
	static const struct table_column columns[] = {
		{ .title = "Leaves", .key = "leaves", .align = TABLE_RIGHT, .number = true },
		{ .title = "Frames", .key = "frames", .align = TABLE_RIGHT, .number = true },
		{ .title = "Unsure", .key = "unsure", .align = TABLE_RIGHT, .fit = TABLE_DROP_ZERO, .number = true },
		{ .title = "Broken", .key = "broken", .align = TABLE_RIGHT, .fit = TABLE_DROP_ZERO, .number = true },
		{ .title = "Module", .key = "module", .fit = TABLE_CUT_START },
		{ .title = "Build ID", .key = "build_id", .fit = TABLE_DROP },
		{ .title = "Names", .key = "names", .fit = TABLE_CUT_END },
	};
	VEC(struct unwind_quality_module) modules = { 0 };
	struct table table;

	for (size_t i = 0; i < unwind_quality->modules.len; i++)
		if (unwind_quality->modules.items[i].mod)
			vec_push(&modules, unwind_quality->modules.items[i]);
	vec_sort(&modules, compare_modules);
	table_init(&table, sheet->arena);
	table_add_columns(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < modules.len; i++)
		add_module(&table, s, &modules.items[i]);
	vec_deinit(&modules);
	fact_sheet_put_table(sheet, &table, "Modules, those where most stacks broke first", "modules");
}

void info_put_stacks(struct fact_sheet *sheet, struct session *s, const struct unwind_quality *unwind_quality)
{
	put_stops(sheet, s, unwind_quality);
	put_broken(sheet, unwind_quality);
	put_managed(sheet, s);
	put_modules(sheet, s, unwind_quality);
}

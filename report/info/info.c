/* SPDX-License-Identifier: Apache-2.0 */
#include "report/info/info.h"

#include "formats/base/text.h"
#include "report/code/code_origin.h"
#include "report/load/remedies.h"
#include "report/load/session.h"
#include "report/load/unwind_quality.h"
#include "report/info/fact_sheet.h"
#include "report/print/number.h"
#include "report/view/multiplexing_text.h"
#include "symbolize/name/symbolizer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- how the stacks of a recording end, where they broke and what would help, and the modules that their frames are in ---- */

/* . */

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
	for (int stop = 0; stop < STACK_STOPS; stop++) {
		double share =
			unwind_quality->samples ? (double)unwind_quality->stops[stop] / (double)unwind_quality->samples : 0;
		const char *remedy = remedy_for_stop(s, (enum stack_stop)stop);

		if (!unwind_quality->stops[stop])
			continue;
		table_add_row(&table, 0, TABLE_PLAIN);
		table_add_cell(&table, number_count(arena, unwind_quality->stops[stop]),
			       arena_printf(arena, "%" PRIu64, unwind_quality->stops[stop]));
		table_add_cell(&table, number_share(arena, share),
			       arena_printf(arena, "%.6f", share));
		table_add_cell(&table, stack_stop_name(stop), NULL);
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
	enum stack_stop stop;
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
static const char *remedy_of(const struct session *s, struct arena *arena, const struct broken *broken)
{
	const char *remedy = remedy_for_stop_in(s, broken->stop, broken->mod->mod);

	if (broken->stop == STACK_STOP_NO_BINARY)
		return arena_printf(arena, "%s; %s", module_files_note(broken->mod->mod), remedy);
	return remedy ? remedy : "'preport debug-unwind' shows one";
}

static void put_broken(struct fact_sheet *sheet, const struct session *s, const struct unwind_quality *unwind_quality)
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

		for (int stop = 0; mod->mod && stop < STACK_STOPS; stop++)
			if (mod->stops[stop])
				vec_push(&list, ((struct broken){ mod, (enum stack_stop)stop,
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
		table_add_cell(&table, stack_stop_name(broken->stop), NULL);
		table_add_cell(&table, broken->mod->mod->path, NULL);
		table_add_cell(&table, remedy_of(s, arena, broken), NULL);
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

static void info_put_stacks(struct fact_sheet *sheet, struct session *s, const struct unwind_quality *unwind_quality)
{
	put_stops(sheet, s, unwind_quality);
	put_broken(sheet, s, unwind_quality);
	put_managed(sheet, s);
	put_modules(sheet, s, unwind_quality);
}

/* ---- facts ----------------------------------------------------------------------------------------- */

static const char *wall_time(struct arena *arena, const struct recording *rec)
{
	time_t seconds = (time_t)((rec->wall_ns + (rec->start_ns - rec->clock_ns)) / 1000000000);
	struct tm tm;
	char text[64];

	if (!rec->wall_ns || !gmtime_r(&seconds, &tm))
		return "";
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm);
	return arena_strdup(arena, text);
}

static const char *chain_name(struct arena *arena, const struct recording *rec)
{
	if (rec->chain == RECORDING_CHAIN_NONE)
		return "none";
	if (rec->chain == RECORDING_CHAIN_FP)
		return "frame pointers: of a leaf without a frame of its own, the caller is left out";
	if (rec->chain == RECORDING_CHAIN_UNWOUND)
		return "unwound before preport strip removed them; which frames were unsure is not recorded";
	return arena_printf(arena, "dwarf, %" PRIu32 " bytes, %s", rec->stack_len,
			    rec->raw_stacks ? "raw: application data was kept" : "pruned");
}

static void put_machine(struct fact_sheet *sheet, const struct session *s)
{
	const struct recording *rec = s->recording;
	struct arena *arena = sheet->arena;

	fact_sheet_put(sheet, "Recorded by", "tool", rec->tool, NULL);
	if (rec->recorder_pid)
		fact_sheet_put_number(sheet, "Its process", "recorder_pid", rec->recorder_pid);
	fact_sheet_put(sheet, "Command", "cmdline", rec->cmdline, NULL);
	fact_sheet_put(sheet, "Host", "hostname", rec->hostname, NULL);
	fact_sheet_put(sheet, "System", "os_release",
		       arena_printf(arena, "Linux %s, %s", rec->os_release,
				    rec->arch ? rec->arch->name : "?"),
		       rec->os_release);
	fact_sheet_put(sheet, NULL, "arch", rec->arch ? rec->arch->name : "", NULL);
	fact_sheet_put(sheet, "Processor", "cpu_model", rec->cpu_model, NULL);
	fact_sheet_put_number(sheet, "CPUs on line", "cpus_online", rec->ncpus_online);
	fact_sheet_put(sheet, "Memory", "memory", rec->memory_len ? text_size(arena, rec->memory_len) : "",
		       arena_printf(arena, "%" PRIu64, rec->memory_len));
	fact_sheet_put(sheet, "Container", "container", rec->container, NULL);
	fact_sheet_put(sheet, "Began", "began", wall_time(arena, rec), NULL);
	fact_sheet_put(sheet, "Lasted", "duration_ns", number_time(arena, session_duration_ns(s)),
		       arena_printf(arena, "%" PRIu64, session_duration_ns(s)));
	fact_sheet_put(sheet, "Stacks", "chain", chain_name(arena, rec), NULL);
}

void info_put_kernel_code(struct fact_sheet *sheet, const struct recording *rec)
{
	fact_sheet_put(sheet, "Kernel code", "kernel_code",
		       code_origin_kernel_note(rec, sheet->arena), NULL);
	fact_sheet_put_number(sheet, NULL, "kernel_code_ns", rec->kernel_code.time_ns);
}

static void put_trust(struct fact_sheet *sheet, const struct session *s)
{
	const struct stream_counts *stream = &s->stream;
	const struct recording *rec = s->recording;
	struct arena *arena = sheet->arena;
	struct session_losses losses = session_losses(s);

	fact_sheet_put(sheet, "File", "complete",
		       rec->damaged_at
			       ? arena_printf(arena, "damaged at offset %" PRIu64 "%s", rec->damaged_at,
					      rec->complete ? ", what stood there is missing" :
							      ", and its end is missing")
		       : rec->complete
			       ? "complete"
			       : "its end is missing: the recorder was killed or could not write, or the copy is cut",
		       rec->complete && !rec->damaged_at ? "true" : "false");
	if (binaries_unverified(&s->binaries))
		fact_sheet_put(sheet, "Unverified", "unverified",
			       arena_printf(arena, "%s without a recorded build ID, taken on trust",
					    number_of(arena, binaries_unverified(&s->binaries), "file")),
			       arena_printf(arena, "%" PRIu64, binaries_unverified(&s->binaries)));
	fact_sheet_put_number(sheet, "Samples", "samples", stream->samples);
	if (stream->with_branches) {
		fact_sheet_put_number(sheet, "  branches", "branches", stream->branches);
		fact_sheet_put_number(sheet, "  in samples", "with_branches", stream->with_branches);
	}
	if (stream->with_address)
		fact_sheet_put_number(sheet, "  data address", "with_data_address", stream->with_address);
	if (stream->with_weight)
		fact_sheet_put_number(sheet, "  weight", "with_weight", stream->with_weight);
	fact_sheet_put_number(sheet, "Lost", "lost", losses.by_kernel + losses.by_recorder);
	if (losses.side_band)
		fact_sheet_put_number(sheet, "  side-band", "side_band_lost", losses.side_band);
	fact_sheet_put_number(sheet, NULL, "lost_by_kernel", losses.by_kernel);
	fact_sheet_put_number(sheet, NULL, "dropped_by_recorder", losses.by_recorder);
	fact_sheet_put_number(sheet, "Throttled", "throttled", stream->throttles);
	fact_sheet_put_number(sheet, "Snapshots full", "cut", stream->cut);
	fact_sheet_put_number(sheet, "Shortened", "shortened", stream->shortened);
	fact_sheet_put_number(sheet, NULL, "events", stream->events);
	info_put_kernel_code(sheet, rec);
	for (size_t i = 0; i < rec->nnotes; i++)
		fact_sheet_put(sheet, "Note", "note", recording_note_text(&rec->notes[i], arena), NULL);
}

/* ---- tables ---------------------------------------------------------------------------------------- */

static void put_events(struct fact_sheet *sheet, const struct recording *rec)
{
	static const struct table_column columns[] = {
		{ .title = "Event", .key = "event", .fit = TABLE_CUT_END },
		{ .title = "CPU", .key = "cpu", .align = TABLE_RIGHT },
		{ .title = "Samples", .key = "samples", .align = TABLE_RIGHT, .number = true },
		{ .title = "Counted", .key = "counted", .align = TABLE_RIGHT, .number = true },
		{ .title = "Had a counter", .key = "had_counter", .align = TABLE_RIGHT, .number = true },
		{ .title = "Lost", .key = "lost", .align = TABLE_RIGHT, .fit = TABLE_DROP_ZERO, .number = true },
		{ .title = "Dropped", .key = "dropped", .align = TABLE_RIGHT, .fit = TABLE_DROP_ZERO, .number = true },
		{ .title = "Cut", .key = "cut", .align = TABLE_RIGHT, .fit = TABLE_DROP_ZERO, .number = true },
		{ .title = "Shortened", .key = "shortened", .align = TABLE_RIGHT, .fit = TABLE_DROP_ZERO, .number = true },
		{ .title = "Throttled", .key = "throttled", .align = TABLE_RIGHT, .fit = TABLE_DROP_ZERO, .number = true },
		{ .title = "Missed", .key = "missed", .align = TABLE_RIGHT, .fit = TABLE_DROP_ZERO, .number = true },
	};
	struct table table;

	if (!rec->ncounts)
		return;
	table_init(&table, sheet->arena);
	table_add_columns(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < rec->ncounts; i++) {
		const struct recording_count *count = &rec->counts[i];
		struct event_multiplexing multiplexing = event_multiplexing_of_count(count);

		table_add_row(&table, 0, TABLE_PLAIN);
		table_add_cell(&table, rec->events[count->event].name, NULL);
		table_add_cell(&table, count->cpu == EVENT_NO_CPU ? "all" : arena_printf(
						sheet->arena, "%" PRIu32, count->cpu), NULL);
		table_add_format(&table, "%" PRIu64, count->samples);
		table_add_cell(&table, multiplexing_text_value(&multiplexing, sheet->arena),
			       multiplexing_text_value_data(&multiplexing, sheet->arena));
		table_add_cell(&table, multiplexing_text_share(&multiplexing, sheet->arena),
			       multiplexing.known ? arena_printf(sheet->arena, "%.6f",
							  event_multiplexing_share(&multiplexing)) : "");
		const uint64_t numbers[] = { count->lost_kernel, count->lost_recorder, count->stacks_cut,
					     count->stacks_shortened, count->throttled, count->missed };

		for (size_t j = 0; j < ARRAY_LEN(numbers); j++)
			table_add_format(&table, "%" PRIu64, numbers[j]);
	}
	fact_sheet_put_table(sheet, &table, "What each event gave, by CPU", "counts");
}

static void put_losses(struct fact_sheet *sheet, const struct unwind_quality *unwind_quality)
{
	static const struct table_column columns[] = {
		{ .title = "From", .key = "from_ns", .align = TABLE_RIGHT, .number = true },
		{ .title = "CPU", .key = "cpu", .align = TABLE_RIGHT },
		{ .title = "Lost by kernel", .key = "by_kernel", .align = TABLE_RIGHT, .number = true },
		{ .title = "Dropped", .key = "by_recorder", .align = TABLE_RIGHT, .number = true },
		{ .title = "Shortened", .key = "shortened", .align = TABLE_RIGHT, .number = true },
		{ .title = "Throttled", .key = "throttled", .align = TABLE_RIGHT, .number = true },
	};
	struct arena *arena = sheet->arena;
	struct table table;

	if (!unwind_quality->losses.len)
		return;
	table_init(&table, arena);
	table_add_columns(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < unwind_quality->losses.len; i++) {
		const struct unwind_quality_loss *loss = &unwind_quality->losses.items[i];

		table_add_row(&table, 0, TABLE_PLAIN);
		table_add_cell(&table, arena_printf(arena, "%.1f s", (double)loss->from_ns / 1e9),
			       arena_printf(arena, "%" PRIu64, loss->from_ns));
		if (loss->cpu == EVENT_NO_CPU)
			table_add_cell(&table, "any", NULL);
		else
			table_add_format(&table, "%" PRIu32, loss->cpu);
		table_add_format(&table, "%" PRIu64, loss->by_kernel);
		table_add_format(&table, "%" PRIu64, loss->by_recorder);
		table_add_format(&table, "%" PRIu64, loss->shortened);
		table_add_format(&table, "%" PRIu64, loss->throttles);
	}
	fact_sheet_put_table(sheet, &table, "Losses over time", "losses");
}

void info_print(struct session *s, const struct unwind_quality *unwind_quality, enum table_format format, FILE *out)
{
	struct fact_sheet sheet;

	fact_sheet_open(&sheet, &s->arena, format, out);
	put_machine(&sheet, s);
	put_trust(&sheet, s);
	put_events(&sheet, s->recording);
	info_put_stacks(&sheet, s, unwind_quality);
	put_losses(&sheet, unwind_quality);
	fact_sheet_close(&sheet);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.c - facts are pairs of a key and a value; everything else is a table. In CSV the facts come first as
 * "key,value", then each table after an empty line; in JSON they are members of one object.
 */
#include "report/info.h"

#include "formats/base/text.h"
#include "formats/trace_reader.h"
#include "report/code_origin.h"
#include "report/info_sizes.h"
#include "report/number.h"
#include "report/turns_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FACT_WIDTH 14 /* columns of the facts' names in text */

struct info {
	struct session *s;
	const struct tally *tally;
	enum table_format format;
	FILE *out;
	struct json json;
	struct terminal term;
};

/* ---- facts ----------------------------------------------------------------------------------------- */

/* @title is for people, @key for programs; @data NULL: the same text. An empty value is left out in text. */
static void put_fact(struct info *info, const char *title, const char *key, const char *text,
		     const char *data)
{
	data = data ? data : text;
	switch (info->format) {
	case TABLE_TEXT:
		if (!title || !*text)
			break;
		fprintf(info->out, "%-*s ", FACT_WIDTH, title);
		text_put_escaped(info->out, text);
		fputc('\n', info->out);
		break;
	case TABLE_CSV:
		table_put_csv_cell(info->out, key);
		fputc(',', info->out);
		table_put_csv_cell(info->out, data);
		fputs("\r\n", info->out);
		break;
	case TABLE_JSON:
		json_string(&info->json, key, data);
		break;
	}
}

static void put_number(struct info *info, const char *title, const char *key, uint64_t value)
{
	struct arena *arena = &info->s->arena;

	if (info->format == TABLE_JSON)
		json_uint(&info->json, key, value);
	else
		put_fact(info, title, key, number_count(arena, value),
			 arena_printf(arena, "%" PRIu64, value));
}

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
		return "unwound before they were taken out (preport strip); which frames were unsure is not kept";
	return arena_printf(arena, "dwarf, %" PRIu32 " bytes, %s", rec->stack_len,
			    rec->raw_stacks ? "raw: application data was kept" : "pruned");
}

static void put_machine(struct info *info)
{
	const struct recording *rec = info->s->recording;
	struct arena *arena = &info->s->arena;

	put_fact(info, "Recorded by", "tool", rec->tool, NULL);
	if (rec->recorder_pid)
		put_number(info, "Its process", "recorder_pid", rec->recorder_pid);
	put_fact(info, "Command", "cmdline", rec->cmdline, NULL);
	put_fact(info, "Host", "hostname", rec->hostname, NULL);
	put_fact(info, "System", "os_release",
		 arena_printf(arena, "Linux %s, %s", rec->os_release,
			      rec->arch ? rec->arch->name : "?"),
		 rec->os_release);
	put_fact(info, NULL, "arch", rec->arch ? rec->arch->name : "", NULL);
	put_fact(info, "Processor", "cpu_model", rec->cpu_model, NULL);
	put_number(info, "CPUs on line", "cpus_online", rec->ncpus_online);
	put_fact(info, "Memory", "memory", rec->memory_len ? text_size(arena, rec->memory_len) : "",
		 arena_printf(arena, "%" PRIu64, rec->memory_len));
	put_fact(info, "Container", "container", rec->container, NULL);
	put_fact(info, "Began", "began", wall_time(arena, rec), NULL);
	put_fact(info, "Lasted", "duration_ns", number_time(arena, session_duration_ns(info->s)),
		 arena_printf(arena, "%" PRIu64, session_duration_ns(info->s)));
	put_fact(info, "Stacks", "chain", chain_name(arena, rec), NULL);
}

/* Of the running kernel: how much code, and in what time it was read; or why there is none. */
static void put_kernel_code(struct info *info)
{
	put_fact(info, "Kernel code", "kernel_code",
		 code_origin_kernel_note(info->s->recording, &info->s->arena), NULL);
	put_number(info, NULL, "kernel_code_ns", info->s->recording->kernel_code.time_ns);
}

static void put_trust(struct info *info)
{
	const struct session_stream *stream = &info->s->stream;
	const struct recording *rec = info->s->recording;
	struct arena *arena = &info->s->arena;
	struct session_losses losses = session_losses(info->s);

	put_fact(info, "File", "complete",
		 rec->damaged_at
			 ? arena_printf(arena, "damaged at offset %" PRIu64 "%s", rec->damaged_at,
					rec->complete ? ", what stood there is missing" :
							", and its end is missing")
		 : rec->complete
			 ? "complete"
			 : "its end is missing: the recorder was killed or could not write, or the copy is cut",
		 rec->complete && !rec->damaged_at ? "true" : "false");
	if (session_unverified(info->s))
		put_fact(info, "Unverified", "unverified",
			 arena_printf(arena, "%s without a recorded build ID, taken on trust",
				      number_of(arena, session_unverified(info->s), "file")),
			 arena_printf(arena, "%" PRIu64, session_unverified(info->s)));
	put_number(info, "Samples", "samples", stream->samples);
	if (stream->with_branches) {
		put_number(info, "  branches", "branches", stream->branches);
		put_number(info, "  in samples", "with_branches", stream->with_branches);
	}
	if (stream->with_address)
		put_number(info, "  data address", "with_data_address", stream->with_address);
	if (stream->with_weight)
		put_number(info, "  weight", "with_weight", stream->with_weight);
	put_number(info, "Lost", "lost", losses.by_kernel + losses.by_recorder);
	put_number(info, NULL, "lost_by_kernel", losses.by_kernel);
	put_number(info, NULL, "dropped_by_recorder", losses.by_recorder);
	put_number(info, "Throttled", "throttled", stream->throttles);
	put_number(info, "Stacks cut", "cut", stream->cut);
	put_number(info, "Shortened", "shortened", stream->shortened);
	put_number(info, NULL, "events", stream->events);
	put_kernel_code(info);
	for (size_t i = 0; i < rec->nnotes; i++)
		put_fact(info, "Note", "note", rec->notes[i], NULL);
}

/* ---- tables ---------------------------------------------------------------------------------------- */

static void print_table(struct info *info, struct table *table, const char *title, const char *key)
{
	switch (info->format) {
	case TABLE_TEXT:
		fprintf(info->out, "\n%s\n", title);
		table_print_text(table, &info->term, info->out);
		break;
	case TABLE_CSV:
		fputs("\r\n", info->out);
		table_print_csv(table, info->out, /* with_header= */ true);
		break;
	case TABLE_JSON:
		table_print_json(table, key, &info->json);
		break;
	}
	table_deinit(table);
}

static void add_columns(struct table *table, const struct table_column *columns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		table_add_column(table, &columns[i]);
}

static void put_events(struct info *info)
{
	static const struct table_column columns[] = {
		{ .title = "Event", .key = "event", .fit = TABLE_CUT_END },
		{ .title = "CPU", .key = "cpu", .align = TABLE_RIGHT },
		{ .title = "Samples", .key = "samples", .align = TABLE_RIGHT, .number = true },
		{ .title = "Counted", .key = "counted", .align = TABLE_RIGHT, .number = true },
		{ .title = "Had a counter", .key = "had_counter", .align = TABLE_RIGHT, .number = true },
		{ .title = "Lost", .key = "lost", .align = TABLE_RIGHT, .number = true },
		{ .title = "Dropped", .key = "dropped", .align = TABLE_RIGHT, .number = true },
		{ .title = "Cut", .key = "cut", .align = TABLE_RIGHT, .number = true },
		{ .title = "Shortened", .key = "shortened", .align = TABLE_RIGHT, .number = true },
		{ .title = "Throttled", .key = "throttled", .align = TABLE_RIGHT, .number = true },
		{ .title = "Missed", .key = "missed", .align = TABLE_RIGHT, .number = true },
	};
	const struct recording *rec = info->s->recording;
	struct table table;

	if (!rec->ncounts)
		return;
	table_init(&table, &info->s->arena);
	add_columns(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < rec->ncounts; i++) {
		const struct recording_count *count = &rec->counts[i];
		struct event_turns turns = event_turns_of_count(count);

		table_add_row(&table, 0, TABLE_PLAIN);
		table_add_cell(&table, rec->events[count->event].name, NULL);
		table_add_cell(&table, count->cpu == EVENT_NO_CPU ? "all" : arena_printf(
						&info->s->arena, "%" PRIu32, count->cpu), NULL);
		table_add_format(&table, "%" PRIu64, count->samples);
		table_add_cell(&table, turns_text_value(&turns, &info->s->arena),
			       turns_text_value_data(&turns, &info->s->arena));
		table_add_cell(&table, turns_text_share(&turns, &info->s->arena),
			       turns.known ? arena_printf(&info->s->arena, "%.6f",
							  event_turns_share(&turns)) : "");
		const uint64_t numbers[] = { count->lost_kernel, count->lost_recorder, count->stacks_cut,
					     count->stacks_shortened, count->throttled, count->missed };

		for (size_t j = 0; j < ARRAY_LEN(numbers); j++)
			table_add_format(&table, "%" PRIu64, numbers[j]);
	}
	print_table(info, &table, "What each event gave, by CPU", "counts");
}

static void put_stops(struct info *info)
{
	static const struct table_column columns[] = {
		{ .title = "Stacks", .key = "stacks", .align = TABLE_RIGHT, .number = true },
		{ .title = "Share", .key = "share", .align = TABLE_RIGHT, .number = true },
		{ .title = "How they end", .key = "end" },
		{ .title = "What would help", .key = "remedy", .fit = TABLE_CUT_END },
	};
	const struct tally *tally = info->tally;
	struct arena *arena = &info->s->arena;
	struct table table;

	table_init(&table, arena);
	add_columns(&table, columns, ARRAY_LEN(columns));
	for (int stop = 0; stop < UNWIND_STOPS; stop++) {
		double share =
			tally->samples ? (double)tally->stops[stop] / (double)tally->samples : 0;
		const char *remedy = unwind_stop_remedy(stop);

		if (!tally->stops[stop])
			continue;
		table_add_row(&table, 0, TABLE_PLAIN);
		table_add_cell(&table, number_count(arena, tally->stops[stop]),
			       arena_printf(arena, "%" PRIu64, tally->stops[stop]));
		table_add_cell(&table, number_share(arena, share),
			       arena_printf(arena, "%.6f", share));
		table_add_cell(&table, unwind_stop_name(stop), NULL);
		table_add_cell(&table, remedy ? remedy : "", NULL);
	}
	print_table(info, &table, "Stacks", "stacks");
}

/* Most broken stacks first, then most leaves, then by name. */
static int compare_modules(const void *a, const void *b)
{
	const struct tally_module *x = a, *y = b;

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
	const struct tally_module *mod;
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
	const char *remedy = unwind_stop_remedy(broken->stop);

	if (broken->stop == UNWIND_NO_BINARY)
		return arena_printf(arena, "%s; %s", module_files_note(broken->mod->mod), remedy);
	if (broken->mod->mod->kind == MODULE_JIT && broken->stop == UNWIND_NO_FRAME_POINTER)
		return "let the JIT keep frame pointers (java -XX:+PreserveFramePointer)";
	return remedy ? remedy : "'preport debug-unwind' shows one";
}

static void put_broken(struct info *info)
{
	static const struct table_column columns[] = {
		{ .title = "Stacks", .key = "stacks", .align = TABLE_RIGHT, .number = true },
		{ .title = "Share", .key = "share", .align = TABLE_RIGHT, .number = true },
		{ .title = "Because", .key = "because" },
		{ .title = "Module", .key = "module", .fit = TABLE_CUT_START },
		{ .title = "What would help", .key = "remedy", .fit = TABLE_CUT_END },
	};
	struct arena *arena = &info->s->arena;
	VEC(struct broken) list = { 0 };
	struct table table;

	for (size_t i = 0; i < info->tally->modules.len; i++) {
		const struct tally_module *mod = &info->tally->modules.items[i];

		for (int stop = 0; mod->mod && stop < UNWIND_STOPS; stop++)
			if (mod->stops[stop])
				vec_push(&list, ((struct broken){ mod, (enum unwind_stop)stop,
								  mod->stops[stop] }));
	}
	if (!list.len)
		return;
	vec_sort(&list, compare_broken);
	table_init(&table, arena);
	add_columns(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < list.len; i++) {
		const struct broken *broken = &list.items[i];
		double share = (double)broken->count / (double)MAX(info->tally->samples, 1);

		table_add_row(&table, 0, TABLE_PLAIN);
		table_add_format(&table, "%" PRIu64, broken->count);
		table_add_cell(&table, number_share(arena, share),
			       arena_printf(arena, "%.6f", share));
		table_add_cell(&table, unwind_stop_name(broken->stop), NULL);
		table_add_cell(&table, broken->mod->mod->path, NULL);
		table_add_cell(&table, remedy_of(arena, broken), NULL);
	}
	vec_deinit(&list);
	print_table(info, &table, "Where stacks broke, worst first", "broken");
}

static void add_module(struct info *info, struct table *table, const struct tally_module *mod)
{
	char hex[2 * sizeof(mod->mod->build_id) + 1];

	image_build_id_hex(mod->mod->build_id, mod->mod->build_id_len, hex);
	table_add_row(table, 0, TABLE_PLAIN);
	table_add_format(table, "%" PRIu64, mod->leaves);
	table_add_format(table, "%" PRIu64, mod->frames);
	table_add_format(table, "%" PRIu64, mod->unsure);
	table_add_format(table, "%" PRIu64, mod->broken);
	table_add_cell(table, mod->mod->path, NULL);
	table_add_cell(table, arena_printf(&info->s->arena, "%.12s", hex),
		       arena_strdup(&info->s->arena, hex));
	table_add_cell(table, symbolizer_note(info->s->symbolizer, mod->mod), NULL);
}

static void put_modules(struct info *info)
{
	static const struct table_column columns[] = {
		{ .title = "Leaves", .key = "leaves", .align = TABLE_RIGHT, .number = true },
		{ .title = "Frames", .key = "frames", .align = TABLE_RIGHT, .number = true },
		{ .title = "Unsure", .key = "unsure", .align = TABLE_RIGHT, .number = true },
		{ .title = "Broken", .key = "broken", .align = TABLE_RIGHT, .number = true },
		{ .title = "Module", .key = "module", .fit = TABLE_CUT_START },
		{ .title = "Build ID", .key = "build_id" },
		{ .title = "Names", .key = "names", .fit = TABLE_CUT_END },
	};
	VEC(struct tally_module) modules = { 0 };
	struct table table;

	for (size_t i = 0; i < info->tally->modules.len; i++)
		if (info->tally->modules.items[i].mod)
			vec_push(&modules, info->tally->modules.items[i]);
	vec_sort(&modules, compare_modules);
	table_init(&table, &info->s->arena);
	add_columns(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < modules.len; i++)
		add_module(info, &table, &modules.items[i]);
	vec_deinit(&modules);
	print_table(info, &table, "Modules, those where most stacks broke first", "modules");
}

static void put_losses(struct info *info)
{
	static const struct table_column columns[] = {
		{ .title = "From", .key = "from_ns", .align = TABLE_RIGHT, .number = true },
		{ .title = "CPU", .key = "cpu", .align = TABLE_RIGHT },
		{ .title = "Lost by kernel", .key = "by_kernel", .align = TABLE_RIGHT, .number = true },
		{ .title = "Dropped", .key = "by_recorder", .align = TABLE_RIGHT, .number = true },
		{ .title = "Shortened", .key = "shortened", .align = TABLE_RIGHT, .number = true },
		{ .title = "Throttled", .key = "throttled", .align = TABLE_RIGHT, .number = true },
	};
	struct arena *arena = &info->s->arena;
	struct table table;

	if (!info->tally->losses.len)
		return;
	table_init(&table, arena);
	add_columns(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < info->tally->losses.len; i++) {
		const struct tally_loss *loss = &info->tally->losses.items[i];

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
	print_table(info, &table, "Losses over time", "losses");
}

static void begin(struct info *info)
{
	info->term = terminal_of(info->out);
	if (info->format != TABLE_JSON)
		return;
	json_init(&info->json, info->out);
	info->json.lines = true;
	json_open(&info->json, NULL, '{');
}

static void end(struct info *info)
{
	if (info->format == TABLE_JSON)
		json_close(&info->json, '}');
}

void info_print(struct session *s, const struct tally *tally, enum table_format format, FILE *out)
{
	struct info info = { .s = s, .tally = tally, .format = format, .out = out };

	begin(&info);
	put_machine(&info);
	put_trust(&info);
	put_events(&info);
	put_stops(&info);
	put_broken(&info);
	put_modules(&info);
	put_losses(&info);
	end(&info);
}

/* ---- sizes ----------------------------------------------------------------------------------------- */

struct err *info_print_sizes(struct session *s, enum table_format format, FILE *out)
{
	static const struct table_column columns[] = {
		{ .title = "What", .key = "group" },
		{ .title = "Part", .key = "part" },
		{ .title = "Bytes", .key = "bytes", .align = TABLE_RIGHT, .number = true },
		{ .title = "Share", .key = "share", .align = TABLE_RIGHT, .number = true },
		{ .title = "Unpacked", .key = "content_bytes", .align = TABLE_RIGHT, .number = true },
		{ .title = "A sample", .key = "bytes_per_sample", .align = TABLE_RIGHT, .number = true },
	};
	struct info info = { .s = s, .format = format, .out = out };
	struct trace_part_size sizes[TRACE_PARTS];
	struct table table;
	struct err *err = trace_sizes(s->source, sizes);

	if (err)
		return err;
	struct trace_part_size all = { trace_reader_len(s->source), info_sizes_samples(s) };

	begin(&info);
	put_number(&info, "File, bytes", "total", all.packed_len);
	put_number(&info, "Samples", "samples", all.len);
	put_kernel_code(&info);
	table_init(&table, &s->arena);
	add_columns(&table, columns, ARRAY_LEN(columns));
	for (enum trace_part i = 0; i < TRACE_PARTS; i++)
		if (sizes[i].packed_len)
			info_sizes_add(&table, &s->arena, i, &sizes[i], &all);
	print_table(&info, &table, "Where the bytes went", "sizes");
	end(&info);
	return NULL;
}

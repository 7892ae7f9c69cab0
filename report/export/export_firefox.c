/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_firefox.c - Firefox Profiler's "processed profile" format, version 56: the last with tables a thread and the
 * first with the strings in common; later versions of the page bring it up to their own.
 *
 * A track is a thread there; what a thread did when stands on its first track, under all names that it had.
 *
 * Weights: the format knows samples, milliseconds and bytes. Periods in ns become
 * milliseconds, bytes stay bytes; those of other events become samples, in units of the event's mean period, so that
 * shares are right and their sum is the number of samples.
 *
 * The page knows no names of events. They stand in "preportEvent" of a thread, which it passes over, so that the file read
 * again has each event by itself:
 *
 *	"preportEvent": {"name": "cycles", "unit": "events", "mean": 250000, "thread": "main"}
 */
#include "formats/base/json_writer.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"
#include "formats/stack_stop.h"
#include "report/export/export_format.h"
#include "report/load/derive/derive_kind.h"
#include "report/view/frame_list.h"
#include "report/view/track.h"
#include "report/view/wait_frames.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tables of one thread in Firefox Profiler's format ---- */

/*
 * Numbers are given while tables are written: the samples number stacks and frames, the frames functions, the functions
 * modules. So the order of writing matters.
 */

/* The colours of frames: which kind of code they are. */
enum firefox_category {
	FIREFOX_OTHER,
	FIREFOX_USER,
	FIREFOX_KERNEL,
	FIREFOX_JIT,
	FIREFOX_WAITING, /* of tracks of waits, whatever the code */
};

/* Entries of the profile in the order of their numbers. */
struct firefox_table {
	struct map numbers; /* key -> number */
	VEC(uint64_t) keys;
};

/* A node of the stack table. */
struct firefox_node {
	uint32_t frame, prefix; /* prefix PROFILE_NONE: none */
};

struct firefox_tables {
	const struct profile *p; /* the only field to fill in; the rest starts out zeroed */
	bool waits;		 /* the track is of time off the CPU */
	struct frame_list list;
	struct firefox_table stacks;    /* by prefix and frame */
	VEC(struct firefox_node) nodes; /* of .stacks */
	struct firefox_table frames;    /* by location and how deep inlined; behind them reasons */
	struct firefox_table functions; /* by function; behind them reasons */
	struct firefox_table modules;
};

#define NUMBER_MAX (1ULL << 53) /* what JSON's readers hold exactly */

/* ---- numbering ---- */

static uint32_t table_number(struct firefox_table *table, uint64_t key)
{
	bool is_new;
	uint64_t *number = map_put(&table->numbers, key, &is_new);

	if (is_new) {
		*number = table->keys.len;
		vec_push(&table->keys, key);
	}
	return (uint32_t)*number;
}

static void table_clear(struct firefox_table *table)
{
	map_clear(&table->numbers);
	table->keys.len = 0;
}

static void table_deinit(struct firefox_table *table)
{
	map_deinit(&table->numbers);
	vec_deinit(&table->keys);
}

/* A frame is one of a location's lines; the reasons stand behind them. */
static uint32_t frame_number(struct firefox_tables *t, const struct frame *frame)
{
	uint64_t nlocations = t->p->locations.len;

	if (frame->line == FRAME_REASON)
		return table_number(&t->frames, (nlocations + t->list.stop) << 32);

	uint64_t location = t->p->stacks.items[frame->stack].location;

	return table_number(&t->frames, location << 32 | frame->inlined);
}

/* The number of the stack of @row; PROFILE_NONE for an empty one. */
static uint32_t firefox_add_stack(struct firefox_tables *t, const struct profile_sample *row)
{
	uint32_t prefix = PROFILE_NONE;

	frame_list_fill(&t->list, t->p, row);
	for (size_t i = 0; i < t->list.frames.len; i++) {
		struct firefox_node node = { frame_number(t, &t->list.frames.items[i]), prefix };

		prefix = table_number(&t->stacks, (uint64_t)(prefix + 1) << 32 | node.frame);
		if (prefix == t->nodes.len)
			vec_push(&t->nodes, node);
	}
	return prefix;
}

/* ---- writing ---- */

/* A column that is the same in all rows. */
static void firefox_put_same(struct json *json, const char *key, size_t len, const char *value)
{
	json_open(json, key, '[');
	for (size_t i = 0; i < len; i++)
		json_number(json, NULL, value);
	json_close(json, ']');
}

typedef void put_cell_fn(struct json *json, struct firefox_tables *t, size_t row, unsigned column);

/* Open table @name of @len rows with @columns, whose last is NULL; the caller adds others, and closes it. */
static void open_table(struct json *json, struct firefox_tables *t, const char *name, size_t len, const char *const *columns,
		       put_cell_fn *put_cell)
{
	json_open(json, name, '{');
	json_uint(json, "length", len);
	for (unsigned column = 0; columns[column]; column++) {
		json_open(json, columns[column], '[');
		for (size_t row = 0; row < len; row++)
			put_cell(json, t, row, column);
		json_close(json, ']');
	}
}

enum stack_column { COLUMN_FRAME, COLUMN_PREFIX };

static void put_stack_cell(struct json *json, struct firefox_tables *t, size_t i, unsigned column)
{
	const struct firefox_node *node = &t->nodes.items[i];

	json_uint_or_null(json, NULL, column == COLUMN_FRAME ? node->frame : node->prefix);
}

static void put_stack_table(struct json *json, struct firefox_tables *t)
{
	static const char *const columns[] = { [COLUMN_FRAME] = "frame", [COLUMN_PREFIX] = "prefix", NULL };

	open_table(json, t, "stackTable", t->nodes.len, columns, put_stack_cell);
	json_close(json, '}');
}

/* What stands behind number @i of the frame table. */
struct shown_frame {
	const struct profile_location *location; /* NULL for a reason */
	const struct profile_line *line;
	uint32_t inlined, stop;
};

static struct shown_frame shown_frame(const struct firefox_tables *t, size_t i)
{
	uint64_t key = t->frames.keys.items[i], location = key >> 32;
	struct shown_frame frame = { .inlined = (uint32_t)key };

	if (location >= t->p->locations.len) {
		frame.stop = (uint32_t)(location - t->p->locations.len);
		return frame;
	}
	frame.location = &t->p->locations.items[location];
	frame.line = &t->p->lines.items[frame.location->first_line + frame.location->nlines - 1 -
					frame.inlined];
	return frame;
}

static enum firefox_category category_of(const struct firefox_tables *t, const struct shown_frame *frame)
{
	if (t->waits)
		return FIREFOX_WAITING;
	if (!frame->location)
		return FIREFOX_OTHER;
	switch (profile_module(t->p, frame->location->module)->kind) {
	case PROFILE_KERNEL:
		return FIREFOX_KERNEL;
	case PROFILE_JIT:
		return FIREFOX_JIT;
	case PROFILE_USER:
		return FIREFOX_USER;
	default:
		return FIREFOX_OTHER;
	}
}

enum frame_column { COLUMN_ADDRESS, COLUMN_DEPTH, COLUMN_CATEGORY, COLUMN_FUNCTION, COLUMN_LINE };

static void put_frame_cell(struct json *json, struct firefox_tables *t, size_t i, unsigned column)
{
	struct shown_frame frame = shown_frame(t, i);

	switch (column) {
	case COLUMN_ADDRESS:
		if (frame.location && frame.location->has_vaddr && profile_address(frame.location) < NUMBER_MAX)
			json_uint(json, NULL, profile_address(frame.location));
		else
			json_number(json, NULL, "-1");
		break;
	case COLUMN_DEPTH:
		json_uint(json, NULL, frame.inlined);
		break;
	case COLUMN_CATEGORY:
		json_uint(json, NULL, category_of(t, &frame));
		break;
	case COLUMN_FUNCTION:
		json_uint(json, NULL,
			  table_number(&t->functions, frame.line ? frame.line->function :
						      t->p->functions.len + frame.stop));
		break;
	case COLUMN_LINE:
		json_uint_or_null(json, NULL, frame.line && frame.line->line ? frame.line->line : PROFILE_NONE);
		break;
	}
}

/* Numbers the functions, too. */
static void put_frame_table(struct json *json, struct firefox_tables *t)
{
	static const char *const columns[] = { "address", "inlineDepth", "category", "func", "line", NULL };
	size_t len = t->frames.keys.len;

	open_table(json, t, "frameTable", len, columns, put_frame_cell);
	firefox_put_same(json, "subcategory", len, "0");
	firefox_put_same(json, "nativeSymbol", len, "null");
	firefox_put_same(json, "innerWindowID", len, "0");
	firefox_put_same(json, "column", len, "null");
	json_close(json, '}');
}

static const struct profile_function *table_function(const struct firefox_tables *t, size_t i)
{
	uint64_t function = t->functions.keys.items[i];

	return function < t->p->functions.len ? &t->p->functions.items[function] : NULL;
}

enum function_column { COLUMN_NAME, COLUMN_RESOURCE, COLUMN_FILE, COLUMN_START };

static void put_function_cell(struct json *json, struct firefox_tables *t, size_t i, unsigned column)
{
	const struct profile_function *function = table_function(t, i);
	uint64_t stop = t->functions.keys.items[i] - t->p->functions.len;

	switch (column) {
	case COLUMN_NAME:
		json_uint(json, NULL, function ? function->name : t->p->strings.len + stop);
		break;
	case COLUMN_RESOURCE:
		if (function && function->module != PROFILE_NONE)
			json_uint(json, NULL, table_number(&t->modules, function->module));
		else
			json_number(json, NULL, "-1");
		break;
	case COLUMN_FILE:
		json_uint_or_null(json, NULL, function && function->file ? function->file : PROFILE_NONE);
		break;
	case COLUMN_START:
		json_uint_or_null(json, NULL, function && function->line ? function->line : PROFILE_NONE);
		break;
	}
}

/* Numbers the modules, too. */
static void put_function_table(struct json *json, struct firefox_tables *t)
{
	static const char *const columns[] = { "name", "resource", "fileName", "lineNumber", NULL };
	size_t len = t->functions.keys.len;

	open_table(json, t, "funcTable", len, columns, put_function_cell);
	firefox_put_same(json, "columnNumber", len, "null");
	firefox_put_same(json, "isJS", len, "false");
	firefox_put_same(json, "relevantForJS", len, "false");
	json_close(json, '}');
}

enum resource_column { COLUMN_LIB, COLUMN_LIB_NAME };

static void put_resource_cell(struct json *json, struct firefox_tables *t, size_t i, unsigned column)
{
	uint64_t module = t->modules.keys.items[i];

	json_uint(json, NULL, column == COLUMN_LIB ? module : t->p->modules.items[module].name);
}

static void put_resource_table(struct json *json, struct firefox_tables *t)
{
	static const char *const columns[] = { [COLUMN_LIB] = "lib", [COLUMN_LIB_NAME] = "name", NULL };
	size_t len = t->modules.keys.len;

	open_table(json, t, "resourceTable", len, columns, put_resource_cell);
	firefox_put_same(json, "host", len, "null");
	firefox_put_same(json, "type", len, "1"); /* a library */
	json_close(json, '}');
}

/* A table that the page wants to see though there is nothing in it. */
static void put_native_symbols(struct json *json)
{
	static const char *const symbols[] = { "libIndex", "address", "name", "functionSize", NULL };

	open_table(json, NULL, "nativeSymbols", 0, symbols, NULL);
	json_close(json, '}');
}

/*
 * Write all tables but the samples and markers as members of the object that @json is in. The name of a function is the number of
 * the profile's string, that of a reason the number of profile strings and its own.
 */
static void firefox_put_tables(struct json *json, struct firefox_tables *t)
{
	put_stack_table(json, t);
	put_frame_table(json, t);
	put_function_table(json, t);
	put_resource_table(json, t);
	put_native_symbols(json);
}

/* Forget it all, for the next thread. */
static void firefox_tables_clear(struct firefox_tables *t)
{
	table_clear(&t->stacks);
	table_clear(&t->frames);
	table_clear(&t->functions);
	table_clear(&t->modules);
	t->nodes.len = 0;
}

static void firefox_tables_deinit(struct firefox_tables *t)
{
	table_deinit(&t->stacks);
	table_deinit(&t->frames);
	table_deinit(&t->functions);
	table_deinit(&t->modules);
	vec_deinit(&t->nodes);
	frame_list_deinit(&t->list);
}

/* ---- the file ---- */

#define PROCESSED_VERSION 56
#define GECKO_VERSION	  31 /* not looked at, but must be there */

static const char *const categories[][2] = {
	[FIREFOX_OTHER] = { "Other", "grey" },
	[FIREFOX_USER] = { "User", "yellow" },
	[FIREFOX_KERNEL] = { "Kernel", "orange" },
	[FIREFOX_JIT] = { "JIT", "green" },
	[FIREFOX_WAITING] = { "Waiting", "blue" },
};

struct writer_state {
	const struct profile *p;
	const struct profile_facts *facts;
	struct json json;
	struct arena arena;
	struct firefox_tables tables; /* of the track that is being written */
	struct span_list spans;	      /* the profile's, by thread ID and time */
	struct map shown;	      /* the IDs of threads that have a track */
};

/* ---- a track ---- */

/* @time_ns as milliseconds since the start. */
static void put_ms(struct writer_state *w, const char *key, uint64_t time_ns)
{
	uint64_t start_ns = w->facts->start_ns;
	uint64_t since = time_ns > start_ns ? time_ns - start_ns : 0;

	json_number(&w->json, key,
		    arena_printf(&w->arena, "%" PRIu64 ".%06" PRIu64, since / 1000000,
				 since % 1000000));
	arena_reset(&w->arena);
}

/* Of one sample; 1 where they add up to nothing. */
static double mean_weight(const struct profile *p, uint32_t type)
{
	struct profile_sum sum = profile_total(p, type);

	return sum.weight && sum.count ? (double)sum.weight / (double)sum.count : 1;
}

/* See the head of this file. */
static void put_weights(struct writer_state *w, const struct track *track)
{
	const struct profile_value_type *event = &w->p->types.items[track->event];
	bool is_time = strcmp(profile_text(w->p, event->unit), "ns") == 0;
	bool is_bytes = strcmp(profile_text(w->p, event->unit), "bytes") == 0;
	double unit = is_time ? 1e6 : is_bytes ? 1 : mean_weight(w->p, track->event);
	int digits = is_time ? 9 : 17;

	json_string(&w->json, "weightType", is_time ? "tracing-ms" : is_bytes ? "bytes" : "samples");
	json_open(&w->json, "weight", '[');
	for (size_t i = 0; i < track->len; i++) {
		json_number(&w->json, NULL,
			    arena_printf(&w->arena, "%.*g", digits, (double)track->times[i].weight / unit));
		arena_reset(&w->arena);
	}
	json_close(&w->json, ']');
}

/* Numbers stacks and frames, too. */
static void put_samples(struct writer_state *w, const struct track *track)
{
	json_open(&w->json, "samples", '{');
	json_uint(&w->json, "length", track->len);
	json_open(&w->json, "stack", '[');
	for (size_t i = 0; i < track->len; i++)
		json_uint_or_null(&w->json, NULL, firefox_add_stack(&w->tables, &w->p->samples.items[track->times[i].row]));
	json_close(&w->json, ']');
	json_open(&w->json, "time", '[');
	for (size_t i = 0; i < track->len; i++)
		put_ms(w, NULL, track->times[i].time_ns);
	json_close(&w->json, ']');
	put_weights(w, track);
	json_close(&w->json, '}');
}

/* ---- what the thread did when, as markers ---- */

#define STATE_MARKER "state" /* its name in the schema */
#define INTERVAL     "1"     /* of phases */

/* A thread is one under each of its names, and as long as all of them together. */
static uint64_t thread_id(const struct profile *p, uint32_t thread)
{
	return map_pair(p->threads.items[thread].pid, p->threads.items[thread].tid);
}

static int compare_spans(const void *a, const void *b, void *profile)
{
	const struct profile_span *x = a, *y = b;
	int order = COMPARE(thread_id(profile, x->thread), thread_id(profile, y->thread));

	return order ? order : COMPARE(x->from_ns, y->from_ns);
}

static void sort_spans(struct writer_state *w)
{
	vec_append(&w->spans.spans, w->p->spans.spans.items, w->p->spans.spans.len);
	if (w->spans.spans.len)
		qsort_r(w->spans.spans.items, w->spans.spans.len, sizeof(struct profile_span), compare_spans, (void *)w->p);
}

/* The place of the first span of thread @id or of one behind it. */
static size_t first_span(const struct writer_state *w, uint64_t id)
{
	size_t low = 0, high = w->spans.spans.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (thread_id(w->p, w->spans.spans.items[mid].thread) < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* How many spans the thread of the one at @first has from there on. */
static size_t count_spans(const struct writer_state *w, size_t first)
{
	const struct profile_span *spans = w->spans.spans.items;
	size_t end = first;

	while (end < w->spans.spans.len && thread_id(w->p, spans[end].thread) == thread_id(w->p, spans[first].thread))
		end++;
	return end - first;
}

/* What stands behind the profile's strings and the reasons. */
static uint32_t kind_string(const struct writer_state *w, const struct profile_span *span)
{
	return (uint32_t)w->p->strings.len + STACK_STOPS + (uint32_t)wait_frames_span_kind(w->p, span);
}

static void put_state(struct writer_state *w, const struct profile_span *span)
{
	json_open(&w->json, NULL, '{');
	json_string(&w->json, "type", STATE_MARKER);
	if (span->waker != PROFILE_NONE) {
		const struct profile_thread *waker = &w->p->threads.items[span->waker];
		const char *name = text_escape(&w->arena, profile_text(w->p, waker->comm));

		json_string(&w->json, "waker",
			    waker->tid == PROFILE_NONE ? name : arena_printf(&w->arena, "%s %" PRIu32, name, waker->tid));
	}
	if (span->count > 1)
		json_uint(&w->json, "states", span->count);
	json_close(&w->json, '}');
	arena_reset(&w->arena);
}

enum marker_column { COLUMN_DATA, COLUMN_KIND, COLUMN_BEGIN, COLUMN_END };

static void put_marker_column(struct writer_state *w, const char *name, enum marker_column column, size_t first, size_t len)
{
	json_open(&w->json, name, '[');
	for (size_t i = first; i < first + len; i++) {
		const struct profile_span *span = &w->spans.spans.items[i];

		if (column == COLUMN_DATA)
			put_state(w, span);
		else if (column == COLUMN_KIND)
			json_uint(&w->json, NULL, kind_string(w, span));
		else
			put_ms(w, NULL, column == COLUMN_BEGIN ? span->from_ns : span->from_ns + span->len_ns);
	}
	json_close(&w->json, ']');
}

/* On the first track of each thread. */
static void put_markers(struct writer_state *w, const struct track *track)
{
	uint64_t id = thread_id(w->p, track->thread);
	size_t first = first_span(w, id), len = 0;

	if (!track->twin && first < w->spans.spans.len && thread_id(w->p, w->spans.spans.items[first].thread) == id)
		len = count_spans(w, first);

	json_open(&w->json, "markers", '{');
	json_uint(&w->json, "length", len);
	put_marker_column(w, "data", COLUMN_DATA, first, len);
	put_marker_column(w, "name", COLUMN_KIND, first, len);
	put_marker_column(w, "startTime", COLUMN_BEGIN, first, len);
	put_marker_column(w, "endTime", COLUMN_END, first, len);
	firefox_put_same(&w->json, "phase", len, INTERVAL);
	json_open(&w->json, "category", '[');
	for (size_t i = first; i < first + len; i++)
		json_uint(&w->json, NULL, w->spans.spans.items[i].state == PROFILE_STATE_ON_CPU ? FIREFOX_USER : FIREFOX_WAITING);
	json_close(&w->json, ']');
	json_close(&w->json, '}');
}

static void put_schema_field(struct json *json, const char *key, const char *label, const char *format)
{
	json_open(json, NULL, '{');
	json_string(json, "key", key);
	json_string(json, "label", label);
	json_string(json, "format", format);
	json_close(json, '}');
}

static void put_marker_schema(struct json *json)
{
	json_open(json, "markerSchema", '[');
	json_open(json, NULL, '{');
	json_string(json, "name", STATE_MARKER);
	json_open(json, "display", '[');
	json_string(json, NULL, "marker-chart");
	json_string(json, NULL, "marker-table");
	json_close(json, ']');
	json_string(json, "tableLabel", "{marker.data.waker}");
	json_open(json, "fields", '[');
	put_schema_field(json, "waker", "woken by", "string");
	put_schema_field(json, "states", "states", "integer");
	json_close(json, ']');
	json_close(json, '}');
	json_close(json, ']');
}

/* ---- who a track is ---- */

/* The format's IDs are texts, and each thread must have one. */
static const char *id_text(struct writer_state *w, uint32_t id)
{
	return id == PROFILE_NONE ? "unknown" : arena_printf(&w->arena, "%" PRIu32, id);
}

/* See the head of this file. */
static void put_event(struct writer_state *w, const struct track *track)
{
	const struct profile_value_type *event = &w->p->types.items[track->event];
	const char *comm = profile_text(w->p, w->p->threads.items[track->thread].comm);

	json_open(&w->json, "preportEvent", '{');
	json_string(&w->json, "name", text_escape(&w->arena, profile_text(w->p, event->name)));
	json_string(&w->json, "unit", text_escape(&w->arena, profile_text(w->p, event->unit)));
	json_number(&w->json, "mean", arena_printf(&w->arena, "%.17g", mean_weight(w->p, track->event)));
	json_string(&w->json, "thread", text_escape(&w->arena, comm));
	json_close(&w->json, '}');
	arena_reset(&w->arena);
}

/* Thread IDs must be distinct: the second track of one has ".1" behind it. */
static void put_identity(struct writer_state *w, const struct track *track)
{
	const struct profile_thread *thread = &w->p->threads.items[track->thread];
	const char *event = profile_text(w->p, w->p->types.items[track->event].name);
	const char *comm = profile_text(w->p, thread->comm);
	const char *name = track->event == w->facts->first_type ? comm :
				   arena_printf(&w->arena, "%s (%s)", comm, event);

	json_string(&w->json, "name", text_escape(&w->arena, name));
	json_string(&w->json, "processName",
		    text_escape(&w->arena, profile_text(w->p, thread->process)));
	json_string(&w->json, "processType", "default");
	json_bool(&w->json, "isMainThread", thread->tid != PROFILE_NONE && thread->pid == thread->tid && !track->twin);
	json_string(&w->json, "pid", id_text(w, thread->pid));
	json_string(&w->json, "tid",
		    track->twin ? arena_printf(&w->arena, "%s.%" PRIu32, id_text(w, thread->tid),
					       track->twin)
				: id_text(w, thread->tid));
	arena_reset(&w->arena);
}

static void put_track(struct writer_state *w, const struct track *track, uint64_t begin_ns)
{
	map_put(&w->shown, thread_id(w->p, track->thread), NULL);
	json_open(&w->json, NULL, '{');
	put_identity(w, track);
	put_event(w, track);
	json_uint(&w->json, "processStartupTime", 0);
	json_number(&w->json, "processShutdownTime", "null");
	put_ms(w, "registerTime", begin_ns);
	json_number(&w->json, "unregisterTime", "null");
	firefox_put_same(&w->json, "pausedRanges", 0, NULL);
	w->tables.waits = strcmp(profile_text(w->p, w->p->types.items[track->event].name), DERIVE_OFF_CPU) == 0;
	put_samples(w, track);
	firefox_put_tables(&w->json, &w->tables);
	put_markers(w, track);
	json_close(&w->json, '}');
	firefox_tables_clear(&w->tables);
}

static void put_tracks(struct writer_state *w, const struct tracks *tracks)
{
	const struct profile_span *spans = w->spans.spans.items;

	for (size_t i = 0; i < tracks->list.len; i++)
		put_track(w, &tracks->list.items[i], tracks->list.items[i].times[0].time_ns);
	/* Threads of which there is no sample, but what they did is known. */
	for (size_t i = 0; i < w->spans.spans.len; i += count_spans(w, i)) {
		const struct track track = { .event = w->facts->first_type, .thread = spans[i].thread };

		if (!map_get(&w->shown, thread_id(w->p, spans[i].thread)))
			put_track(w, &track, spans[i].from_ns);
	}
}

/* ---- what tracks have in common ---- */

/* Breakpad's form of a build ID: 16 bytes, of which the first 4, 2 and 2 are turned round, and an age of 0. */
static const char *breakpad_id(struct arena *arena, const char *build_id)
{
	static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	char *id = arena_strdup(arena, "000000000000000000000000000000000");
	size_t len = strlen(build_id);

	for (size_t i = 0; i < 16; i++)
		for (size_t digit = 0; digit < 2; digit++) {
			size_t from = 2 * (size_t)order[i] + digit;

			if (from < len)
				id[2 * i + digit] = (char)toupper((unsigned char)build_id[from]);
		}
	return id;
}

static void put_libs(struct writer_state *w)
{
	const struct arch *arch = w->facts->arch;

	json_open(&w->json, "libs", '[');
	for (size_t i = 0; i < w->p->modules.len; i++) {
		const struct profile_module *mod = profile_module(w->p, i);
		const char *name = text_escape(&w->arena, profile_text(w->p, mod->name));
		const char *path = text_escape(&w->arena, profile_text(w->p, mod->path));
		const char *build_id = profile_text(w->p, mod->build_id);

		json_open(&w->json, NULL, '{');
		json_string(&w->json, "arch", arch ? arch->name : "");
		json_string(&w->json, "name", name);
		json_string(&w->json, "path", path);
		json_string(&w->json, "debugName", name);
		json_string(&w->json, "debugPath", path);
		json_string(&w->json, "breakpadId", breakpad_id(&w->arena, build_id));
		if (*build_id)
			json_string(&w->json, "codeId", build_id);
		else
			json_number(&w->json, "codeId", "null");
		json_close(&w->json, '}');
		arena_reset(&w->arena);
	}
	json_close(&w->json, ']');
}

static void put_categories(struct json *json)
{
	json_open(json, "categories", '[');
	for (size_t i = 0; i < ARRAY_LEN(categories); i++) {
		json_open(json, NULL, '{');
		json_string(json, "name", categories[i][0]);
		json_string(json, "color", categories[i][1]);
		json_open(json, "subcategories", '[');
		json_string(json, NULL, "Other");
		json_close(json, ']');
		json_close(json, '}');
	}
	json_close(json, ']');
}

/* Milliseconds between two samples; 1 where the event has no rate. */
static double interval_ms(const struct profile *p, const struct profile_facts *facts)
{
	const struct profile_value_type *event = &p->types.items[facts->first_type];

	if (event->is_freq && event->rate)
		return 1000.0 / (double)event->rate;
	return event->rate && strcmp(profile_text(p, event->unit), "ns") == 0 ?
		       (double)event->rate / 1e6 : 1;
}

static void put_machine(struct writer_state *w)
{
	const struct profile_facts *facts = w->facts;

	json_string(&w->json, "product", text_escape(&w->arena, facts->cmdline));
	json_string(&w->json, "importedFrom", "preport " VERSION);
	if (*facts->os_release)
		json_string(&w->json, "oscpu",
			    text_escape(&w->arena,
					arena_printf(&w->arena, "Linux %s", facts->os_release)));
	if (*facts->cpu_model)
		json_string(&w->json, "CPUName", text_escape(&w->arena, facts->cpu_model));
	if (facts->ncpus)
		json_uint(&w->json, "logicalCPUs", facts->ncpus);
}

static void put_meta(struct writer_state *w)
{
	const struct profile_facts *facts = w->facts;

	json_open(&w->json, "meta", '{');
	json_uint(&w->json, "version", GECKO_VERSION);
	json_uint(&w->json, "preprocessedProfileVersion", PROCESSED_VERSION);
	json_number(&w->json, "interval", arena_printf(&w->arena, "%.6g", interval_ms(w->p, w->facts)));
	/* The page shows no date for null, and reckons with it as it does with 0. */
	json_number(&w->json, "startTime",
		    !facts->has_wall ? "null" :
				       arena_printf(&w->arena, "%" PRIu64 ".%03" PRIu64, facts->wall_ns / 1000000,
						    facts->wall_ns / 1000 % 1000));
	json_uint(&w->json, "processType", 0);
	json_uint(&w->json, "stackwalk", 1);
	json_bool(&w->json, "debug", false);
	json_bool(&w->json, "symbolicated", true);
	json_bool(&w->json, "usesOnlyOneStackType", true);
	json_bool(&w->json, "sourceCodeIsNotOnSearchfox", true);
	put_machine(w);
	put_categories(&w->json);
	put_marker_schema(&w->json);
	json_open(&w->json, "initialSelectedThreads", '[');
	json_uint(&w->json, NULL, 0);
	json_close(&w->json, ']');
	json_close(&w->json, '}');
}

/* The profile's strings, and behind them the reasons and the kinds of waits. */
static void put_strings(struct writer_state *w)
{
	json_open(&w->json, "shared", '{');
	json_open(&w->json, "stringArray", '[');
	for (uint32_t i = 0; i < w->p->strings.len; i++) {
		json_string(&w->json, NULL, text_escape(&w->arena, profile_text(w->p, i)));
		arena_reset(&w->arena);
	}
	for (uint8_t stop = 0; stop < STACK_STOPS; stop++)
		json_string(&w->json, NULL, frame_reason(stop, &w->arena));
	for (enum wait_kind kind = 0; kind < WAIT_KINDS; kind++)
		json_string(&w->json, NULL, wait_kind_name(kind));
	json_close(&w->json, ']');
	json_close(&w->json, '}');
}

static struct err *write_firefox(const struct profile *p, const struct profile_facts *facts, FILE *out)
{
	struct writer_state w = { .p = p, .facts = facts, .tables = { .p = p } };
	CLEANUP(tracks_deinit) struct tracks tracks;

	tracks_init(&tracks, p, facts->first_type);
	sort_spans(&w);
	json_init(&w.json, out);
	w.json.lines = true;
	json_open(&w.json, NULL, '{');
	put_meta(&w);
	put_libs(&w);
	put_strings(&w);
	json_open(&w.json, "threads", '[');
	put_tracks(&w, &tracks);
	json_close(&w.json, ']');
	firefox_put_same(&w.json, "pages", 0, NULL);
	json_close(&w.json, '}');
	firefox_tables_deinit(&w.tables);
	span_list_deinit(&w.spans);
	map_deinit(&w.shown);
	arena_deinit(&w.arena);
	return NULL;
}

const struct export_format export_firefox = {
	.file = "precord.profile.json.gz",
	.with = "profiler.firefox.com, Load a profile from file:",
	.missing = "holds no CPUs, and of weights only time and bytes: those of other events are in units of their mean",
	.times = true,
	.spans = true,
	.gzip = EXPORT_GZIP_ASKED,
	.carries = IMPORT_TIMES | IMPORT_THREADS | IMPORT_LINES | IMPORT_ADDRESSES | IMPORT_INLINED | IMPORT_TYPES,
	.write = write_firefox,
};

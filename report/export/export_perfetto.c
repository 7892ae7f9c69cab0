/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_perfetto.c - Perfetto's packets: samples as its data source linux.perf has them, states of threads as slices.
 *
 *	packet: process_tree			names of processes and threads
 *	packet: timestamp, sequence, interned_data, trace_packet_defaults, perf_sample
 *	packet: timestamp, sequence, track_event
 *
 * Each value type is a sequence of packets, which interns its strings, mappings, frames and call stacks when they occur first. A sample has
 * no weight but the period of its event, so the period is repeated wherever a weight differs from the last one. Fields are those of
 * protos/perfetto/trace: trace_packet.proto, profiling/profile_packet.proto, profiling/profile_common.proto, common/perf_events.proto.
 */
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/proto_writer.h"
#include "formats/base/text.h"
#include "report/export/export_format.h"
#include "report/view/frame_list.h"
#include "report/view/track.h"
#include "report/view/wait_frames.h"

#include <stdlib.h>
#include <string.h>

enum packet_field {
	PACKET_PROCESS_TREE = 2,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
	PACKET_SAMPLE = 66,
};

enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };

/* Fields of interned data. */
enum interned_field {
	INTERNED_FUNCTIONS = 5,
	INTERNED_FRAMES = 6,
	INTERNED_STACKS = 7,
	INTERNED_BUILD_IDS = 16,
	INTERNED_PATHS = 17,
	INTERNED_SOURCES = 18,
	INTERNED_MAPPINGS = 19,
};

enum { COUNTER_CPU_CLOCK = 1, COUNTER_OTHER = 0 };
enum { SLICE_BEGIN = 1, SLICE_END = 2 };

#define NAME_KEY (UINT64_C(1) << 63) /* of a frame that is a thread's name; a location's number has fewer bits */

static const uint8_t frame_kinds[] = {
	[PROFILE_FRAME_NATIVE] = 1, [PROFILE_FRAME_KERNEL] = 2,	 [PROFILE_FRAME_INTERPRETED] = 3,
	[PROFILE_FRAME_JIT] = 4,    [PROFILE_FRAME_RUNTIME] = 6, [PROFILE_FRAME_MARKER] = 6,
};

/* What a value type's packets have contained so far. */
struct sequence {
	bool begun;
	uint64_t period; /* 0: none yet */
	struct map strings[INTERNED_SOURCES + 1]; /* by table and string */
	struct map mappings, frames, stacks, names;
	struct map counts; /* by CPU + 1: the sum of weights */
};

struct perfetto {
	const struct profile *p;
	FILE *out;
	struct proto_writer w;
	struct arena arena;
	struct strtab strings; /* names as they are written */
	struct frame_list list;
	struct sequence *sequences; /* by value type */
	struct sequence *now;	    /* whose packet is being written */
};

static void packet_begin(struct perfetto *o, const uint64_t *time_ns, uint32_t sequence)
{
	proto_begin(&o->w, 1);
	if (time_ns)
		proto_uint(&o->w, PACKET_TIME, *time_ns);
	proto_uint(&o->w, PACKET_SEQUENCE, sequence);
}

static void packet_end(struct perfetto *o)
{
	const struct writer *message = proto_message(&o->w);

	proto_end(&o->w);
	fwrite(message->data, 1, message->len, o->out);
	proto_reset(&o->w);
	arena_reset(&o->arena);
}

/* ---- what is interned ---- */

/* The number of what has @key in @map; *@ret_new if it has to be told. */
static uint64_t number_of(struct map *map, uint64_t key, bool *ret_new)
{
	uint64_t *slot = map_put(map, key, ret_new);

	if (*ret_new)
		*slot = map->len;
	return *slot;
}

static uint64_t intern_bytes(struct perfetto *o, enum interned_field table, const void *data, size_t len)
{
	uint32_t string = strtab_add_len(&o->strings, data, len);
	bool is_new;
	uint64_t number = number_of(&o->now->strings[table], string, &is_new);

	if (!is_new)
		return number;
	proto_begin(&o->w, table);
	proto_uint(&o->w, 1, number);
	proto_bytes(&o->w, 2, data, len);
	proto_end(&o->w);
	return number;
}

static uint64_t intern_text(struct perfetto *o, enum interned_field table, const char *text)
{
	return intern_bytes(o, table, text, strlen(text));
}

static int digit_of(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* As bytes; one that is no hexadecimal number (Go's) as it is. */
static uint64_t intern_build_id(struct perfetto *o, const char *text)
{
	size_t len = strlen(text), made = 0;
	char *bytes = arena_alloc(&o->arena, len / 2 + 1);

	for (; made < len / 2; made++) {
		int high = digit_of(text[2 * made]), low = digit_of(text[2 * made + 1]);

		if (high < 0 || low < 0)
			break;
		bytes[made] = (char)(high << 4 | low);
	}
	if (len % 2 || made < len / 2)
		return intern_text(o, INTERNED_BUILD_IDS, text_escape(&o->arena, text));
	return intern_bytes(o, INTERNED_BUILD_IDS, bytes, made);
}

static uint64_t intern_mapping(struct perfetto *o, uint32_t module)
{
	const struct profile_module *mod = &o->p->modules.items[module];
	const char *path = profile_text(o->p, mod->path ? mod->path : mod->name);
	uint64_t build_id = 0, path_id;
	bool is_new;
	uint64_t number = number_of(&o->now->mappings, module, &is_new);

	if (!is_new)
		return number;
	if (mod->build_id)
		build_id = intern_build_id(o, profile_text(o->p, mod->build_id));
	path_id = intern_text(o, INTERNED_PATHS, text_escape(&o->arena, path + (*path == '/')));
	proto_begin(&o->w, INTERNED_MAPPINGS);
	proto_uint(&o->w, 1, number);
	if (build_id)
		proto_uint(&o->w, 2, build_id);
	proto_uint(&o->w, 7, path_id);
	proto_end(&o->w);
	return number;
}

static void put_frame(struct perfetto *o, const struct frame *frame, uint64_t number)
{
	const struct profile_location *location = &o->p->locations.items[o->p->stacks.items[frame->stack].location];
	bool is_reason = frame->line == FRAME_REASON;
	const struct profile_line *line = is_reason ? NULL : &o->p->lines.items[frame->line];
	uint64_t name = intern_text(o, INTERNED_FUNCTIONS, frame_name(&o->list, frame, o->p, &o->arena));
	uint64_t mapping = is_reason || location->module == PROFILE_NONE ? 0 : intern_mapping(o, location->module);
	uint64_t file = line && line->file ? intern_text(o, INTERNED_SOURCES, text_escape(&o->arena, profile_text(o->p, line->file))) : 0;

	proto_begin(&o->w, INTERNED_FRAMES);
	proto_uint(&o->w, 1, number);
	proto_uint(&o->w, 2, name);
	if (mapping)
		proto_uint(&o->w, 3, mapping);
	if (!is_reason && location->has_vaddr)
		proto_uint(&o->w, 4, profile_address(location));
	if (file)
		proto_uint(&o->w, 5, file);
	if (line && line->line)
		proto_uint(&o->w, 6, line->line);
	proto_uint(&o->w, 7, is_reason ? frame_kinds[PROFILE_FRAME_MARKER] : frame_kinds[location->kind]);
	proto_end(&o->w);
}

/* Frames are the same where location and line are; reasons where they say the same. */
static uint64_t intern_frame(struct perfetto *o, const struct frame *frame)
{
	bool is_reason = frame->line == FRAME_REASON, is_new;
	uint64_t key = is_reason ? UINT64_MAX - o->list.stop : (uint64_t)o->p->stacks.items[frame->stack].location << 32 | frame->line;
	uint64_t number = number_of(&o->now->frames, key, &is_new);

	if (is_new)
		put_frame(o, frame, number);
	return number;
}

/* Samples find their thread by its numbers: one that has only a name is a frame. */
static uint32_t nameless_thread(const struct perfetto *o, const struct profile_sample *row)
{
	const struct profile_thread *thread = &o->p->threads.items[row->thread];

	if (thread->pid != PROFILE_NONE || thread->tid != PROFILE_NONE)
		return 0;
	return thread->process ? thread->process : thread->comm;
}

static uint64_t intern_name(struct perfetto *o, uint32_t name)
{
	bool is_new;
	uint64_t number = number_of(&o->now->frames, NAME_KEY | name, &is_new);
	uint64_t text = is_new ? intern_text(o, INTERNED_FUNCTIONS, text_escape(&o->arena, profile_text(o->p, name))) : 0;

	if (!is_new)
		return number;
	proto_begin(&o->w, INTERNED_FRAMES);
	proto_uint(&o->w, 1, number);
	proto_uint(&o->w, 2, text);
	proto_uint(&o->w, 7, frame_kinds[PROFILE_FRAME_MARKER]);
	proto_end(&o->w);
	return number;
}

/* The numbers of the frames of @row, root first. */
static size_t intern_frames(struct perfetto *o, const struct profile_sample *row, uint64_t **ret)
{
	uint32_t name = nameless_thread(o, row);
	size_t count = 0;

	frame_list_fill(&o->list, o->p, row);
	*ret = ARENA_ARRAY(&o->arena, uint64_t, o->list.frames.len + 1);
	if (name)
		(*ret)[count++] = intern_name(o, name);
	for (size_t i = 0; i < o->list.frames.len; i++)
		(*ret)[count++] = intern_frame(o, &o->list.frames.items[i]);
	return count;
}

static uint64_t intern_stack(struct perfetto *o, const struct profile_sample *row)
{
	uint32_t name = nameless_thread(o, row);
	uint64_t stop = frame_is_needed(row->stop) ? row->stop + 1u : 0, *frames;
	bool is_new;
	uint64_t thread = name ? number_of(&o->now->names, name, &is_new) : 0; /* there are fewer than 2^24 */
	uint64_t number = number_of(&o->now->stacks, thread << 40 | (uint64_t)row->stack << 8 | stop, &is_new);

	if (!is_new)
		return number;

	size_t count = intern_frames(o, row, &frames);

	proto_begin(&o->w, INTERNED_STACKS);
	proto_uint(&o->w, 1, number);
	for (size_t i = 0; i < count; i++)
		proto_uint(&o->w, 2, frames[i]);
	proto_end(&o->w);
	return number;
}

/* ---- samples ---- */

/* The event, with @period, 0 for what is not known. */
static void put_defaults(struct perfetto *o, uint32_t type, uint64_t period)
{
	const struct profile_value_type *from = &o->p->types.items[type];
	bool is_time = strcmp(profile_text(o->p, from->unit), "ns") == 0;

	proto_begin(&o->w, PACKET_DEFAULTS);
	proto_begin(&o->w, 12); /* perf_sample_defaults */
	proto_begin(&o->w, 1);	/* timebase */
	if (period)
		proto_uint(&o->w, 1, period);
	else if (from->is_freq && from->rate)
		proto_uint(&o->w, 2, from->rate);
	proto_uint(&o->w, 4, is_time ? COUNTER_CPU_CLOCK : COUNTER_OTHER);
	proto_text(&o->w, 10, text_escape(&o->arena, profile_text(o->p, from->name)));
	proto_end(&o->w);
	proto_end(&o->w);
	proto_end(&o->w);
}

/* The first packet of a sequence says how often it sampled, if that is known; the weights of samples come with them. */
static void begin_sequence(struct perfetto *o, const uint64_t *time_ns, uint32_t type)
{
	const struct profile_value_type *from = &o->p->types.items[type];

	packet_begin(o, time_ns, type + 1);
	proto_uint(&o->w, PACKET_FLAGS, FLAG_CLEARED | FLAG_NEEDS_STATE);
	put_defaults(o, type, from->is_freq ? 0 : from->rate);
	packet_end(o);
	o->now->begun = true;
	o->now->period = from->is_freq ? 0 : from->rate;
}

/* How much the event has counted on this CPU. */
static uint64_t count_up(struct perfetto *o, uint32_t cpu, uint64_t weight)
{
	uint64_t *count = map_put(&o->now->counts, cpu == PROFILE_NONE ? 0 : (uint64_t)cpu + 1, NULL);

	*count += weight;
	return *count;
}

static void put_sample(struct perfetto *o, const struct profile_sample *row, uint64_t stack, uint64_t weight)
{
	const struct profile_thread *thread = &o->p->threads.items[row->thread];

	proto_begin(&o->w, PACKET_SAMPLE);
	if (row->cpu != PROFILE_NONE)
		proto_uint(&o->w, 1, row->cpu);
	if (thread->pid != PROFILE_NONE)
		proto_uint(&o->w, 2, thread->pid);
	if (thread->tid != PROFILE_NONE)
		proto_uint(&o->w, 3, thread->tid);
	proto_uint(&o->w, 4, stack);
	proto_uint(&o->w, 6, count_up(o, row->cpu, weight));
	proto_end(&o->w);
}

static void put_time(struct perfetto *o, const struct profile_time *time)
{
	const struct profile_sample *row = &o->p->samples.items[time->row];
	const uint64_t *time_ns = o->p->times.len ? &time->time_ns : NULL;
	uint64_t weight = time->weight > 0 ? (uint64_t)time->weight : 0, stack;

	if (!weight)
		return;
	o->now = &o->sequences[row->type];
	if (!o->now->begun)
		begin_sequence(o, time_ns, row->type);
	packet_begin(o, time_ns, row->type + 1);
	proto_uint(&o->w, PACKET_FLAGS, FLAG_NEEDS_STATE);
	proto_begin(&o->w, PACKET_INTERNED);
	stack = intern_stack(o, row);
	proto_end(&o->w);
	if (weight != o->now->period)
		put_defaults(o, row->type, weight);
	o->now->period = weight;
	put_sample(o, row, stack, weight);
	packet_end(o);
}

static void put_samples(struct perfetto *o)
{
	size_t ntimes;
	CLEANUP(memory_freep) struct profile_time *times = track_samples(o->p, &ntimes);

	for (size_t i = 0; i < ntimes; i++)
		put_time(o, &times[i]);
}

/* ---- threads, and what they did when ---- */

static void put_process(struct perfetto *o, const struct profile_thread *thread)
{
	if (thread->pid == PROFILE_NONE || !thread->process)
		return;
	proto_begin(&o->w, 1);
	proto_uint(&o->w, 1, thread->pid);
	proto_text(&o->w, 3, text_escape(&o->arena, profile_text(o->p, thread->process)));
	proto_end(&o->w);
}

static void put_thread(struct perfetto *o, const struct profile_thread *thread)
{
	if (thread->tid == PROFILE_NONE)
		return;
	proto_begin(&o->w, 2);
	proto_uint(&o->w, 1, thread->tid);
	if (thread->comm)
		proto_text(&o->w, 2, text_escape(&o->arena, profile_text(o->p, thread->comm)));
	if (thread->pid != PROFILE_NONE)
		proto_uint(&o->w, 3, thread->pid);
	proto_end(&o->w);
}

static void put_names(struct perfetto *o)
{
	struct map processes = { 0 };

	packet_begin(o, o->p->times.len ? &o->p->times.first_ns : NULL, (uint32_t)o->p->types.len + 1);
	proto_begin(&o->w, PACKET_PROCESS_TREE);
	for (size_t i = 0; i < o->p->threads.len; i++) {
		bool is_new;

		map_put(&processes, o->p->threads.items[i].pid, &is_new);
		if (is_new)
			put_process(o, &o->p->threads.items[i]);
	}
	for (size_t i = 0; i < o->p->threads.len; i++)
		put_thread(o, &o->p->threads.items[i]);
	proto_end(&o->w);
	packet_end(o);
	map_deinit(&processes);
}

/* Each thread with spans is a track, whose number is the thread's, from 1. */
static void put_track(struct perfetto *o, uint32_t number)
{
	const struct profile_thread *thread = &o->p->threads.items[number];
	const char *name = text_escape(&o->arena, profile_text(o->p, thread->comm));

	packet_begin(o, NULL, (uint32_t)o->p->types.len + 1);
	proto_begin(&o->w, PACKET_TRACK);
	proto_uint(&o->w, 1, (uint64_t)number + 1);
	if (thread->pid == PROFILE_NONE || thread->tid == PROFILE_NONE) {
		proto_text(&o->w, 2, name);
	} else {
		proto_begin(&o->w, 4);
		proto_uint(&o->w, 1, thread->pid);
		proto_uint(&o->w, 2, thread->tid);
		proto_text(&o->w, 5, name);
		proto_end(&o->w);
	}
	proto_end(&o->w);
	packet_end(o);
}

/* The begin of a slice called @name, or the end of the last, if that is NULL. */
static void put_slice(struct perfetto *o, uint32_t thread, uint64_t time_ns, const char *name)
{
	packet_begin(o, &time_ns, (uint32_t)o->p->types.len + 1);
	proto_begin(&o->w, PACKET_TRACK_EVENT);
	proto_uint(&o->w, 9, name ? SLICE_BEGIN : SLICE_END);
	proto_uint(&o->w, 11, (uint64_t)thread + 1);
	if (name) {
		proto_text(&o->w, 22, "state");
		proto_text(&o->w, 23, name);
	}
	proto_end(&o->w);
	packet_end(o);
}

/* Slices of a track may not overlap: what a span shares with the one before is that one's. */
static void put_spans(struct perfetto *o)
{
	struct map ends = { 0 };

	for (size_t i = 0; i < o->p->spans.spans.len; i++) {
		const struct profile_span *span = &o->p->spans.spans.items[i];
		bool is_new;
		uint64_t *end = map_put(&ends, span->thread, &is_new), from_ns = MAX(span->from_ns, *end);

		if (is_new)
			put_track(o, span->thread);
		if (from_ns >= span->from_ns + span->len_ns)
			continue;
		*end = span->from_ns + span->len_ns;
		put_slice(o, span->thread, from_ns, wait_kind_name(wait_frames_span_kind(o->p, span)));
		put_slice(o, span->thread, *end, NULL);
	}
	map_deinit(&ends);
}

static void sequence_deinit(struct sequence *sequence)
{
	for (size_t i = 0; i <= INTERNED_SOURCES; i++)
		map_deinit(&sequence->strings[i]);
	map_deinit(&sequence->mappings);
	map_deinit(&sequence->frames);
	map_deinit(&sequence->stacks);
	map_deinit(&sequence->names);
	map_deinit(&sequence->counts);
}

static struct err *write_perfetto(const struct profile *p, const struct profile_facts *facts, FILE *out)
{
	struct perfetto o = { .p = p, .out = out };

	(void)facts;
	o.sequences = memory_zeroed(p->types.len + 1, sizeof(*o.sequences));
	put_names(&o);
	put_spans(&o);
	put_samples(&o);
	for (size_t i = 0; i < p->types.len; i++)
		sequence_deinit(&o.sequences[i]);
	free(o.sequences);
	frame_list_deinit(&o.list);
	strtab_deinit(&o.strings);
	arena_deinit(&o.arena);
	proto_writer_deinit(&o.w);
	return NULL;
}

const struct export_format export_perfetto = {
	.file = "precord.pftrace",
	.with = "https://ui.perfetto.dev, Open trace file:",
	.missing = "holds no labels, no units but ns, and no numbers of samples where their times are not known",
	.times = true,
	.spans = true,
	.gzip = EXPORT_GZIP_NEVER,
	.carries = IMPORT_TIMES | IMPORT_THREADS | IMPORT_LINES | IMPORT_ADDRESSES | IMPORT_TYPES,
	.write = write_perfetto,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_recording.c - tables of which tag is which member. A tag, once given out, keeps its
 * meaning.
 */
#include "formats/trace/trace_recording.h"

#include "formats/event.h"
#include "formats/trace/trace_block.h"
#include "formats/trace/trace_field.h"

#include <inttypes.h>
#include <string.h>

#define REC(tag, kind, member)                                              \
	{                                                                   \
		tag, TRACE_FIELD_##kind, offsetof(struct recording, member) \
	}

static const struct trace_field header_fields[] = {
	REC(2, STRING, tool),
	REC(3, STRING, cmdline),
	REC(4, STRING, hostname),
	REC(5, STRING, os_release),
	REC(6, STRING, cpu_model),
	REC(7, STRING, container),
	REC(8, U32, ncpus_online),
	REC(9, U32, ncpus_possible),
	REC(10, U32, page_size),
	REC(11, U64, memory_len),
	REC(12, U32, clock),
	REC(13, U64, clock_ns),
	REC(14, U64, wall_ns),
	REC(15, U64, start_ns),
	REC(16, U32, chain),
	REC(17, U32, stack_len),
	REC(18, BOOL, raw_stacks),
	REC(19, BOOL, system_wide),
	REC(20, U32, recorder_pid),
	REC(21, U64, kernel_text),
	REC(22, U64, kernel_text_end),
	REC(23, BUILD_ID, kernel_build_id_len),
	REC(26, U32, utc_offset),
	REC(27, BOOL, by_cpu),
	REC(28, U64, code_mask),
	REC(29, BOOL, by_cgroup),
	REC(30, STRING, block_devices),
	{ 0 },
};

#define HEADER_ARCH    1  /* name, as uname -m prints it */
#define HEADER_EVENT   24 /* fields of an event, once for each */
#define HEADER_STREAMS 25 /* number of streams, 1 if it is missing */

#define EV(tag, kind, member)                                                     \
	{                                                                         \
		tag, TRACE_FIELD_##kind, offsetof(struct recording_event, member) \
	}

static const struct trace_field event_fields[] = {
	EV(1, STRING, name),
	EV(2, STRING, unit),
	EV(3, U32, type),
	EV(4, U64, config),
	EV(5, U64, config1),
	EV(6, U64, config2),
	EV(7, BOOL, is_freq),
	EV(8, U64, rate),
	EV(9, U8, precise),
	EV(10, BOOL, exclude_user),
	EV(11, BOOL, exclude_kernel),
	EV(12, BOOL, exclude_hv),
	EV(13, BOOL, samples),
	EV(14, U32, leader),
	EV(15, STRING, format),
	{ 0 },
};

static const struct trace_field end_fields[] = {
	REC(1, U64, end_ns),
	REC(2, I32, exit_status),
	{ 0 },
};

#define END_COUNT     3 /* fields of a count, once for each event and CPU */
#define END_NOTE      4 /* string, once for each that is a sentence */
#define END_KIND_NOTE 5 /* fields of a note of another kind */

#define COUNT(tag, kind, member)                                                  \
	{                                                                         \
		tag, TRACE_FIELD_##kind, offsetof(struct recording_count, member) \
	}

static const struct trace_field count_fields[] = {
	COUNT(1, U32, event),       COUNT(2, U32, cpu),           COUNT(3, U64, samples),
	COUNT(4, U64, lost_kernel), COUNT(5, U64, lost_recorder), COUNT(6, U64, stacks_shortened),
	COUNT(7, U64, stacks_cut),  COUNT(8, U64, throttled),     COUNT(9, U64, enabled_ns),
	COUNT(10, U64, running_ns), COUNT(11, U64, value),        COUNT(12, U64, missed),
	{ 0 },
};

#define NOTE(tag, kind, member)                                                  \
	{                                                                        \
		tag, TRACE_FIELD_##kind, offsetof(struct recording_note, member) \
	}

static const struct trace_field note_fields[] = {
	NOTE(1, U32, kind),	  NOTE(2, U32, count),	 NOTE(3, U32, share),
	NOTE(4, STRING, subject), NOTE(5, STRING, text), { 0 },
};

/* More than any machine has, and few enough not to exhaust it. */
#define EVENTS_MAX    4096
#define COUNTS_MAX (1u << 20)

/* Of a thing on one CPU; COUNTS_MAX times that is a number that does not wrap. */
#define COUNT_MAX (1ULL << 43)

_Static_assert(sizeof(enum recording_chain) == sizeof(uint32_t), "read as TRACE_FIELD_U32");
_Static_assert(offsetof(struct recording, kernel_build_id) ==
		       offsetof(struct recording, kernel_build_id_len) + 1,
	       "as TRACE_FIELD_BUILD_ID wants it");
static void put_nested(struct writer *w, uint64_t tag, const struct trace_field *table,
		       const void *object)
{
	struct writer nested = { 0 };

	trace_fields_put(&nested, table, object);
	trace_field_put_bytes(w, tag, nested.data, nested.len);
	writer_deinit(&nested);
}

void trace_header_put(struct writer *w, const struct recording *rec, uint32_t nstreams)
{
	trace_field_put_bytes(w, HEADER_ARCH, rec->arch->name, strlen(rec->arch->name));
	trace_fields_put(w, header_fields, rec);
	trace_field_put_uint(w, HEADER_STREAMS, nstreams);
	for (size_t i = 0; i < rec->nevents; i++)
		put_nested(w, HEADER_EVENT, event_fields, &rec->events[i]);
}

static void put_note(struct writer *w, const struct recording_note *note)
{
	if (note->kind == RECORDING_NOTE_OTHER)
		trace_field_put_bytes(w, END_NOTE, note->text, strlen(note->text));
	else
		put_nested(w, END_KIND_NOTE, note_fields, note);
}

void trace_end_put(struct writer *w, const struct recording *rec)
{
	trace_fields_put(w, end_fields, rec);
	for (size_t i = 0; i < rec->ncounts; i++)
		put_nested(w, END_COUNT, count_fields, &rec->counts[i]);
	for (size_t i = 0; i < rec->nnotes; i++)
		put_note(w, &rec->notes[i]);
}

/* How many fields with @tag are still to come; more than @max is a failure. */
static size_t count_fields_with(struct reader *fields, uint64_t tag, size_t max)
{
	struct reader r = *fields;
	struct reader value;
	size_t count = 0;
	uint64_t found;

	while (trace_field_next(&r, &found, &value))
		count += found == tag;
	if (count > max)
		reader_fail(fields, "number of fields");
	return count > max ? 0 : count;
}

static void load_nested(struct reader *r, const struct trace_field *table, struct arena *arena,
			void *object)
{
	struct reader value;
	uint64_t tag;

	while (trace_field_next(r, &tag, &value)) {
		trace_field_load(table, tag, &value, arena, object);
		if (value.failed)
			reader_fail(r, value.failed);
	}
}

static struct err *load_arch(struct reader *value, struct recording *rec)
{
	const char *name = trace_field_string(value, &rec->arena);

	rec->arch = arch_by_name(name);
	if (!rec->arch)
		return err_new(ERR_UNSUPPORTED,
			       "recorded on '%s', only x86_64 and aarch64 are known", name);
	return NULL;
}

static void load_event(struct reader *r, struct recording *rec)
{
	struct recording_event *event = &rec->events[rec->nevents++];

	event->name = event->unit = event->format = "";
	load_nested(r, event_fields, &rec->arena, event);
}

static struct err *check_header(const struct recording *rec, uint32_t nstreams)
{
	if (!rec->arch)
		return err_new(ERR_CORRUPT, "the header names no architecture");
	if (rec->chain > RECORDING_CHAIN_UNWOUND)
		return err_new(ERR_CORRUPT, "call chains of kind %u", (unsigned)rec->chain);
	for (size_t i = 0; i < rec->nevents; i++) {
		if (rec->events[i].leader >= rec->nevents)
			return err_new(ERR_CORRUPT, "event %zu is led by event %" PRIu32 " of %zu",
				       i, rec->events[i].leader, rec->nevents);
	}
	if (nstreams == 0 || nstreams > TRACE_STREAM_MAX + 1)
		return err_new(ERR_CORRUPT, "%" PRIu32 " streams", nstreams);
	return NULL;
}

static struct err *load_header_field(uint64_t tag, struct reader *value, struct recording *rec,
				     uint32_t *nstreams)
{
	uint64_t number;

	switch (tag) {
	case HEADER_ARCH:
		return load_arch(value, rec);
	case HEADER_EVENT:
		load_event(value, rec);
		break;
	case HEADER_STREAMS:
		number = reader_uleb(value, "streams");
		*nstreams = (uint32_t)MIN(number, UINT32_MAX);
		break;
	default:
		trace_field_load(header_fields, tag, value, &rec->arena, rec);
	}
	return reader_check(value);
}

struct err *trace_header_load(struct reader *r, struct recording *rec, uint32_t *ret_nstreams)
{
	uint32_t nstreams = 1;
	struct reader value;
	uint64_t tag;

	rec->tool = rec->cmdline = rec->hostname = rec->os_release = "";
	rec->cpu_model = rec->container = rec->block_devices = "";
	rec->exit_status = -1;
	rec->events = ARENA_ARRAY(&rec->arena, struct recording_event,
				  count_fields_with(r, HEADER_EVENT, EVENTS_MAX));
	while (trace_field_next(r, &tag, &value)) {
		struct err *err = load_header_field(tag, &value, rec, &nstreams);

		if (err)
			return err;
	}
	struct err *err = reader_check(r);

	if (!err)
		err = check_header(rec, nstreams);
	if (!err)
		*ret_nstreams = nstreams;
	return err;
}

static void load_count(struct reader *r, struct recording *rec)
{
	struct recording_count count = { 0 };

	load_nested(r, count_fields, &rec->arena, &count);
	if (count.event >= rec->nevents)
		reader_fail(r, "event of a count");
	if ((count.samples | count.lost_kernel | count.lost_recorder | count.stacks_shortened |
	     count.stacks_cut | count.throttled | count.missed) >= COUNT_MAX)
		reader_fail(r, "size of a count");
	if (!r->failed) /* readers index by its event, also when the end is damaged */
		rec->counts[rec->ncounts++] = count;
}

/* A kind of later versions is no more than its text. */
static void load_note(struct reader *r, bool has_kind, struct recording *rec)
{
	struct recording_note note = { .subject = "", .text = "" };
	struct reader value;
	uint64_t tag;

	if (!has_kind)
		note.text = trace_field_string(r, &rec->arena);
	while (has_kind && trace_field_next(r, &tag, &value)) {
		trace_field_load(note_fields, tag, &value, &rec->arena, &note);
		if (value.failed)
			reader_fail(r, value.failed);
	}
	if (note.kind >= RECORDING_NOTE_KINDS)
		note.kind = RECORDING_NOTE_OTHER;
	if (!r->failed)
		rec->notes[rec->nnotes++] = note;
}

struct err *trace_end_load(struct reader *r, struct recording *rec)
{
	struct reader value;
	uint64_t tag;

	rec->ncounts = rec->nnotes = 0;
	rec->counts = ARENA_ARRAY(&rec->arena, struct recording_count,
				  count_fields_with(r, END_COUNT, COUNTS_MAX));
	rec->notes = ARENA_ARRAY(&rec->arena, struct recording_note,
				 count_fields_with(r, END_NOTE, COUNTS_MAX) +
					 count_fields_with(r, END_KIND_NOTE, COUNTS_MAX));
	while (trace_field_next(r, &tag, &value)) {
		if (tag == END_COUNT)
			load_count(&value, rec);
		else if (tag == END_NOTE || tag == END_KIND_NOTE)
			load_note(&value, tag == END_KIND_NOTE, rec);
		else
			trace_field_load(end_fields, tag, &value, &rec->arena, rec);
		if (value.failed)
			return reader_check(&value);
	}
	struct err *err = reader_check(r);

	rec->complete = !err;
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_perfetto.c - Perfetto's trace: the stacks that its data source linux.perf samples.
 *
 *	packet (1): timestamp (8), sequence (10), sequence_flags (13), interned_data (12), perf_sample (66), process_tree (2), …
 *
 * What a sequence interns has a number until its state is cleared: strings, mappings of them, frames of both, call stacks of frames, root
 * first. A packet's interned data count before its sample, wherever they stand in it. Names of threads may come anywhere, so they are read
 * first. All else in a trace (slices, counters, scheduling, heaps) is left out.
 */
#include "formats/base/proto_reader.h"
#include "formats/base/writer.h"
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_ids.h"
#include "formats/profile/import/import_rows.h"

#include <ctype.h>
#include <inttypes.h>

#define SEQUENCES_MAX 4096 /* with interned data; real traces have a few */
#define PACKETS_SEEN  16   /* to recognise one */

/* Fields of a packet. */
enum packet_field {
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_CLEARED = 41,
	PACKET_COMPRESSED = 50,
	PACKET_DEFAULTS = 59,
	PACKET_SAMPLE = 66,
};

/* Fields of interned data, in an order in which each means only earlier ones. */
enum table { FUNCTION_NAMES, BUILD_IDS, PATHS, SOURCES, MAPPINGS, FRAMES, CALLSTACKS, TABLES };
static const uint32_t table_fields[TABLES] = { 5, 16, 17, 18, 19, 6, 7 };

struct sequence {
	struct import_ids tables[TABLES]; /* strings, modules, locations, stacks of the profile */
	uint32_t event;			  /* string: what was sampled; 0: not known */
	uint32_t type;			  /* of the profile; PROFILE_NONE: not known yet */
	bool counts_ns;			  /* its event is a clock */
	bool has_defaults;
	uint64_t period;		  /* 0: not known, or it has a rate */
	uint64_t first_period, rate;	  /* as they were first given; 0 */
};

struct perfetto {
	struct profile *p;
	VEC(struct sequence) sequences;
	struct import_ids sequence_ids;
	struct map threads; /* tid -> process << 32 | name */
	struct map processes; /* pid -> name */
	struct writer text;
	uint64_t lost, skipped, compressed, without_stack;
	bool too_many;
};

/* What is looked at in a packet. */
struct packet {
	uint64_t time, sequence;
	bool has_time, cleared, compressed;
	struct reader interned, sample, tree, defaults; /* empty: not there */
};

static bool read_packet(struct reader r, struct packet *ret)
{
	struct proto_field field;

	*ret = (struct packet){ 0 };
	while (proto_next(&r, &field)) {
		if (field.number == PACKET_TIME) {
			ret->time = field.value;
			ret->has_time = true;
		} else if (field.number == PACKET_SEQUENCE) {
			ret->sequence = field.value;
		} else if (field.number == PACKET_FLAGS) {
			ret->cleared |= field.value & 1;
		} else if (field.number == PACKET_CLEARED) {
			ret->cleared |= field.value != 0;
		} else if (field.number == PACKET_COMPRESSED) {
			ret->compressed = true;
		} else if (field.wire != PROTO_BYTES) {
			continue;
		} else if (field.number == PACKET_INTERNED) {
			ret->interned = field.bytes;
		} else if (field.number == PACKET_SAMPLE) {
			ret->sample = field.bytes;
		} else if (field.number == PACKET_PROCESS_TREE) {
			ret->tree = field.bytes;
		} else if (field.number == PACKET_DEFAULTS) {
			ret->defaults = field.bytes;
		}
	}
	return !r.failed;
}

/* Packets, of which one says where it comes from; a pprof file begins with a message of two small numbers, OTLP's with one of messages. */
static unsigned recognise(const uint8_t *start, size_t len)
{
	struct proto_field field;
	struct packet packet;
	struct reader r;
	bool found = false;

	reader_init(&r, start, len, /* big_endian= */ false);
	for (unsigned i = 0; i < PACKETS_SEEN && proto_next(&r, &field); i++) {
		if (field.number != 1 || field.wire != PROTO_BYTES || !read_packet(field.bytes, &packet))
			return 0;
		found = found || packet.sequence || packet.compressed;
	}
	return found ? 85 : 0;
}

static struct json_text text_of(const struct proto_field *field)
{
	return (struct json_text){ (const char *)field->bytes.pos, reader_left(&field->bytes) };
}

/* ---- threads and events ---- */

static void read_task(struct perfetto *in, struct reader r, bool thread)
{
	uint64_t id = 0, process = PROFILE_NONE;
	struct proto_field field;
	uint32_t name = 0;

	while (proto_next(&r, &field)) {
		if (field.number == 1)
			id = field.value;
		else if (field.number == 3 && thread)
			process = field.value;
		else if (field.number == (thread ? 2 : 3) && field.wire == PROTO_BYTES && !name)
			name = import_text(in->p, text_of(&field)); /* of a process its command line, of which the first word counts */
	}
	if (thread)
		*map_put(&in->threads, id, NULL) = process << 32 | name;
	else if (name)
		*map_put(&in->processes, id, NULL) = name;
}

static void read_tree(struct perfetto *in, struct reader r)
{
	struct proto_field field;

	while (proto_next(&r, &field))
		if (field.wire == PROTO_BYTES && (field.number == 1 || field.number == 2))
			read_task(in, field.bytes, field.number == 2);
}

static const char *counter_name(uint64_t counter)
{
	static const char *const names[] = { "samples", "cpu-clock", "page-faults", "task-clock", "context-switches", "cpu-migrations", "minor-faults",
					     "major-faults", "alignment-faults", "emulation-faults", "cycles", "instructions", "cache-references",
					     "cache-misses", "branches", "branch-misses", "bus-cycles", "stalled-cycles-frontend",
					     "stalled-cycles-backend", "ref-cycles" };

	return names[counter < ARRAY_LEN(names) ? counter : 0];
}

#define COUNTER_CPU_CLOCK  1
#define COUNTER_TASK_CLOCK 3

/* The event whose overflow takes samples. Its period may be given again (preport does so where weights differ); the first one is the sampling rate. */
static void read_timebase(struct perfetto *in, struct sequence *sequence, struct reader r)
{
	struct proto_field field;
	uint64_t rate = 0, counter = 0;

	sequence->event = profile_string(in->p, counter_name(0));
	sequence->period = 0;
	while (proto_next(&r, &field)) {
		if (field.number == 1) {
			sequence->period = MIN(field.value, (uint64_t)INT64_MAX);
		} else if (field.number == 2) {
			rate = field.value;
		} else if (field.number == 4) {
			counter = field.value;
			sequence->event = profile_string(in->p, counter_name(counter));
		} else if (field.number == 10 && field.wire == PROTO_BYTES) {
			sequence->event = import_text(in->p, text_of(&field));
		}
	}
	sequence->counts_ns = counter == COUNTER_CPU_CLOCK || counter == COUNTER_TASK_CLOCK;
	if (!sequence->has_defaults) {
		sequence->first_period = sequence->period;
		sequence->rate = rate;
	}
	sequence->has_defaults = true;
	sequence->type = PROFILE_NONE;
}

/* Without a period a sample counts as one, also of a clock. */
static uint32_t type_of(struct perfetto *in, struct sequence *sequence)
{
	const char *unit = sequence->counts_ns && sequence->period ? "ns" : "events";
	struct profile_value_type *type;

	if (sequence->type != PROFILE_NONE)
		return sequence->type;
	sequence->type = import_type(in->p, sequence->event ? profile_text(in->p, sequence->event) : "samples", unit);
	if (sequence->type == PROFILE_NONE)
		return 0;
	type = &in->p->types.items[sequence->type];
	type->rate = sequence->first_period ? sequence->first_period : sequence->rate;
	type->is_freq = !sequence->first_period && sequence->rate;
	return sequence->type;
}

/* Defaults of packets, of samples, the timebase. */
static void read_defaults(struct perfetto *in, struct sequence *sequence, struct reader r)
{
	struct proto_field field, inner;

	while (proto_next(&r, &field)) {
		if (field.number != 12 || field.wire != PROTO_BYTES)
			continue;
		while (proto_next(&field.bytes, &inner))
			if (inner.number == 1 && inner.wire == PROTO_BYTES)
				read_timebase(in, sequence, inner.bytes);
	}
}

/* ---- what is interned ---- */

static uint32_t string_of(const struct sequence *sequence, enum table table, uint64_t id)
{
	uint32_t found = id ? import_ids_get(&sequence->tables[table], id) : PROFILE_NONE;

	return found == PROFILE_NONE ? 0 : found;
}

/* Raw bytes, or digits already. */
static uint32_t build_id(struct perfetto *in, struct json_text text)
{
	bool digits = true;

	for (size_t i = 0; i < text.len; i++)
		digits = digits && isxdigit((unsigned char)text.data[i]);
	if (digits || text.len > 64)
		return import_text(in->p, text);
	in->text.len = 0;
	for (size_t i = 0; i < text.len; i++) {
		char two[3];

		snprintf(two, sizeof(two), "%02x", (unsigned char)text.data[i]);
		writer_bytes(&in->text, two, 2);
	}
	return import_text(in->p, (struct json_text){ (const char *)in->text.data, in->text.len });
}

static void add_part(struct perfetto *in, const char *part)
{
	if (*part != '[')
		writer_u8(&in->text, '/');
	writer_bytes(&in->text, part, strlen(part));
}

static uint32_t read_mapping(struct perfetto *in, struct sequence *sequence, struct reader r)
{
	struct profile_module mod = { 0 };
	struct proto_field field;
	const char *path;
	uint32_t module;

	in->text.len = 0;
	while (proto_next(&r, &field)) {
		uint32_t at = 0;
		uint64_t id;

		if (field.number == 2)
			mod.build_id = string_of(sequence, BUILD_IDS, field.value);
		while (field.number == 7 && proto_number(&field, &at, &id))
			add_part(in, profile_text(in->p, string_of(sequence, PATHS, id)));
	}
	mod.path = import_text(in->p, (struct json_text){ (const char *)in->text.data, in->text.len });
	path = profile_text(in->p, mod.path);
	mod.kind = strncmp(path, "[kernel", 7) == 0 ? PROFILE_KERNEL : PROFILE_USER;
	if (!mod.path)
		return PROFILE_NONE - 1; /* known, and of no file */
	mod.name = profile_string(in->p, strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	module = profile_add_module(in->p, &mod);
	return module;
}

static enum profile_frame_kind kind_of(uint64_t kind, bool kernel)
{
	static const enum profile_frame_kind kinds[] = { PROFILE_FRAME_NATIVE,	    PROFILE_FRAME_NATIVE, PROFILE_FRAME_KERNEL,
							 PROFILE_FRAME_INTERPRETED, PROFILE_FRAME_JIT,	  PROFILE_FRAME_RUNTIME,
							 PROFILE_FRAME_RUNTIME };

	if (!kind && kernel)
		return PROFILE_FRAME_KERNEL;
	return kinds[kind < ARRAY_LEN(kinds) ? kind : 0];
}

/* Inlined functions are frames of one address each: those behind the first have no address here. */
static uint32_t named_location(struct perfetto *in, const struct import_frame *frame, bool has_pc, uint64_t pc)
{
	const struct profile_function function = { .name = frame->name, .module = frame->module, .file = frame->file };
	const struct profile_line line = { .function = profile_add_function(in->p, &function), .file = frame->file, .line = frame->line };
	struct profile_location *known;
	uint32_t location;

	if (frame->module == PROFILE_NONE || !has_pc)
		return profile_add_named_location(in->p, frame->kind, frame->module, &line, 1);
	location = profile_add_location(in->p, frame->module, pc, frame->kind);
	known = &in->p->locations.items[location];
	if (!known->nlines)
		profile_set_lines(in->p, location, &line, 1);
	else if (in->p->lines.items[known->first_line].function != line.function)
		return profile_add_named_location(in->p, frame->kind, frame->module, &line, 1);
	return location;
}

static uint32_t read_frame(struct perfetto *in, struct sequence *sequence, struct reader r)
{
	struct import_frame frame = { .module = PROFILE_NONE };
	uint64_t pc = 0, kind = 0;
	struct proto_field field;
	bool has_pc = false;

	while (proto_next(&r, &field)) {
		if (field.number == 2) {
			frame.name = string_of(sequence, FUNCTION_NAMES, field.value);
		} else if (field.number == 3 && field.value) {
			frame.module = import_ids_get(&sequence->tables[MAPPINGS], field.value);
		} else if (field.number == 4) {
			pc = field.value;
			has_pc = true;
		} else if (field.number == 5) {
			frame.file = string_of(sequence, SOURCES, field.value);
		} else if (field.number == 6) {
			frame.line = (uint32_t)MIN(field.value, (uint64_t)UINT32_MAX - 1);
		} else if (field.number == 7) {
			kind = field.value;
		}
	}
	if (frame.module >= in->p->modules.len)
		frame.module = PROFILE_NONE;
	frame.kind = kind_of(kind, profile_module(in->p, frame.module)->kind == PROFILE_KERNEL);
	return frame.name ? named_location(in, &frame, has_pc, pc) : import_unnamed(in->p, frame.module, pc);
}

static uint32_t read_callstack(struct perfetto *in, struct sequence *sequence, struct reader r)
{
	struct proto_field field;
	uint32_t stack = 0;

	while (proto_next(&r, &field)) {
		uint32_t at = 0;
		uint64_t id;

		while (field.number == 2 && proto_number(&field, &at, &id)) {
			uint32_t location = import_ids_get(&sequence->tables[FRAMES], id);

			if (location == PROFILE_NONE)
				location = import_unnamed(in->p, PROFILE_NONE, 0);
			stack = import_stack(in->p, stack, location);
		}
	}
	return stack;
}

static void read_entry(struct perfetto *in, struct sequence *sequence, enum table table, struct reader r)
{
	struct reader again = r;
	struct proto_field field;
	struct json_text text = { "", 0 };
	uint64_t id = 0;
	uint32_t made;

	while (proto_next(&r, &field)) {
		if (field.number == 1)
			id = field.value;
		else if (field.number == 2 && field.wire == PROTO_BYTES)
			text = text_of(&field);
	}
	if (table == MAPPINGS)
		made = read_mapping(in, sequence, again);
	else if (table == FRAMES)
		made = read_frame(in, sequence, again);
	else if (table == CALLSTACKS)
		made = read_callstack(in, sequence, again);
	else
		made = table == BUILD_IDS ? build_id(in, text) : import_text(in->p, text);
	import_ids_put(&sequence->tables[table], id, made);
}

static void read_interned(struct perfetto *in, struct sequence *sequence, struct reader r)
{
	for (enum table table = 0; table < TABLES; table++) {
		struct reader all = r;
		struct proto_field field;

		while (proto_next(&all, &field))
			if (field.number == table_fields[table] && field.wire == PROTO_BYTES)
				read_entry(in, sequence, table, field.bytes);
	}
}

/* ---- samples ---- */

static void clear(struct sequence *sequence)
{
	for (size_t i = 0; i < TABLES; i++)
		import_ids_deinit(&sequence->tables[i]);
	*sequence = (struct sequence){ .type = PROFILE_NONE };
}

/* NULL if it has interned nothing and @make is false, or there are too many. */
static struct sequence *sequence_of(struct perfetto *in, uint64_t id, bool make)
{
	uint32_t number = import_ids_get(&in->sequence_ids, id);
	const struct sequence fresh = { .type = PROFILE_NONE };

	if (number != PROFILE_NONE)
		return &in->sequences.items[number];
	in->too_many = in->too_many || (make && in->sequences.len >= SEQUENCES_MAX);
	if (!make || in->sequences.len >= SEQUENCES_MAX)
		return NULL;
	import_ids_put(&in->sequence_ids, id, (uint32_t)in->sequences.len);
	vec_push(&in->sequences, fresh);
	return &in->sequences.items[in->sequences.len - 1];
}

static uint32_t thread_of(struct perfetto *in, uint32_t pid, uint32_t tid)
{
	const uint64_t *thread = map_get(&in->threads, tid);
	const uint64_t *process = map_get(&in->processes, pid), *leader = map_get(&in->threads, pid);

	return import_thread(in->p, pid, tid, process ? (uint32_t)*process : leader ? (uint32_t)*leader : 0, thread ? (uint32_t)*thread : 0);
}

static void add_sample(struct perfetto *in, struct sequence *sequence, const struct packet *packet)
{
	struct import_sample sample = { .count = 1, .weight = 1, .has_time = packet->has_time, .time_ns = packet->time };
	struct reader r = packet->sample;
	struct proto_field field;
	uint64_t pid = PROFILE_NONE, tid = PROFILE_NONE, stack = 0, lost = 0;
	bool skipped = false;

	while (proto_next(&r, &field)) {
		if (field.number == 1) {
			sample.has_cpu = true;
			sample.cpu = (uint32_t)MIN(field.value, (uint64_t)PROFILE_NONE - 1);
		} else if (field.number == 2) {
			pid = field.value;
		} else if (field.number == 3) {
			tid = field.value;
		} else if (field.number == 4) {
			stack = field.value;
		} else if (field.number == 17) {
			lost = field.value;
		} else if (field.number == 18) {
			skipped = true;
		}
	}
	in->lost += lost;
	in->skipped += skipped;
	if (lost || skipped)
		return;
	sample.stack = sequence && stack ? import_ids_get(&sequence->tables[CALLSTACKS], stack) : PROFILE_NONE;
	if (sample.stack == PROFILE_NONE) {
		in->without_stack++;
		return;
	}
	sample.type = type_of(in, sequence);
	sample.weight = sequence->period ? (int64_t)sequence->period : 1;
	sample.thread = thread_of(in, (uint32_t)pid, (uint32_t)tid);
	import_sample(in->p, &sample);
}

static void take_packet(struct perfetto *in, const struct packet *packet)
{
	bool makes = packet->interned.pos || packet->defaults.pos;
	struct sequence *sequence = sequence_of(in, packet->sequence, makes);

	if (sequence && packet->cleared)
		clear(sequence);
	if (sequence && packet->defaults.pos)
		read_defaults(in, sequence, packet->defaults);
	if (sequence && packet->interned.pos)
		read_interned(in, sequence, packet->interned);
	if (packet->sample.pos)
		add_sample(in, sequence, packet);
}

static struct err *read_packets(struct perfetto *in, const struct import_input *input, bool names)
{
	struct proto_field field;
	struct packet packet;
	struct reader r;

	reader_init(&r, input->data, input->len, /* big_endian= */ false);
	while (proto_next(&r, &field)) {
		if (field.number != 1 || field.wire != PROTO_BYTES)
			continue;
		if (!read_packet(field.bytes, &packet))
			return err_new(ERR_CORRUPT, "the packet that begins at offset %" PRIu64 " is damaged", field.bytes.offset);
		if (names && packet.tree.pos)
			read_tree(in, packet.tree);
		else if (!names)
			take_packet(in, &packet);
		in->compressed += names && packet.compressed;
	}
	if (in->too_many)
		return err_new(ERR_UNSUPPORTED, "it has more than %d sequences with data of their own", SEQUENCES_MAX);
	return reader_check(&r);
}

static void warn(const struct perfetto *in, struct diag *diag)
{
	if (in->compressed)
		diag_warn(diag, "compressed packets, which are left out: %" PRIu64 "; 'traceconv decompress_packets' unpacks them",
			  in->compressed);
	if (in->lost)
		diag_warn(diag, "records that the kernel had no room for: %" PRIu64, in->lost);
	if (in->skipped)
		diag_warn(diag, "samples that the profiler skipped: %" PRIu64, in->skipped);
	if (in->without_stack)
		diag_warn(diag, "samples without a stack, which are left out: %" PRIu64, in->without_stack);
}

static struct err *read_perfetto(const struct import_input *input, struct profile *p, struct profile_facts *facts, struct diag *diag)
{
	struct perfetto in = { .p = p };
	struct err *err = read_packets(&in, input, /* names= */ true);

	(void)facts;
	if (!err)
		err = read_packets(&in, input, /* names= */ false);
	warn(&in, diag);
	for (size_t i = 0; i < in.sequences.len; i++)
		clear(&in.sequences.items[i]);
	vec_deinit(&in.sequences);
	import_ids_deinit(&in.sequence_ids);
	map_deinit(&in.threads);
	map_deinit(&in.processes);
	writer_deinit(&in.text);
	return err;
}

const struct importer import_perfetto = {
	.name = "perfetto",
	.what = "Perfetto's trace: the stacks that linux.perf sampled",
	.extensions = ".perfetto-trace .pftrace",
	.carries = IMPORT_TIMES | IMPORT_THREADS | IMPORT_LINES | IMPORT_ADDRESSES | IMPORT_TYPES,
	.recognise = recognise,
	.read = read_perfetto,
};

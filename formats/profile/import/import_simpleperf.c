/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_simpleperf.c - what `simpleperf report-sample --protobuf` writes on Android (its report_sample.proto).
 *
 *	"SIMPLEPERF", version (2 bytes, 1), and records: length (4 bytes), a message of that length; length 0 ends them
 *
 * A record is a sample, a file with its symbols, a thread, what was lost, or what the recording was. Files and threads stand behind
 * the samples that mean them, so they are read first. Records of context switches are left out: they have no stacks.
 */
#include "formats/base/proto_reader.h"
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_ids.h"
#include "formats/profile/import/import_rows.h"

#include <inttypes.h>

#define MAGIC	    "SIMPLEPERF"
#define MAGIC_LEN   10
#define SYMBOLS_MAX (UINT32_MAX / 2)

enum record_field { RECORD_SAMPLE = 1, RECORD_LOST, RECORD_FILE, RECORD_THREAD, RECORD_META };
enum method { METHOD_NATIVE, METHOD_INTERPRETED, METHOD_JIT, METHOD_ART };

struct simpleperf_file {
	uint32_t module;		 /* of the profile, or PROFILE_NONE */
	bool kernel;
	uint32_t first, count;		 /* symbols */
	uint32_t first_mangled, mangled; /* the same names as in the file, or none */
};

struct simpleperf_thread {
	uint32_t tid, pid, name;
};

struct simpleperf {
	struct profile *p;
	VEC(struct simpleperf_file) files;
	VEC(uint32_t) symbols; /* strings, of all files */
	VEC(struct simpleperf_thread) threads;
	VEC(uint32_t) types; /* of the profile, by the numbers of the file */
	struct import_ids file_ids, thread_ids;
	VEC(uint32_t) path; /* locations, leaf first */
	uint64_t lost;
	struct json_text package;
};

static unsigned recognise(const uint8_t *start, size_t len)
{
	return len >= MAGIC_LEN && memcmp(start, MAGIC, MAGIC_LEN) == 0 ? 100 : 0;
}

static struct json_text text_of(const struct proto_field *field)
{
	return (struct json_text){ (const char *)field->bytes.pos, reader_left(&field->bytes) };
}

/* ---- files, threads, events ---- */

/* The texts of field @number of a file; how many there are. */
static uint32_t read_symbols(struct simpleperf *in, struct reader r, uint32_t number)
{
	struct proto_field field;
	uint32_t count = 0;

	while (proto_next(&r, &field)) {
		if (field.number != number || field.wire != PROTO_BYTES || in->symbols.len >= SYMBOLS_MAX)
			continue;
		vec_push(&in->symbols, import_text(in->p, text_of(&field)));
		count++;
	}
	return count;
}

static void read_file(struct simpleperf *in, struct reader *r)
{
	struct simpleperf_file file = { .first = (uint32_t)in->symbols.len };
	struct json_text path = { "", 0 };
	struct proto_field field;
	uint64_t id = 0;

	file.count = read_symbols(in, *r, 3);
	file.first_mangled = (uint32_t)in->symbols.len;
	file.mangled = read_symbols(in, *r, 4);
	while (proto_next(r, &field)) {
		if (field.number == 1)
			id = field.value;
		else if (field.number == 2 && field.wire == PROTO_BYTES)
			path = text_of(&field);
	}
	file.kernel = path.len > 7 && memcmp(path.data, "[kernel", 7) == 0;
	file.module = import_module(in->p, path, file.kernel ? PROFILE_KERNEL : PROFILE_USER);
	import_ids_put(&in->file_ids, id, (uint32_t)in->files.len);
	vec_push(&in->files, file);
}

static void read_thread(struct simpleperf *in, struct reader *r)
{
	struct simpleperf_thread thread = { .tid = PROFILE_NONE, .pid = PROFILE_NONE };
	struct proto_field field;

	while (proto_next(r, &field)) {
		if (field.number == 1)
			thread.tid = (uint32_t)field.value;
		else if (field.number == 2)
			thread.pid = (uint32_t)field.value;
		else if (field.number == 3 && field.wire == PROTO_BYTES)
			thread.name = import_text(in->p, text_of(&field));
	}
	import_ids_put(&in->thread_ids, thread.tid, (uint32_t)in->threads.len);
	vec_push(&in->threads, thread);
}

/* "cpu-clock:u" counts nanoseconds. */
static uint32_t type_of(struct simpleperf *in, struct json_text name)
{
	const char *text = profile_text(in->p, import_text(in->p, name));
	size_t len = strcspn(text, ":");
	bool clock = (len == 9 && memcmp(text, "cpu-clock", 9) == 0) || (len == 10 && memcmp(text, "task-clock", 10) == 0);

	return import_type(in->p, text, clock ? "ns" : "events");
}

static void read_meta(struct simpleperf *in, struct reader *r)
{
	struct proto_field field;

	while (proto_next(r, &field)) {
		if (field.number == 1 && field.wire == PROTO_BYTES)
			vec_push(&in->types, type_of(in, text_of(&field)));
		else if (field.number == 2 && field.wire == PROTO_BYTES)
			in->package = text_of(&field);
	}
}

static void read_lost(struct simpleperf *in, struct reader *r)
{
	struct proto_field field;

	while (proto_next(r, &field))
		if (field.number == 2)
			in->lost += field.value;
}

/* ---- samples ---- */

struct call {
	uint64_t vaddr, file, method;
	int32_t symbol; /* -1: not known */
};

static enum profile_frame_kind kind_of(const struct call *call, bool kernel)
{
	if (call->method == METHOD_INTERPRETED)
		return PROFILE_FRAME_INTERPRETED;
	if (call->method == METHOD_JIT)
		return PROFILE_FRAME_JIT;
	return kernel ? PROFILE_FRAME_KERNEL : PROFILE_FRAME_NATIVE;
}

/* The location of @call; its function has the name that the file's table of symbols has for it. */
static uint32_t location_of(struct simpleperf *in, const struct call *call)
{
	uint32_t number = import_ids_get(&in->file_ids, call->file), location;
	const struct simpleperf_file *file = number == PROFILE_NONE ? NULL : &in->files.items[number];
	struct profile_function function = { .module = file ? file->module : PROFILE_NONE };
	struct profile_line line = { 0 };

	if (!file || call->symbol < 0 || (uint32_t)call->symbol >= file->count)
		return import_unnamed(in->p, function.module, call->vaddr);
	function.name = in->symbols.items[file->first + (uint32_t)call->symbol];
	if ((uint32_t)call->symbol < file->mangled)
		function.linkage_name = in->symbols.items[file->first_mangled + (uint32_t)call->symbol];
	line.function = profile_add_function(in->p, &function);
	if (function.module == PROFILE_NONE)
		return profile_add_named_location(in->p, kind_of(call, file->kernel), PROFILE_NONE, &line, 1);
	location = profile_add_location(in->p, function.module, call->vaddr, kind_of(call, file->kernel));
	if (!in->p->locations.items[location].nlines)
		profile_set_lines(in->p, location, &line, 1);
	return location;
}

static void read_call(struct simpleperf *in, struct reader *r)
{
	struct call call = { .symbol = -1 };
	struct proto_field field;

	while (proto_next(r, &field)) {
		if (field.number == 1)
			call.vaddr = field.value;
		else if (field.number == 2)
			call.file = field.value;
		else if (field.number == 3)
			call.symbol = (int32_t)field.value;
		else if (field.number == 4)
			call.method = field.value;
	}
	if (!r->failed)
		vec_push(&in->path, location_of(in, &call));
}

static uint32_t thread_of(struct simpleperf *in, uint32_t tid)
{
	uint32_t number = import_ids_get(&in->thread_ids, tid), leader;
	const struct simpleperf_thread *thread;

	if (number == PROFILE_NONE)
		return import_thread(in->p, PROFILE_NONE, tid, 0, 0);
	thread = &in->threads.items[number];
	leader = import_ids_get(&in->thread_ids, thread->pid);
	return import_thread(in->p, thread->pid, tid, leader == PROFILE_NONE ? 0 : in->threads.items[leader].name, thread->name);
}

static void read_sample(struct simpleperf *in, struct reader *r)
{
	struct import_sample sample = { .count = 1 };
	struct proto_field field;
	uint64_t type = 0, weight = 0;
	uint32_t tid = PROFILE_NONE;

	in->path.len = 0;
	while (proto_next(r, &field)) {
		if (field.number == 1) {
			sample.time_ns = field.value;
			sample.has_time = true;
		} else if (field.number == 2) {
			tid = (uint32_t)field.value;
		} else if (field.number == 3 && field.wire == PROTO_BYTES) {
			read_call(in, &field.bytes);
			if (field.bytes.failed)
				*r = field.bytes;
		} else if (field.number == 4) {
			weight = field.value;
		} else if (field.number == 5) {
			type = field.value;
		}
	}
	if (r->failed)
		return;
	for (size_t i = in->path.len; i > 0; i--)
		sample.stack = import_stack(in->p, sample.stack, in->path.items[i - 1]);
	sample.type = type < in->types.len ? in->types.items[type] : import_type(in->p, "events", "events");
	sample.thread = thread_of(in, tid);
	sample.weight = (int64_t)MIN(weight, (uint64_t)INT64_MAX);
	if (sample.type == PROFILE_NONE)
		sample.type = 0;
	import_sample(in->p, &sample);
}

/* ---- records ---- */

static void read_message(struct simpleperf *in, struct proto_field *field, bool samples)
{
	struct reader *r = &field->bytes;

	if (field->wire != PROTO_BYTES || (field->number == RECORD_SAMPLE) != samples)
		return;
	if (field->number == RECORD_SAMPLE)
		read_sample(in, r);
	else if (field->number == RECORD_FILE)
		read_file(in, r);
	else if (field->number == RECORD_THREAD)
		read_thread(in, r);
	else if (field->number == RECORD_META)
		read_meta(in, r);
	else if (field->number == RECORD_LOST)
		read_lost(in, r);
}

/* Samples, or all else; *@ret_whole: the end that the format has was found. */
static struct err *read_records(struct simpleperf *in, struct reader r, bool samples, bool *ret_whole)
{
	uint32_t len;

	*ret_whole = false;
	while (reader_left(&r) >= 4) {
		struct proto_field field;
		struct reader record;

		len = reader_u32(&r, "a record's length");
		*ret_whole = len == 0;
		if (!len || len > reader_left(&r))
			break;
		record = reader_slice(&r, len, "a record");
		while (proto_next(&record, &field)) {
			read_message(in, &field, samples);
			if (field.bytes.failed)
				return reader_check(&field.bytes);
		}
		if (record.failed)
			return reader_check(&record);
	}
	return NULL;
}

static struct err *read_all(struct simpleperf *in, struct reader *r, struct diag *diag)
{
	bool whole;
	struct err *err = read_records(in, *r, /* samples= */ false, &whole);

	if (!err)
		err = read_records(in, *r, /* samples= */ true, &whole);
	if (!err && !whole)
		diag_warn(diag, "the file ends before its last record: samples, and names of functions and threads, may be missing");
	if (!err && in->lost)
		diag_warn(diag, "%" PRIu64 " samples were lost while it was recorded", in->lost);
	return err;
}

static struct err *read_simpleperf(const struct import_input *input, struct profile *p, struct profile_facts *facts, struct diag *diag)
{
	struct simpleperf in = { .p = p };
	struct reader r;
	struct err *err;
	uint16_t version;

	reader_init(&r, input->data, input->len, /* big_endian= */ false);
	reader_skip(&r, MAGIC_LEN, "the magic number");
	version = reader_u16(&r, "the version");
	if (r.failed)
		return reader_check(&r);
	if (version != 1)
		return err_new(ERR_UNSUPPORTED, "version %u of simpleperf's samples is not known", version);
	err = read_all(&in, &r, diag);
	if (in.package.len)
		facts->comment = arena_printf(&facts->arena, "%.*s", (int)MIN(in.package.len, (size_t)4096), in.package.data);
	vec_deinit(&in.files);
	vec_deinit(&in.symbols);
	vec_deinit(&in.threads);
	vec_deinit(&in.types);
	vec_deinit(&in.path);
	import_ids_deinit(&in.file_ids);
	import_ids_deinit(&in.thread_ids);
	return err;
}

const struct importer import_simpleperf = {
	.name = "simpleperf",
	.what = "samples of Android's simpleperf (report-sample --protobuf)",
	.extensions = ".trace .proto",
	.carries = IMPORT_TIMES | IMPORT_THREADS | IMPORT_ADDRESSES | IMPORT_TYPES,
	.recognise = recognise,
	.read = read_simpleperf,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_nettrace.c - .NET's nettrace, versions 4 and 5: what dotnet-trace and DOTNET_EnableEventPipe write.
 *
 *	"Nettrace", length, "!FastSerialization.1"
 *	object: 5, type (5, 1, version, least reader, length, name, 6), its bytes, 6	…	1 at the end
 *
 * The first object is the Trace; the others are blocks (of metadata, of stacks, of events, and sequence points) with a length, aligned to 4
 * bytes of the file. Metadata tell the provider and the number of each kind of event. Stacks have numbers until the next sequence point,
 * and are instruction pointers, leaf first. What is at a pointer is known from events about methods, most of which come at the end: so the
 * file is read twice, first for names, then for what has stacks.
 */
#include "formats/base/bisect.h"
#include "formats/base/reader.h"
#include "formats/base/writer.h"
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_ids.h"
#include "formats/profile/import/import_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAGIC	       "Nettrace\x14\0\0\0!FastSerialization.1"
#define MAGIC_LEN      (sizeof(MAGIC) - 1)
#define NS_PER_S       1000000000ull
#define COMPRESSED     1 /* flag of a block: its events' heads are */
#define SAMPLE_MANAGED 2

enum tag { TAG_NULL = 1, TAG_BEGIN = 5, TAG_END = 6 };

/* What is read of events. */
enum about { ABOUT_NOTHING, ABOUT_METHOD, ABOUT_MODULE, ABOUT_SAMPLE, ABOUT_ALLOCATION, ABOUT_EXCEPTION, ABOUT_CONTENTION };

static const struct {
	const char *provider;
	uint32_t event;
	enum about about;
} known_events[] = {
	{ "Microsoft-DotNETCore-SampleProfiler", 0, ABOUT_SAMPLE },
	{ "Microsoft-Windows-DotNETRuntime", 10, ABOUT_ALLOCATION },
	{ "Microsoft-Windows-DotNETRuntime", 80, ABOUT_EXCEPTION },
	{ "Microsoft-Windows-DotNETRuntime", 81, ABOUT_CONTENTION },
	{ "Microsoft-Windows-DotNETRuntime", 143, ABOUT_METHOD },
	{ "Microsoft-Windows-DotNETRuntime", 152, ABOUT_MODULE },
	{ "Microsoft-Windows-DotNETRuntimeRundown", 143, ABOUT_METHOD }, /* what was there at the beginning */
	{ "Microsoft-Windows-DotNETRuntimeRundown", 144, ABOUT_METHOD }, /* at the end */
	{ "Microsoft-Windows-DotNETRuntimeRundown", 153, ABOUT_MODULE },
	{ "Microsoft-Windows-DotNETRuntimeRundown", 154, ABOUT_MODULE },
};

struct method {
	uint64_t start, len, module; /* the module's number in the file */
	uint32_t name;
};

struct event {
	uint32_t metadata, stack;
	uint64_t tid, time;
	struct reader payload;
};

struct nettrace {
	struct profile *p;
	struct diag *diag;
	bool names; /* the first reading */
	uint32_t pid, pointer_len;
	uint64_t start, frequency, interval_ns;
	struct import_ids kinds;   /* metadata -> enum about */
	struct map modules;	   /* of the file -> of the profile */
	VEC(struct method) methods; /* ascending after the first reading */
	struct map locations;	   /* instruction pointer -> location */
	struct import_ids stacks;  /* of the file -> of the profile */
	struct writer text;
	uint64_t without_stack, odd; /* events */
	bool cut;
};

static unsigned recognise(const uint8_t *start, size_t len)
{
	return len >= MAGIC_LEN && memcmp(start, MAGIC, MAGIC_LEN) == 0 ? 100 : 0;
}

/* A text of UTF-16 with a zero behind it, as a string; 0 if it is empty. */
static uint32_t read_utf16(struct nettrace *in, struct reader *r)
{
	const uint8_t *begin = r->pos;
	size_t len = 0;

	while (reader_u16(r, "a text"))
		len += 2;
	in->text.len = 0;
	if (!r->failed)
		writer_utf16(&in->text, begin, len, /* big_endian= */ false);
	return import_text(in->p, (struct json_text){ (const char *)in->text.data, in->text.len });
}

/* ---- names ---- */

static void read_metadata(struct nettrace *in, struct reader *r)
{
	uint32_t id = reader_u32(r, "the number of a kind of events");
	const char *provider = profile_text(in->p, read_utf16(in, r));
	uint32_t event = reader_u32(r, "the number of an event");

	for (size_t i = 0; i < ARRAY_LEN(known_events) && !r->failed; i++) {
		if (known_events[i].event != event || strcmp(known_events[i].provider, provider) != 0)
			continue;
		import_ids_put(&in->kinds, id, known_events[i].about);
		if (known_events[i].about == ABOUT_SAMPLE)
			import_type(in->p, "samples", "events"); /* what is asked for first */
	}
}

static void read_module(struct nettrace *in, struct reader *r)
{
	uint64_t id = reader_u64(r, "a module's number");
	const char *path;
	uint32_t module;

	reader_skip(r, 16, "a module's assembly and flags");
	path = profile_text(in->p, read_utf16(in, r));
	module = import_module(in->p, (struct json_text){ path, strlen(path) }, PROFILE_USER);
	if (!r->failed && module != PROFILE_NONE)
		*map_put(&in->modules, id, NULL) = module;
}

static void read_method(struct nettrace *in, struct reader *r)
{
	struct method method = { 0 };
	const char *name;
	uint32_t type;

	reader_skip(r, 8, "a method's number");
	method.module = reader_u64(r, "a method's module");
	method.start = reader_u64(r, "a method's address");
	method.len = reader_u32(r, "a method's length");
	reader_skip(r, 8, "a method's token and flags");
	type = read_utf16(in, r);
	name = profile_text(in->p, read_utf16(in, r));
	in->text.len = 0;
	if (type) {
		writer_bytes(&in->text, profile_text(in->p, type), strlen(profile_text(in->p, type)));
		writer_u8(&in->text, '.');
	}
	writer_bytes(&in->text, name, strlen(name));
	method.name = import_text(in->p, (struct json_text){ (const char *)in->text.data, in->text.len });
	if (!r->failed && method.len)
		vec_push(&in->methods, method);
}

static int compare_methods(const void *a_, const void *b_)
{
	const struct method *a = a_, *b = b_;

	return COMPARE(a->start, b->start);
}

/* ---- stacks ---- */

static uint32_t location_of(struct nettrace *in, uint64_t ip)
{
	size_t count = BISECT(in->methods.len, i, in->methods.items[i].start <= ip);
	const struct method *method = count ? &in->methods.items[count - 1] : NULL;
	struct import_frame frame = { .module = PROFILE_NONE, .kind = PROFILE_FRAME_JIT };
	const uint64_t *module;

	if (!method || ip - method->start >= method->len)
		return import_unnamed(in->p, PROFILE_NONE, ip);
	frame.name = method->name;
	module = map_get(&in->modules, method->module);
	if (module)
		frame.module = (uint32_t)*module;
	return import_frame(in->p, &frame);
}

/* A pointer behind the first one is where a call returns to, which may be the first byte behind a method. */
static uint32_t read_stack(struct nettrace *in, struct reader *r)
{
	size_t count = reader_left(r) / in->pointer_len;
	const uint8_t *begin = r->pos;
	uint32_t stack = 0;

	for (size_t i = count; i > 0; i--) {
		struct reader one;
		uint64_t ip, *location;
		bool is_new;

		reader_init(&one, begin + (i - 1) * in->pointer_len, in->pointer_len, /* big_endian= */ false);
		ip = in->pointer_len == 8 ? reader_u64(&one, "an address") : reader_u32(&one, "an address");
		ip -= i > 1 && ip;
		location = map_put(&in->locations, ip, &is_new);
		if (is_new)
			*location = location_of(in, ip);
		stack = import_stack(in->p, stack, (uint32_t)*location);
	}
	return stack;
}

static void read_stacks(struct nettrace *in, struct reader *r)
{
	uint32_t id = reader_u32(r, "the number of the first stack");
	uint32_t count = reader_u32(r, "the number of stacks");

	for (uint32_t i = 0; i < count && !r->failed; i++) {
		struct reader stack = reader_slice(r, reader_u32(r, "a stack's length"), "a stack");

		if (!r->failed)
			import_ids_put(&in->stacks, id + i, read_stack(in, &stack));
	}
}

/* ---- what has stacks ---- */

static uint64_t ns_of(const struct nettrace *in, uint64_t ticks)
{
	return (uint64_t)((__uint128_t)(ticks > in->start ? ticks - in->start : 0) * NS_PER_S / in->frequency);
}

static uint32_t label(struct nettrace *in, const char *text)
{
	const struct profile_label made = { .key = profile_string(in->p, "code"), .text = profile_string(in->p, text) };

	return profile_add_labels(in->p, &made, 1);
}

/* Version 2 and later of the event have a second number, since the first may be too large. */
static int64_t allocated(struct reader *r)
{
	uint64_t bytes = reader_u32(r, "a size");

	reader_skip(r, 6, "an allocation's kind");
	if (reader_left(r) >= 8)
		bytes = reader_u64(r, "a size");
	return (int64_t)MIN(bytes, (uint64_t)INT64_MAX);
}

static void set_value(struct nettrace *in, enum about about, struct reader *r, struct import_sample *ret)
{
	ret->weight = 1;
	switch (about) {
	case ABOUT_ALLOCATION:
		ret->type = import_type(in->p, "alloc", "bytes");
		ret->weight = allocated(r);
		break;
	case ABOUT_EXCEPTION:
		ret->type = import_type(in->p, "exceptions", "events");
		break;
	case ABOUT_CONTENTION:
		ret->type = import_type(in->p, "contentions", "events");
		break;
	default:
		ret->type = import_type(in->p, "samples", "events");
		in->p->types.items[ret->type].rate = in->interval_ns ? NS_PER_S / in->interval_ns : 0;
		in->p->types.items[ret->type].is_freq = true;
		ret->labels = label(in, reader_u32(r, "a sample's kind") == SAMPLE_MANAGED ? "managed" : "external");
	}
}

static void add_sample(struct nettrace *in, struct event *event, enum about about)
{
	uint32_t tid = event->tid < UINT32_MAX ? (uint32_t)event->tid : PROFILE_NONE;
	struct import_sample sample = { .count = 1, .has_time = true, .time_ns = ns_of(in, event->time) };

	sample.stack = import_ids_get(&in->stacks, event->stack);
	if (sample.stack == PROFILE_NONE || !sample.stack) {
		in->without_stack++;
		return;
	}
	set_value(in, about, &event->payload, &sample);
	sample.thread = import_thread(in->p, in->pid, tid, 0, 0);
	if (!event->payload.failed)
		import_sample(in->p, &sample);
}

static void take_event(struct nettrace *in, struct event *event)
{
	uint32_t about = import_ids_get(&in->kinds, event->metadata);

	if (about == PROFILE_NONE)
		return;
	if (!in->names && about >= ABOUT_SAMPLE)
		add_sample(in, event, about);
	else if (in->names && about == ABOUT_METHOD)
		read_method(in, &event->payload);
	else if (in->names && about == ABOUT_MODULE)
		read_module(in, &event->payload);
}

/* ---- blocks ---- */

/* An event whose head says only what differs from the one before. */
static void next_compressed(struct reader *r, struct event *event, uint32_t *payload_len)
{
	uint8_t flags = reader_u8(r, "an event");

	if (flags & 1)
		event->metadata = (uint32_t)reader_uleb(r, "an event's kind");
	if (flags & 2) {
		reader_uleb(r, "an event's number");
		reader_uleb(r, "the thread that wrote an event");
		reader_uleb(r, "an event's processor");
	}
	if (flags & 4)
		event->tid = reader_uleb(r, "an event's thread");
	if (flags & 8)
		event->stack = (uint32_t)reader_uleb(r, "an event's stack");
	event->time += reader_uleb(r, "an event's time");
	reader_skip(r, (flags & 16 ? 16 : 0) + (flags & 32 ? 16 : 0), "an event's activity");
	if (flags & 128)
		*payload_len = (uint32_t)reader_uleb(r, "the length of an event's data");
	event->payload = reader_slice(r, *payload_len, "an event's data");
}

static void next_plain(struct reader *r, struct event *event)
{
	reader_skip(r, 4, "an event's length");
	event->metadata = reader_u32(r, "an event's kind") & INT32_MAX;
	reader_skip(r, 4, "an event's number");
	event->tid = reader_u64(r, "an event's thread");
	reader_skip(r, 12, "the thread that wrote an event");
	event->stack = reader_u32(r, "an event's stack");
	event->time = reader_u64(r, "an event's time");
	reader_skip(r, 32, "an event's activity");
	event->payload = reader_slice(r, reader_u32(r, "the length of an event's data"), "an event's data");
	reader_skip(r, MIN(-r->offset & 3, reader_left(r)), "an event's end");
}

static void read_events(struct nettrace *in, struct reader *r, bool metadata)
{
	uint16_t head_len = reader_u16(r, "the length of a block's head");
	uint16_t flags = reader_u16(r, "a block's flags");
	struct event event = { 0 };
	uint32_t payload_len = 0;

	reader_skip(r, head_len < 4 ? 0 : head_len - 4u, "a block's head");
	while (reader_left(r)) {
		if (flags & COMPRESSED)
			next_compressed(r, &event, &payload_len);
		else
			next_plain(r, &event);
		if (r->failed)
			return;
		if (metadata && in->names)
			read_metadata(in, &event.payload);
		else if (!metadata)
			take_event(in, &event);
		in->odd += !in->names && event.payload.failed;
	}
}

static void read_block(struct nettrace *in, const char *name, size_t name_len, struct reader *r)
{
	struct reader block;
	uint32_t len = reader_u32(r, "a block's length");

	reader_skip(r, -r->offset & 3, "a block's alignment");
	if (len > reader_left(r) && !r->failed) { /* it was written when the process or the disk came to its end */
		reader_skip(r, reader_left(r), "a block");
		return;
	}
	block = reader_slice(r, len, "a block");
	if (name_len == 13 && memcmp(name, "MetadataBlock", 13) == 0)
		read_events(in, &block, /* metadata= */ true);
	else if (name_len == 10 && memcmp(name, "EventBlock", 10) == 0)
		read_events(in, &block, /* metadata= */ false);
	else if (name_len == 10 && memcmp(name, "StackBlock", 10) == 0 && !in->names)
		read_stacks(in, &block);
	if (block.failed && !r->failed)
		*r = block;
}

/* Year, month, day of the week, day, hour, minute, second, millisecond, in UTC. */
static uint64_t read_wall(struct reader *r)
{
	uint16_t field[8];
	struct tm tm = { 0 };
	time_t seconds;

	for (size_t i = 0; i < ARRAY_LEN(field); i++)
		field[i] = reader_u16(r, "the time of the recording");
	tm.tm_year = field[0] - 1900;
	tm.tm_mon = field[1] - 1;
	tm.tm_mday = field[3];
	tm.tm_hour = field[4];
	tm.tm_min = field[5];
	tm.tm_sec = field[6];
	seconds = field[0] >= 1970 && field[0] < 2500 ? timegm(&tm) : 0;
	return seconds > 0 ? (uint64_t)seconds * NS_PER_S + MIN(field[7], 999) * 1000000ull : 0;
}

static void read_trace(struct nettrace *in, struct reader *r, struct profile_facts *facts)
{
	facts->wall_ns = read_wall(r);
	facts->has_wall = facts->wall_ns != 0;
	in->start = reader_u64(r, "the clock's time");
	in->frequency = reader_u64(r, "the clock's frequency");
	in->pointer_len = reader_u32(r, "the length of a pointer");
	in->pid = reader_u32(r, "the process");
	facts->ncpus = reader_u32(r, "the number of processors");
	in->interval_ns = reader_u32(r, "the time between samples");
	if (!in->frequency || (in->pointer_len != 4 && in->pointer_len != 8))
		reader_fail(r, "a clock and pointers");
}

/* A sequence point: the stacks behind it have numbers of their own. */
static void forget_stacks(struct nettrace *in, struct reader *r)
{
	read_block(in, "", 0, r);
	import_ids_deinit(&in->stacks);
	in->stacks = (struct import_ids){ 0 };
}

static void read_object(struct nettrace *in, struct reader *r, struct profile_facts *facts)
{
	const char *name;
	uint32_t len;

	if (reader_u8(r, "a type") != TAG_BEGIN || reader_u8(r, "a type") != TAG_NULL)
		reader_fail(r, "a type");
	reader_skip(r, 8, "a type's version");
	len = reader_u32(r, "the length of a type's name");
	name = reader_bytes(r, len, "a type's name");
	if (reader_u8(r, "the end of a type") != TAG_END)
		reader_fail(r, "the end of a type");
	if (r->failed)
		return;
	if (len == 5 && memcmp(name, "Trace", 5) == 0)
		read_trace(in, r, facts);
	else if (len == 7 && memcmp(name, "SPBlock", 7) == 0)
		forget_stacks(in, r);
	else if (in->pointer_len)
		read_block(in, name, len, r);
	else
		reader_fail(r, "a trace before its blocks");
	if (reader_left(r) && reader_u8(r, "the end of an object") != TAG_END)
		reader_fail(r, "the end of an object");
}

/* One reading. */
static struct err *read_objects(struct nettrace *in, const struct import_input *input, struct profile_facts *facts)
{
	struct reader r;

	reader_init(&r, input->data, input->len, /* big_endian= */ false);
	reader_skip(&r, MAGIC_LEN, "the magic number");
	in->cut = true;
	while (reader_left(&r)) {
		uint8_t tag = reader_u8(&r, "an object");

		if (tag == TAG_NULL) {
			in->cut = false;
			break;
		}
		if (tag != TAG_BEGIN)
			reader_fail(&r, "an object");
		read_object(in, &r, facts);
	}
	return reader_check(&r);
}

static struct err *read_both(struct nettrace *in, const struct import_input *input, struct profile_facts *facts)
{
	struct err *err;

	in->names = true;
	err = read_objects(in, input, facts);
	if (err)
		return err;
	if (in->methods.len)
		qsort(in->methods.items, in->methods.len, sizeof(*in->methods.items), compare_methods);
	in->names = false;
	err = read_objects(in, input, facts);
	if (!err && in->cut)
		diag_warn(in->diag, "the file has no end: samples, and the names of methods, may be missing");
	if (!err && in->odd)
		diag_warn(in->diag, "events that do not fit what is known of their kind, which are left out: %" PRIu64, in->odd);
	if (!err && in->without_stack)
		diag_warn(in->diag, "samples without a stack, which are left out: %" PRIu64, in->without_stack);
	return err;
}

static struct err *read_nettrace(const struct import_input *input, struct profile *p, struct profile_facts *facts, struct diag *diag)
{
	struct nettrace in = { .p = p, .diag = diag };
	struct err *err = read_both(&in, input, facts);

	map_deinit(&in.modules);
	map_deinit(&in.locations);
	vec_deinit(&in.methods);
	import_ids_deinit(&in.kinds);
	import_ids_deinit(&in.stacks);
	writer_deinit(&in.text);
	return err;
}

const struct importer import_nettrace = {
	.name = "nettrace",
	.what = ".NET's nettrace, versions 4 and 5: dotnet-trace, DOTNET_EnableEventPipe",
	.extensions = ".nettrace",
	.carries = IMPORT_TIMES | IMPORT_THREADS | IMPORT_LABELS | IMPORT_TYPES,
	.recognise = recognise,
	.read = read_nettrace,
};

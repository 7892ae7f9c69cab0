/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_pprof.c - pprof's profile.proto.
 *
 * Each sample type is a value type, the default one first (where the file names none it is the last, as in pprof). "samples" in front of another type counts that one's samples (as
 * pprof_write() and Go write them) and is no type of its own; other counts in front of a type ("contentions" before "delay")
 * are both. Without a count each sample of the file is taken to be one, so that nothing looks surer than it is; so are
 * objects of a heap, which are estimates. Values may be negative, as those of a difference of two profiles are.
 *
 * Labels pid, tid, cpu, process and thread tell threads apart, all others are labels. Addresses stay as the file has them.
 * A message is gone through twice, since samples stand in front of what they refer to: tables first.
 */
#include "formats/base/memory.h"
#include "formats/base/proto_reader.h"
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_ids.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/pprof_prune.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_TYPE	  UINT32_MAX

/* Fields of the messages: see profile.proto. */
enum { P_SAMPLE_TYPE = 1, P_SAMPLE, P_MAPPING, P_LOCATION, P_FUNCTION, P_STRING, P_DROP, P_KEEP, P_TIME,
       P_DURATION, P_PERIOD_TYPE, P_PERIOD, P_COMMENT, P_DEFAULT };

struct pprof_type {
	uint32_t name, unit;  /* numbers of strings in the file */
	uint32_t type;	      /* of the profile; NO_TYPE: it only counts the next one */
	uint32_t count;	      /* the type that counts its samples; NO_TYPE: none */
};

struct pprof_text {
	const char *data;
	uint32_t len;
};

/* A function of the file; the profile has one for each module that it is in. */
struct pprof_function {
	uint32_t name, system_name, file; /* strings of the profile */
	uint32_t line;
	bool dropped; /* by drop_frames */
};

/* What a location does to the stacks that it is in. */
enum { PRUNE_NOTHING, PRUNE_CALLEES, PRUNE_ITSELF };

/*
 * The bytes of a stack that were read, and what came of them. Files with labels, or merged ones, have the same stacks again and
 * again in no order, and to look at a few bytes is cheaper than to find each frame among all others.
 */
struct pprof_known {
	const uint8_t *bytes; /* packed numbers of locations in the file; NULL: none yet */
	uint32_t len;
	uint32_t stack;
};

#define KNOWN_MIN 64	    /* places for them, powers of two; a file has more than a hundred bytes for each place */
#define KNOWN_MAX (1 << 18) /* 6 MiB */
#define KNOWN_TRIED 8192    /* samples after which it is seen whether stacks come again */
#define KNOWN_SHARE 16	    /* if fewer than one in so many did, no more are looked up */

struct pprof_label {
	uint64_t key, text, unit;
	int64_t number;
};

struct pprof {
	struct profile *p;
	struct diag *diag;
	VEC(struct pprof_text) strings;
	VEC(uint32_t) texts; /* strings' numbers in the profile, PROFILE_NONE until one is used */
	VEC(struct pprof_type) types;
	VEC(struct pprof_function) functions;
	struct import_ids mapping_ids, function_ids, location_ids;
	VEC(struct import_mapping) mappings;
	VEC(struct profile_line) lines; /* of one location */
	uint64_t ntried, nfound;	/* samples with packed locations; those whose stack was known by its bytes */
	VEC(uint32_t) frames;		/* of one sample, leaf first: locations */
	VEC(uint32_t) before;		/* of the sample before */
	VEC(uint32_t) stacks;		/* of that one, from the root to the leaf */
	VEC(uint32_t) calls;		/* of frames, those that the sample before does not have, from the root to the leaf */
	struct pprof_known *known;	/* by hash of the bytes, the last one that was there */
	uint32_t nknown;
	struct reader packed;		/* locations of one sample that are not read yet */
	VEC(int64_t) values;
	VEC(struct profile_label) labels;
	VEC(struct pprof_label) raw_labels, raw_before;
	uint32_t thread, label_set, cpu; /* what raw_before says */
	VEC(uint64_t) comments;		 /* strings of the file */
	struct pprof_prune *prune;	 /* NULL: all frames stay */
	VEC(uint8_t) prunes;		 /* by location of the profile, as far as it goes */
	size_t dropped_line;		 /* of lines, how many end with one that is dropped */
	uint64_t drop, keep;		 /* strings: expressions */
	uint64_t default_type;
	uint64_t period_type, period;
	uint64_t wall_ns, duration_ns;
	uint64_t nsamples;
	struct profile_queue queue;
};

/* The first field may be any of them, but its coding and the next key must fit. */
static unsigned recognise(const uint8_t *start, size_t len)
{
	struct reader r;
	struct proto_field field;
	unsigned fields = 0, types = 0;

	reader_init(&r, start, len, /* big_endian= */ false);
	while (fields < 1000 && proto_next(&r, &field)) {
		bool is_number = field.number >= P_TIME && field.number != P_PERIOD_TYPE;

		if (field.number > P_DEFAULT + 1)
			return 0;
		if (field.wire != (is_number ? PROTO_VARINT : PROTO_BYTES) &&
		    !(field.number == P_COMMENT && field.wire == PROTO_BYTES) &&
		    !(field.number == P_DROP || field.number == P_KEEP))
			return 0;
		types += field.number == P_SAMPLE_TYPE;
		fields++;
	}
	if (!fields)
		return 0;
	/* Only what is longer than what was looked at may end in the middle of a field. */
	if (r.failed && len < IMPORT_START_LEN)
		return start[0] == (P_SAMPLE_TYPE << 3 | PROTO_BYTES) && types ? 30 : 0;
	if (types)
		return 80;
	return (r.failed || fields == 1000) && fields >= 3 ? 20 : 0;
}

static uint32_t text(struct pprof *in, uint64_t string)
{
	if (string >= in->texts.len)
		return 0;
	if (in->texts.items[string] == PROFILE_NONE)
		in->texts.items[string] = strtab_add_len(&in->p->strings,
							 in->strings.items[string].data,
							 in->strings.items[string].len);
	return in->texts.items[string];
}

static bool is_text(const struct pprof *in, uint64_t string, const char *word)
{
	size_t len = strlen(word);

	return string < in->strings.len && in->strings.items[string].len == len &&
	       memcmp(in->strings.items[string].data, word, len) == 0;
}

/* ---- first pass: strings, types, what the file says of itself ---- */

static void add_string(struct pprof *in, const struct reader *bytes)
{
	struct pprof_text one = { (const char *)bytes->pos, (uint32_t)(bytes->end - bytes->pos) };

	vec_push(&in->strings, one);
	vec_push(&in->texts, PROFILE_NONE);
}

static void add_type(struct pprof *in, struct reader *r)
{
	struct pprof_type type = { .type = NO_TYPE, .count = NO_TYPE };
	struct proto_field field;

	while (proto_next(r, &field)) {
		if (field.number == 1)
			type.name = (uint32_t)MIN(field.value, UINT32_MAX);
		else if (field.number == 2)
			type.unit = (uint32_t)MIN(field.value, UINT32_MAX);
	}
	vec_push(&in->types, type);
}

static void add_period_type(struct pprof *in, struct reader *r)
{
	struct proto_field field;

	while (proto_next(r, &field))
		if (field.number == 1)
			in->period_type = field.value;
}

static void add_comments(struct pprof *in, struct proto_field *field)
{
	uint64_t string;
	uint32_t at = 0;

	while (proto_number(field, &at, &string))
		vec_push(&in->comments, string);
}

static struct err *read_tables(struct pprof *in, struct reader r)
{
	struct proto_field field;

	while (proto_next(&r, &field)) {
		if (field.number == P_STRING)
			add_string(in, &field.bytes);
		else if (field.number == P_SAMPLE_TYPE)
			add_type(in, &field.bytes);
		else if (field.number == P_TIME)
			in->wall_ns = field.value;
		else if (field.number == P_DURATION)
			in->duration_ns = field.value;
		else if (field.number == P_DEFAULT)
			in->default_type = field.value;
		else if (field.number == P_PERIOD_TYPE)
			add_period_type(in, &field.bytes);
		else if (field.number == P_PERIOD)
			in->period = field.value;
		else if (field.number == P_DROP)
			in->drop = field.value;
		else if (field.number == P_KEEP)
			in->keep = field.value;
		else if (field.number == P_COMMENT)
			add_comments(in, &field);
	}
	if (!r.failed && (!in->strings.len || in->strings.items[0].len))
		return err_new(ERR_CORRUPT, "its table of strings does not begin with an empty one");
	return reader_check(&r);
}

/* ---- value types ---- */

static bool counts(const struct pprof *in, uint32_t i)
{
	return is_text(in, in->types.items[i].unit, "count");
}

/* Estimates of how many objects there are say nothing of how many samples were taken. */
static bool is_estimate(const struct pprof *in, uint32_t i)
{
	uint64_t name = in->types.items[i].name;
	static const char word[] = "objects";
	size_t len = sizeof(word) - 1;

	return name < in->strings.len && in->strings.items[name].len >= len &&
	       memcmp(in->strings.items[name].data + in->strings.items[name].len - len, word, len) == 0;
}

/* "samples", or "samples:NAME" where there are several: no type of its own but the count of the next one. */
static bool counts_next(const struct pprof *in, uint32_t i)
{
	uint64_t name = in->types.items[i].name;
	static const char word[] = "samples";
	size_t len = sizeof(word) - 1;
	const struct pprof_text *text;

	if (name >= in->strings.len || !counts(in, i))
		return false;
	text = &in->strings.items[name];
	return text->len >= len && memcmp(text->data, word, len) == 0 &&
	       (text->len == len || text->data[len] == ':');
}

static void add_value_type(struct pprof *in, uint32_t i)
{
	struct pprof_type *type = &in->types.items[i];
	struct profile_value_type value = { .name = text(in, type->name) };

	if (is_text(in, type->unit, "nanoseconds"))
		value.unit = profile_string(in->p, "ns");
	else if (counts(in, i))
		value.unit = profile_string(in->p, "events");
	else
		value.unit = text(in, type->unit);
	if (in->period_type == type->name && in->period && in->period <= 1000000000 && is_text(in, type->unit, "nanoseconds")) {
		value.rate = 1000000000 / in->period;
		value.is_freq = true;
	}
	type->type = profile_add_value_type(in->p, &value);
}

/* The one that is shown first. */
static uint32_t first_type(const struct pprof *in)
{
	uint32_t len = (uint32_t)in->types.len;

	for (uint32_t i = 0; in->default_type && i < len; i++)
		if (in->types.items[i].name == in->default_type && !(i + 1 < len && counts_next(in, i)))
			return i;
	return len - 1;
}

static struct err *add_types(struct pprof *in)
{
	uint32_t len = (uint32_t)in->types.len, first;

	if (!len)
		return err_new(ERR_CORRUPT, "it has no sample type");
	if (len > IMPORT_TYPES_MAX)
		return err_new(ERR_UNSUPPORTED, "it has %" PRIu32 " sample types, more than %d", len,
			       IMPORT_TYPES_MAX);
	add_value_type(in, first = first_type(in));
	for (uint32_t i = 0; i < len; i++)
		if (i != first && !(i + 1 < len && counts_next(in, i)))
			add_value_type(in, i);
	for (uint32_t i = 0; i < len; i++) {
		struct pprof_type *type = &in->types.items[i];

		if (counts(in, i) && !is_estimate(in, i))
			type->count = i;
		else if (i && counts(in, i - 1) && !is_estimate(in, i - 1))
			type->count = i - 1;
		if (i && in->types.items[i - 1].type == NO_TYPE)
			type->count = i - 1;
	}
	return NULL;
}

/* ---- second pass: code ---- */

static void add_mapping(struct pprof *in, struct reader *r)
{
	struct profile_module mod = { .kind = PROFILE_USER };
	struct import_mapping mapping = { .module = PROFILE_NONE };
	struct proto_field field;
	const char *path, *slash;
	uint64_t id = 0;

	while (proto_next(r, &field)) {
		if (field.number == 1)
			id = field.value;
		else if (field.number == 2)
			mapping.start = field.value;
		else if (field.number == 3)
			mapping.end = field.value;
		else if (field.number == 4)
			mapping.offset = field.value;
		else if (field.number == 5)
			mod.path = text(in, field.value);
		else if (field.number == 6)
			mod.build_id = text(in, field.value);
	}
	path = profile_text(in->p, mod.path);
	slash = strrchr(path, '/');
	if (strncmp(path, "[kernel", 7) == 0) {
		mod.kind = PROFILE_KERNEL;
		mapping.end = mapping.start; /* its addresses are the same everywhere */
	}
	mod.name = slash && slash[1] ? profile_string(in->p, slash + 1) : mod.path;
	if (*path || mod.build_id)
		mapping.module = profile_add_module(in->p, &mod);
	import_ids_put(&in->mapping_ids, id, (uint32_t)in->mappings.len);
	vec_push(&in->mappings, mapping);
}

static void add_function(struct pprof *in, struct reader *r)
{
	struct pprof_function function = { 0 };
	struct proto_field field;
	uint64_t id = 0;

	while (proto_next(r, &field)) {
		if (field.number == 1)
			id = field.value;
		else if (field.number == 2)
			function.name = text(in, field.value);
		else if (field.number == 3)
			function.system_name = text(in, field.value);
		else if (field.number == 4)
			function.file = text(in, field.value);
		else if (field.number == 5)
			function.line = (int64_t)field.value > 0 ? (uint32_t)MIN(field.value, UINT32_MAX) : 0;
	}
	if (in->prune)
		function.dropped = pprof_prune_drops(in->prune, profile_text(in->p, function.name));
	import_ids_put(&in->function_ids, id, (uint32_t)in->functions.len);
	vec_push(&in->functions, function);
}

static struct err *read_code(struct pprof *in, struct reader r)
{
	struct proto_field field;

	while (proto_next(&r, &field)) {
		struct reader *inner = &field.bytes;

		if (field.wire != PROTO_BYTES)
			continue;
		if (field.number == P_MAPPING)
			add_mapping(in, inner);
		else if (field.number == P_FUNCTION)
			add_function(in, inner);
		else
			continue;
		if (inner->failed)
			return reader_check(inner);
	}
	return NULL;
}

static struct err *add_line(struct pprof *in, struct reader *r, uint32_t module)
{
	struct proto_field field;
	uint64_t id = 0, line = 0;

	while (proto_next(r, &field)) {
		if (field.number == 1)
			id = field.value;
		else if (field.number == 2)
			line = (int64_t)field.value > 0 ? field.value : 0;
	}

	uint32_t number = import_ids_get(&in->function_ids, id);

	if (r->failed)
		return reader_check(r);
	if (number == PROFILE_NONE)
		return err_new(ERR_CORRUPT, "function %" PRIu64 " is not there", id);

	const struct pprof_function *from = &in->functions.items[number];
	uint32_t name = from->name ? from->name : from->system_name;

	if (!name && !from->file)
		return NULL;

	struct profile_function function = {
		.name = name ? name : profile_string(in->p, "(anonymous)"),
		.linkage_name = from->system_name == from->name || !from->name ? 0 : from->system_name, /* nothing more is known then */
		.module = module,
		.file = from->file,
		.line = from->line,
	};
	struct profile_line one = { profile_add_function(in->p, &function), from->file,
				    (uint32_t)MIN(line, UINT32_MAX) };

	vec_push(&in->lines, one);
	if (from->dropped)
		in->dropped_line = in->lines.len; /* the outermost one counts, which is the last */
	return NULL;
}

/* Take off the lines that are dropped with what is inlined into them; where nothing would be left, the location goes as a whole. */
static uint8_t prune_lines(struct pprof *in)
{
	size_t left = in->lines.len - in->dropped_line;

	if (!in->dropped_line)
		return PRUNE_NOTHING;
	if (!left)
		return PRUNE_ITSELF;
	memmove(in->lines.items, in->lines.items + in->dropped_line, left * sizeof(*in->lines.items));
	in->lines.len = left;
	return PRUNE_CALLEES;
}

static void note_prune(struct pprof *in, uint32_t location, uint8_t prunes)
{
	static const uint8_t nothing = PRUNE_NOTHING;

	if (prunes == PRUNE_NOTHING)
		return;
	while (in->prunes.len <= location)
		vec_push(&in->prunes, nothing);
	in->prunes.items[location] = prunes;
}

/* Locations differ by address, or, where they have none as in a profile of scripts, by their lines. */
static uint32_t location_of(struct pprof *in, uint32_t module, uint64_t address)
{
	enum profile_frame_kind kind = PROFILE_FRAME_NATIVE;
	uint32_t location, count = (uint32_t)in->lines.len;

	if (module != PROFILE_NONE && in->p->modules.items[module].kind == PROFILE_KERNEL)
		kind = PROFILE_FRAME_KERNEL;
	if (!address || module == PROFILE_NONE)
		return profile_add_named_location(in->p, kind, module, in->lines.items, count);
	location = profile_add_location(in->p, module, address, kind);
	if (in->p->locations.items[location].nlines)
		return profile_add_named_location(in->p, kind, module, in->lines.items, count);
	profile_set_lines(in->p, location, in->lines.items, count);
	return location;
}

static struct err *add_location(struct pprof *in, struct reader *r)
{
	struct reader again = *r;
	struct proto_field field;
	uint64_t id = 0, mapping = 0, address = 0;
	uint32_t module = PROFILE_NONE, number, location;
	uint8_t prunes;
	struct err *err = NULL;

	while (proto_next(r, &field)) {
		if (field.number == 1)
			id = field.value;
		else if (field.number == 2)
			mapping = field.value;
		else if (field.number == 3)
			address = field.value;
	}
	if (r->failed)
		return reader_check(r);
	number = mapping ? import_ids_get(&in->mapping_ids, mapping) : PROFILE_NONE;
	if (mapping && number == PROFILE_NONE)
		return err_new(ERR_CORRUPT, "location %" PRIu64 " lies in mapping %" PRIu64
					    ", which is not there", id, mapping);
	if (mapping) {
		module = in->mappings.items[number].module;
		address = import_link_time(in->p, &in->mappings.items[number], address);
	}
	in->lines.len = in->dropped_line = 0;
	while (!err && proto_next(&again, &field))
		if (field.number == 4 && field.wire == PROTO_BYTES)
			err = add_line(in, &field.bytes, module);
	if (err)
		return err_wrap(err, "location %" PRIu64, id);
	if (!in->lines.len)
		vec_push(&in->lines, import_unnamed_line(in->p, module, address));
	prunes = prune_lines(in);
	location = location_of(in, module, address);
	note_prune(in, location, prunes);
	import_ids_put(&in->location_ids, id, location);
	return NULL;
}

static struct err *read_locations(struct pprof *in, struct reader r)
{
	struct proto_field field;
	struct err *err = NULL;

	while (!err && proto_next(&r, &field))
		if (field.number == P_LOCATION && field.wire == PROTO_BYTES)
			err = add_location(in, &field.bytes);
	return err;
}

/* ---- third pass: samples ---- */

static void take_label(struct pprof *in, struct reader *r)
{
	struct pprof_label label = { 0 };
	struct proto_field field;

	while (proto_next(r, &field)) {
		if (field.number == 1)
			label.key = field.value;
		else if (field.number == 2)
			label.text = field.value;
		else if (field.number == 3)
			label.number = (int64_t)field.value;
		else if (field.number == 4)
			label.unit = field.value;
	}
	vec_push(&in->raw_labels, label);
}

static uint32_t small(int64_t number)
{
	return number < 0 || number >= UINT32_MAX ? PROFILE_NONE : (uint32_t)number;
}

static void use_label(struct pprof *in, const struct pprof_label *raw, struct profile_thread *thread)
{
	struct profile_label label = {
		.key = text(in, raw->key),
		.text = text(in, raw->text),
		.unit = text(in, raw->unit),
		.is_number = !raw->text,
		.number = raw->number,
	};

	if (is_text(in, raw->key, "pid"))
		thread->pid = small(raw->number);
	else if (is_text(in, raw->key, "tid"))
		thread->tid = small(raw->number);
	else if (is_text(in, raw->key, "cpu"))
		in->cpu = small(raw->number);
	else if (is_text(in, raw->key, "process"))
		thread->process = label.text;
	else if (is_text(in, raw->key, "thread"))
		thread->comm = label.text;
	else
		vec_push(&in->labels, label);
}

/* Most samples have the labels of the one before. */
static void use_labels(struct pprof *in)
{
	size_t len = in->raw_labels.len * sizeof(*in->raw_labels.items);
	struct profile_thread thread = { .pid = PROFILE_NONE, .tid = PROFILE_NONE };

	if (in->nsamples > 1 && in->raw_labels.len == in->raw_before.len &&
	    (!len || memcmp(in->raw_labels.items, in->raw_before.items, len) == 0))
		return;
	in->labels.len = 0;
	in->cpu = PROFILE_NONE;
	for (size_t i = 0; i < in->raw_labels.len; i++)
		use_label(in, &in->raw_labels.items[i], &thread);
	in->thread = profile_add_thread(in->p, &thread);
	in->label_set = profile_add_labels(in->p, in->labels.items, (uint32_t)in->labels.len);
	in->raw_before.len = 0;
	vec_append(&in->raw_before, in->raw_labels.items, in->raw_labels.len);
}

static struct err *take_frames(struct pprof *in, struct proto_field *field)
{
	uint64_t id;
	uint32_t at = 0;

	while (proto_number(field, &at, &id)) {
		uint32_t location = import_ids_get(&in->location_ids, id);

		if (location == PROFILE_NONE)
			return err_new(ERR_CORRUPT, "location %" PRIu64 " is not there", id);
		vec_push(&in->frames, location);
	}
	return NULL;
}

/*
 * Leave out what is called by a function that drops it, and that itself. At the root's side at least one frame stays, or else
 * nothing might be left.
 */
static void prune_frames(struct pprof *in)
{
	bool kept = false;

	for (size_t i = in->prunes.len ? in->frames.len : 0; i-- > 0;) {
		uint32_t location = in->frames.items[i];
		uint8_t prunes = location < in->prunes.len ? in->prunes.items[location] : PRUNE_NOTHING;
		size_t from = prunes == PRUNE_ITSELF ? i + 1 : i;

		if (prunes == PRUNE_NOTHING) {
			kept = true;
		} else if (kept) {
			memmove(in->frames.items, in->frames.items + from,
				(in->frames.len - from) * sizeof(*in->frames.items));
			in->frames.len -= from;
			return;
		}
	}
}

/* The stack of in->frames; where its callers are those of the sample before, they are not looked up again. */
static uint32_t stack_of(struct pprof *in)
{
	size_t len = in->frames.len, old = in->before.len, same = 0;
	uint32_t stack = 0;

	while (same < len && same < old &&
	       in->frames.items[len - 1 - same] == in->before.items[old - 1 - same])
		same++;
	if (same)
		stack = in->stacks.items[same - 1];
	in->calls.len = 0;
	for (size_t i = len - same; i-- > 0;)
		vec_push(&in->calls, in->frames.items[i]);
	in->stacks.len = same;
	vec_reserve(&in->stacks, in->calls.len + 1);
	stack = profile_add_calls(in->p, stack, in->calls.items, in->calls.len, in->stacks.items + same);
	in->stacks.len = len;
	in->before.len = 0;
	vec_append(&in->before, in->frames.items, len);
	return stack;
}

/* ---- stacks by their bytes ---- */

static void make_known(struct pprof *in, size_t file_len)
{
	in->nknown = KNOWN_MIN;
	while (in->nknown < KNOWN_MAX && in->nknown < file_len / 128)
		in->nknown *= 2;
	in->known = memory_zeroed(in->nknown, sizeof(*in->known));
}

static uint64_t hash_bytes(const uint8_t *bytes, size_t len)
{
	uint64_t hash = len, word;

	for (; len > sizeof(word); len -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = map_hash(hash ^ word);
	}
	word = 0;
	memcpy(&word, bytes, len);
	return map_hash(hash ^ word);
}

/* Where the stack of @bytes is or, if *@ret_found is false, belongs. */
static struct pprof_known *find_known(struct pprof *in, const struct reader *bytes, bool *ret_found)
{
	size_t len = (size_t)(bytes->end - bytes->pos);
	struct pprof_known *known = &in->known[hash_bytes(bytes->pos, len) & (in->nknown - 1)];

	*ret_found = known->bytes && known->len == len && memcmp(known->bytes, bytes->pos, len) == 0;
	if (!*ret_found)
		*known = (struct pprof_known){ bytes->pos, (uint32_t)len, 0 };
	return known;
}

static bool stacks_come_again(const struct pprof *in)
{
	return in->ntried < KNOWN_TRIED || in->nfound >= in->ntried / KNOWN_SHARE;
}

static uint64_t count_of(const struct pprof *in, const struct pprof_type *type)
{
	int64_t count = type->count == NO_TYPE ? 1 : in->values.items[type->count];

	if (count == INT64_MIN)
		return (uint64_t)INT64_MAX;
	return MAX((uint64_t)(count < 0 ? -count : count), 1);
}

static void add_values(struct pprof *in, uint32_t stack)
{
	struct profile_sample sample = { .stack = stack, .thread = in->thread, .cpu = in->cpu,
					 .user = true, .labels = in->label_set };

	for (uint32_t i = 0; i < in->types.len; i++) {
		const struct pprof_type *type = &in->types.items[i];

		if (type->type == NO_TYPE || !in->values.items[i])
			continue;
		sample.type = type->type;
		sample.count = count_of(in, type);
		sample.weight = import_fits(in->p, in->values.items[i]);
		sample.weight_sq = type->count == NO_TYPE ? PROFILE_UNCOUNTED
							  : (double)sample.weight * (double)sample.weight / (double)sample.count;
		profile_queue_sample(in->p, &in->queue, &sample);
	}
}

/* Its stack is in in->packed, or in in->frames. */
static struct err *add_stack_and_values(struct pprof *in)
{
	struct pprof_known *known = NULL;
	bool found = false;
	struct proto_field packed = { .wire = PROTO_BYTES, .bytes = in->packed };
	struct err *err;

	if (in->packed.pos && stacks_come_again(in))
		known = find_known(in, &in->packed, &found);
	in->nfound += found;
	in->ntried++;
	if (!found) {
		err = in->packed.pos ? take_frames(in, &packed) : NULL;
		if (err || packed.bytes.failed) {
			if (known)
				known->bytes = NULL;
			return err ? err : reader_check(&packed.bytes);
		}
		prune_frames(in);
	}

	uint32_t stack = found ? known->stack : stack_of(in);

	add_values(in, stack);
	if (known)
		known->stack = stack;
	return NULL;
}

/* What a sample has of locations, which most have in one piece: that is left for later, and for one who knows it. */
static struct err *take_locations(struct pprof *in, struct proto_field *field)
{
	struct proto_field before = { .wire = PROTO_BYTES, .bytes = in->packed };
	struct err *err = NULL;

	if (!in->packed.pos && !in->frames.len && field->wire == PROTO_BYTES && reader_left(&field->bytes)) {
		in->packed = field->bytes;
		field->bytes.pos = field->bytes.end;
		return NULL;
	}
	in->packed = (struct reader){ 0 };
	if (before.bytes.pos)
		err = take_frames(in, &before);
	if (!err && before.bytes.failed)
		err = reader_check(&before.bytes);
	return err ? err : take_frames(in, field);
}

static struct err *add_sample(struct pprof *in, struct reader *r)
{
	struct proto_field field;
	struct err *err = NULL;
	uint64_t value;
	uint32_t at;

	in->nsamples++;
	in->frames.len = in->values.len = in->raw_labels.len = 0;
	in->packed = (struct reader){ 0 };
	while (!err && proto_next(r, &field)) {
		at = 0;
		if (field.number == 1)
			err = take_locations(in, &field);
		else if (field.number == 2)
			while (proto_number(&field, &at, &value))
				vec_push(&in->values, (int64_t)value);
		else if (field.number == 3 && field.wire == PROTO_BYTES)
			take_label(in, &field.bytes);
		if (field.wire == PROTO_BYTES && field.bytes.failed && !err)
			err = reader_check(&field.bytes);
	}
	if (!err)
		err = reader_check(r);
	if (!err && in->values.len != in->types.len)
		err = err_new(ERR_CORRUPT, "it has %zu values instead of %zu", in->values.len,
			      in->types.len);
	if (!err) {
		use_labels(in);
		err = add_stack_and_values(in);
	}
	return err ? err_wrap(err, "sample %" PRIu64, in->nsamples) : NULL;
}

static struct err *read_samples(struct pprof *in, struct reader r)
{
	struct proto_field field;
	struct err *err = NULL;

	while (!err && proto_next(&r, &field))
		if (field.number == P_SAMPLE && field.wire == PROTO_BYTES)
			err = add_sample(in, &field.bytes);
	profile_queue_flush(in->p, &in->queue);
	return err;
}

static const char *comments_of(const struct pprof *in, struct arena *arena)
{
	const char *all = "";

	for (size_t i = 0; i < in->comments.len; i++) {
		uint64_t string = in->comments.items[i];

		if (string < in->strings.len && in->strings.items[string].len)
			all = arena_printf(arena, "%s%s%.*s", all, *all ? "\n" : "", (int)in->strings.items[string].len,
					   in->strings.items[string].data);
	}
	return all;
}

static void say_facts(const struct pprof *in, struct profile_facts *facts)
{
	facts->has_wall = (int64_t)in->wall_ns > 0;
	facts->wall_ns = facts->has_wall ? in->wall_ns : 0;
	facts->has_duration = (int64_t)in->duration_ns > 0;
	facts->duration_ns = facts->has_duration ? in->duration_ns : 0;
	facts->comment = comments_of(in, &facts->arena);
	if (in->drop && !in->prune)
		diag_warn(in->diag, "frames that the file wants dropped are kept: its expression cannot be used here");
}

/* drop_frames and keep_frames, which must be known before functions are. */
static void set_prune(struct pprof *in)
{
	static const struct pprof_text none = { "", 0 };
	const struct pprof_text *drop = in->drop < in->strings.len ? &in->strings.items[in->drop] : &none;
	const struct pprof_text *keep = in->keep < in->strings.len ? &in->strings.items[in->keep] : &none;

	if (drop->len)
		in->prune = pprof_prune_new(drop->data, drop->len, keep->data, keep->len);
}

static void deinit(struct pprof *in)
{
	vec_deinit(&in->strings);
	vec_deinit(&in->texts);
	vec_deinit(&in->types);
	vec_deinit(&in->functions);
	vec_deinit(&in->lines);
	vec_deinit(&in->frames);
	vec_deinit(&in->before);
	vec_deinit(&in->stacks);
	vec_deinit(&in->calls);
	free(in->known);
	vec_deinit(&in->values);
	vec_deinit(&in->labels);
	vec_deinit(&in->raw_labels);
	vec_deinit(&in->raw_before);
	vec_deinit(&in->comments);
	vec_deinit(&in->prunes);
	pprof_prune_free(in->prune);
	import_ids_deinit(&in->mapping_ids);
	vec_deinit(&in->mappings);
	import_ids_deinit(&in->function_ids);
	import_ids_deinit(&in->location_ids);
}

static struct err *read_pprof(const struct import_input *input, struct profile *p,
			      struct profile_facts *facts, struct diag *diag)
{
	struct pprof in = { .p = p, .diag = diag };
	struct reader r;
	struct err *err;

	reader_init(&r, input->data, input->len, /* big_endian= */ false);
	make_known(&in, input->len);
	err = read_tables(&in, r);
	if (!err)
		set_prune(&in);
	if (!err)
		err = add_types(&in);
	if (!err)
		err = read_code(&in, r);
	if (!err)
		err = read_locations(&in, r);
	if (!err)
		err = read_samples(&in, r);
	if (!err)
		say_facts(&in, facts);
	deinit(&in);
	return err;
}

const struct importer import_pprof = {
	.name = "pprof",
	.what = "profile.proto of pprof, from Go, C++, Rust, Java and others",
	.extensions = ".pb .pprof .prof .proto",
	.carries = IMPORT_THREADS | IMPORT_LINES | IMPORT_ADDRESSES | IMPORT_LABELS | IMPORT_INLINED |
		   IMPORT_TYPES,
	.recognise = recognise,
	.read = read_pprof,
};

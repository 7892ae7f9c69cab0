/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof_read.c - protobuf-c unpacks; ids and string numbers of the file are then looked up, none is believed.
 */
#include "formats/profile/pprof_read.h"

#include "formats/base/gzip.h"
#include "formats/base/map.h"
#include "formats/profile/pprof.pb-c.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LEN_MAX     ((size_t)1 << 30) /* unpacked */
#define EVENTS_MAX  256
#define NO_TYPE     SIZE_MAX

struct pprof_event {
	size_t weight, count; /* sample types */
};

struct pprof_reader {
	struct profile *p;
	const Pprof__Profile *in;
	struct arena arena;
	struct map mappings, functions, locations; /* id -> number in the profile */
	VEC(struct pprof_event) events;
	VEC(struct profile_label) labels; /* of the current sample */
};

bool pprof_is(const void *data, size_t len)
{
	const uint8_t *bytes = data;

	if (len >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
		return true;
	/* The first field is a sample type, whose first field is a number. */
	return len >= 4 && bytes[0] == 0x0a && bytes[1] < 0x20 && bytes[2] == 0x08;
}

static const char *text_of(const struct pprof_reader *r, int64_t string)
{
	if (string < 0 || (uint64_t)string >= r->in->n_string_table)
		return "";
	return r->in->string_table[string];
}

static struct err *check_strings(const struct pprof_reader *r)
{
	if (r->in->n_string_table == 0 || *r->in->string_table[0])
		return err_new(ERR_CORRUPT, "its table of strings does not begin with an empty one");
	return NULL;
}

/* ---- events ---- */

static bool counts(const struct pprof_reader *r, size_t type)
{
	return strcmp(text_of(r, r->in->sample_type[type]->unit), "count") == 0;
}

static bool is_samples(const struct pprof_reader *r, size_t type)
{
	return strcmp(text_of(r, r->in->sample_type[type]->type), "samples") == 0;
}

/* Does @type count the samples of the next one? */
static bool counts_next(const struct pprof_reader *r, size_t type)
{
	return type + 1 < r->in->n_sample_type && counts(r, type) &&
	       (is_samples(r, type) || !counts(r, type + 1));
}

static void add_event(struct pprof_reader *r, size_t weight, size_t count)
{
	const Pprof__ValueType *type = r->in->sample_type[weight];
	const char *unit = text_of(r, type->unit);
	struct profile_value_type event = { .name = profile_string(r->p, text_of(r, type->type)) };
	struct pprof_event found = { weight, count };

	if (strcmp(unit, "nanoseconds") == 0)
		unit = "ns";
	else if (strcmp(unit, "count") == 0)
		unit = "events";
	event.unit = profile_string(r->p, unit);
	profile_add_value_type(r->p, &event);
	vec_push(&r->events, found);
}

/* All events, or only the one that is shown first, or all others. */
static void add_events(struct pprof_reader *r, int64_t first, bool want_first)
{
	for (size_t i = 0; i < r->in->n_sample_type; i++) {
		size_t count = NO_TYPE;

		if (counts_next(r, i))
			count = i++;
		else if (counts(r, i))
			count = i;
		if ((first && r->in->sample_type[i]->type == first) == want_first)
			add_event(r, i, count);
	}
}

static struct err *read_events(struct pprof_reader *r)
{
	if (r->in->n_sample_type == 0)
		return err_new(ERR_CORRUPT, "it has no sample type");
	if (r->in->n_sample_type > EVENTS_MAX)
		return err_new(ERR_UNSUPPORTED, "it has %zu sample types, more than %d",
			       r->in->n_sample_type, EVENTS_MAX);
	add_events(r, r->in->default_sample_type, true);
	add_events(r, r->in->default_sample_type, false);
	return NULL;
}

/* ---- code ---- */

static void put(struct map *map, uint64_t id, uint32_t number)
{
	bool is_new;

	*map_put(map, id, &is_new) = number;
}

static uint32_t get(const struct map *map, uint64_t id, uint32_t otherwise)
{
	const uint64_t *number = map_get(map, id);

	return number ? (uint32_t)*number : otherwise;
}

static uint32_t add_module(struct pprof_reader *r, const char *path, const char *build_id)
{
	const char *slash = strrchr(path, '/');
	struct profile_module mod = { .kind = PROFILE_USER };

	if (!*path)
		return PROFILE_NONE;
	if (strncmp(path, "[kernel", 7) == 0)
		mod.kind = PROFILE_KERNEL;
	mod.name = profile_string(r->p, slash && slash[1] ? slash + 1 : path);
	mod.path = profile_string(r->p, path);
	mod.build_id = profile_string(r->p, build_id);
	return profile_add_module(r->p, &mod);
}

static void read_mappings(struct pprof_reader *r)
{
	put(&r->mappings, 0, PROFILE_NONE);
	for (size_t i = 0; i < r->in->n_mapping; i++) {
		const Pprof__Mapping *mapping = r->in->mapping[i];

		put(&r->mappings, mapping->id,
		    add_module(r, text_of(r, mapping->filename), text_of(r, mapping->build_id)));
	}
}

static void read_functions(struct pprof_reader *r)
{
	for (size_t i = 0; i < r->in->n_function; i++)
		put(&r->functions, r->in->function[i]->id, (uint32_t)i);
}

/* The function of @line in @module; functions of the file belong to no module by themselves. */
static struct err *line_of(struct pprof_reader *r, const Pprof__Line *line, uint32_t module,
			   struct profile_line *ret)
{
	uint32_t number = get(&r->functions, line->function_id, PROFILE_NONE);
	struct profile_function function = { .module = module };

	if (number == PROFILE_NONE)
		return err_new(ERR_CORRUPT, "function %" PRIu64 " is not there", line->function_id);

	const Pprof__Function *from = r->in->function[number];

	function.name = profile_string(r->p, text_of(r, from->name));
	function.linkage_name = profile_string(r->p, text_of(r, from->system_name));
	function.file = profile_string(r->p, text_of(r, from->filename));
	function.line = (uint32_t)MAX(from->start_line, 0);
	*ret = (struct profile_line){ profile_add_function(r->p, &function), function.file,
				      (uint32_t)MAX(line->line, 0) };
	return NULL;
}

static const char *unnamed(struct pprof_reader *r, const char *module, uint64_t address)
{
	if (!*module)
		return "[unknown]";
	if (*module == '[' || !address)
		return module;
	return arena_printf(&r->arena, "[%s+0x%" PRIx64 "]", module, address);
}

static struct profile_line unnamed_line(struct pprof_reader *r, uint32_t module, uint64_t address)
{
	const char *name = profile_text(r->p, profile_module(r->p, module)->name);
	struct profile_function function = {
		.name = profile_string(r->p, unnamed(r, name, address)),
		.module = module,
		.unnamed = true,
	};

	return (struct profile_line){ .function = profile_add_function(r->p, &function) };
}

static enum profile_frame_kind kind_of(const struct pprof_reader *r, uint32_t module)
{
	return profile_module(r->p, module)->kind == PROFILE_KERNEL ? PROFILE_FRAME_KERNEL
								    : PROFILE_FRAME_NATIVE;
}

/* Addresses tell locations apart; what has none, or one that another has with other lines, is known by its lines. */
static uint32_t add_location(struct pprof_reader *r, uint32_t module, uint64_t address,
			     const struct profile_line *lines, uint32_t count)
{
	enum profile_frame_kind kind = kind_of(r, module);
	uint32_t location;

	if (!address)
		return profile_add_named_location(r->p, kind, module, lines, count);
	location = profile_add_location(r->p, module, address, kind);
	if (r->p->locations.items[location].nlines)
		return profile_add_named_location(r->p, kind, module, lines, count);
	profile_set_lines(r->p, location, lines, count);
	return location;
}

static struct err *read_location(struct pprof_reader *r, const Pprof__Location *from)
{
	const uint64_t *mapping = map_get(&r->mappings, from->mapping_id);
	struct profile_line *lines = ARENA_ARRAY(&r->arena, struct profile_line, from->n_line + 1);
	struct err *err = NULL;

	if (!mapping)
		return err_new(ERR_CORRUPT, "location %" PRIu64 " lies in mapping %" PRIu64
					    ", which is not there",
			       from->id, from->mapping_id);

	uint32_t module = (uint32_t)*mapping;

	for (size_t line = 0; line < from->n_line && !err; line++)
		err = line_of(r, from->line[line], module, &lines[line]);
	if (err)
		return err_wrap(err, "location %" PRIu64, from->id);
	if (!from->n_line)
		lines[0] = unnamed_line(r, module, from->address);
	put(&r->locations, from->id,
	    add_location(r, module, from->address, lines, (uint32_t)MAX(from->n_line, 1)));
	return NULL;
}

/* ---- samples ---- */

/* A number that a thread or CPU can have. */
static bool take_number(const Pprof__Label *label, uint32_t *ret)
{
	if (label->num < 0 || label->num >= PROFILE_NONE)
		return false;
	*ret = (uint32_t)label->num;
	return true;
}

/* What precord's samples have a place of their own for; false: it is any label. */
static bool read_known_label(const struct pprof_reader *r, const Pprof__Label *label,
			     struct profile_thread *thread, uint32_t *cpu)
{
	const char *key = text_of(r, label->key);

	if (strcmp(key, "pid") == 0)
		return take_number(label, &thread->pid);
	if (strcmp(key, "tid") == 0)
		return take_number(label, &thread->tid);
	if (strcmp(key, "cpu") == 0)
		return take_number(label, cpu);
	if (strcmp(key, "process") == 0)
		thread->process = profile_string(r->p, text_of(r, label->str));
	else if (strcmp(key, "thread") == 0)
		thread->comm = profile_string(r->p, text_of(r, label->str));
	else
		return false;
	return true;
}

static struct profile_label other_label(const struct pprof_reader *r, const Pprof__Label *label)
{
	struct profile_label ret = { .key = profile_string(r->p, text_of(r, label->key)) };

	if (label->str) {
		ret.text = profile_string(r->p, text_of(r, label->str));
		return ret;
	}
	ret.is_number = true;
	ret.number = label->num;
	ret.unit = profile_string(r->p, text_of(r, label->num_unit));
	return ret;
}

static void read_labels(struct pprof_reader *r, const Pprof__Sample *from,
			struct profile_thread *thread, struct profile_sample *sample)
{
	r->labels.len = 0;
	for (size_t i = 0; i < from->n_label; i++)
		if (!read_known_label(r, from->label[i], thread, &sample->cpu))
			vec_push(&r->labels, other_label(r, from->label[i]));
	sample->labels = profile_add_labels(r->p, r->labels.items, (uint32_t)r->labels.len);
}

static struct err *stack_of(struct pprof_reader *r, const Pprof__Sample *from, uint32_t *ret)
{
	uint32_t stack = 0;

	for (size_t i = from->n_location_id; i > 0; i--) {
		uint32_t location = get(&r->locations, from->location_id[i - 1], PROFILE_NONE);

		if (location == PROFILE_NONE)
			return err_new(ERR_CORRUPT, "location %" PRIu64 " is not there",
				       from->location_id[i - 1]);
		stack = profile_add_stack(r->p, stack, location, PROFILE_HOW_SURE);
	}
	*ret = stack;
	return NULL;
}

/* The value of one event; 0 is no sample, and the difference of two profiles has negative ones. */
MUST_USE static struct err *add_sample(struct pprof_reader *r, const Pprof__Sample *from, uint32_t event,
		       struct profile_sample sample)
{
	const struct pprof_event *of = &r->events.items[event];
	int64_t weight = from->value[of->weight];
	int64_t count = of->count == NO_TYPE ? 1 : from->value[of->count];

	if (!weight)
		return NULL;
	if (!profile_fits(r->p, weight))
		return err_new(ERR_CORRUPT, "its values add up to more than 2^63");
	sample.type = event;
	sample.count = count == INT64_MIN ? 1 : (uint64_t)MAX(llabs(count), 1);
	sample.weight = weight;
	sample.weight_sq = (double)weight * (double)weight / (double)sample.count;
	profile_add_sample(r->p, &sample);
	return NULL;
}

static struct err *read_sample(struct pprof_reader *r, const Pprof__Sample *from)
{
	struct profile_sample sample = { .cpu = PROFILE_NONE, .user = true };
	struct profile_thread thread = { .pid = PROFILE_NONE, .tid = PROFILE_NONE };
	struct err *err = NULL;

	if (from->n_value != r->in->n_sample_type)
		return err_new(ERR_CORRUPT, "it has %zu values instead of %zu", from->n_value,
			       r->in->n_sample_type);
	err = stack_of(r, from, &sample.stack);
	if (err)
		return err;
	read_labels(r, from, &thread, &sample);
	sample.thread = profile_add_thread(r->p, &thread);
	for (uint32_t event = 0; event < r->events.len && !err; event++)
		err = add_sample(r, from, event, sample);
	return err;
}

/* ---- the file ---- */

static struct err *read_message(struct pprof_reader *r, struct pprof_facts *ret)
{
	struct err *err = check_strings(r);

	if (!err)
		err = read_events(r);
	if (err)
		return err;
	read_mappings(r);
	read_functions(r);
	for (size_t i = 0; i < r->in->n_location && !err; i++)
		err = read_location(r, r->in->location[i]);
	for (size_t i = 0; i < r->in->n_sample && !err; i++) {
		err = read_sample(r, r->in->sample[i]);
		if (err)
			err = err_wrap(err, "sample %zu", i + 1);
	}
	ret->wall_ns = (uint64_t)MAX(r->in->time_nanos, 0);
	ret->duration_ns = (uint64_t)MAX(r->in->duration_nanos, 0);
	return err;
}

static struct err *read_unpacked(const void *data, size_t len, struct profile *p,
				 struct pprof_facts *ret)
{
	Pprof__Profile *in = pprof__profile__unpack(NULL, len, data);
	struct pprof_reader r = { .p = p, .in = in };
	struct err *err;

	if (!in)
		return err_new(ERR_CORRUPT, "its %zu bytes are no well-formed profile.proto", len);
	err = read_message(&r, ret);
	pprof__profile__free_unpacked(in, NULL);
	arena_deinit(&r.arena);
	map_deinit(&r.mappings);
	map_deinit(&r.functions);
	map_deinit(&r.locations);
	vec_deinit(&r.events);
	vec_deinit(&r.labels);
	return err;
}

struct err *pprof_read(const void *data, size_t len, struct profile *p, struct pprof_facts *ret)
{
	CLEANUP(writer_deinit) struct writer unpacked = { 0 };
	const uint8_t *bytes = data;
	struct err *err;

	if (len < 2 || bytes[0] != 0x1f || bytes[1] != 0x8b)
		return read_unpacked(data, len, p, ret);
	err = gzip_decode(data, len, LEN_MAX, &unpacked);
	return err ? err : read_unpacked(unpacked.data, unpacked.len, p, ret);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_otlp.c - OpenTelemetry's profiles, version v1development as it is since 1.9: ProfilesData, or a request to export.
 *
 * A dictionary of everything stands behind the profiles that refer to it, and is read first. Each profile has one value type;
 * profiles of one type are added up. A sample without values counts one at each of its times. Attributes that say where a
 * sample ran (process.pid, thread.id, thread.name, ...) become its thread, others labels; those of the resource hold for all
 * that it has.
 */
#include "formats/base/reader.h"
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_json.h"
#include "formats/profile/import/import_place.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/otlp_reader.h"

#include <inttypes.h>
#include <string.h>

struct otlp_attribute {
	uint32_t key, text, unit; /* strings of the profile */
	bool is_number;
	int64_t number;
};

/* A range of another table. */
struct otlp_range {
	uint32_t first, len;
};

struct otlp {
	struct profile *p;
	VEC(uint32_t) strings; /* of the profile */
	VEC(struct otlp_attribute) attributes;
	VEC(uint32_t) modules; /* of the profile; PROFILE_NONE: without a name */
	VEC(struct profile_function) functions; /* without a module */
	VEC(uint32_t) locations;
	VEC(uint32_t) stacks;
	VEC(struct profile_line) lines; /* of one location */
	VEC(uint32_t) path;		/* of one stack, leaf first */
	VEC(uint32_t) picked;		/* attributes of one sample */
	VEC(int64_t) values;
	VEC(uint64_t) times;
	struct profile_thread resource; /* where its samples ran, unless they say otherwise */
	uint32_t type;
	uint64_t period; /* 0: the value is no multiple of it */
	bool is_old;			/* version 1.6 or 1.7 */
	VEC(uint32_t) places, types;	/* of one profile of those: locations of its samples, value types */
	struct profile_facts *facts;
};

static struct err *older(void)
{
	return err_remedy(err_new(ERR_UNSUPPORTED, "it is of a version of OpenTelemetry's profiles before 1.6, of 1.8, or JSON before 1.9"),
			  "v1development has no stable form yet; write it with a newer exporter, or as pprof");
}

static uint32_t text_at(const struct otlp *in, int64_t index)
{
	return index >= 0 && (uint64_t)index < in->strings.len ? in->strings.items[index] : 0;
}

static uint32_t small(int64_t number)
{
	return number < 0 || number >= UINT32_MAX ? PROFILE_NONE : (uint32_t)number;
}

/* ---- attributes ---- */

static struct err *read_any(struct otlp *in, struct otlp_part part, struct otlp_attribute *ret)
{
	struct otlp_reader r;
	struct otlp_item item;

	otlp_open(&r, part, OTLP_ANY_VALUE);
	while (otlp_next(&r, &item)) {
		if (item.number == 1) {
			ret->text = import_text(in->p, item.text);
		} else if (item.number == 8) {
			ret->text = text_at(in, item.value);
		} else {
			ret->is_number = true;
			ret->number = item.value;
		}
	}
	return otlp_close(&r, NULL);
}

static struct err *read_attribute(struct otlp *in, struct otlp_part part, enum otlp_message message,
				  struct otlp_attribute *ret)
{
	struct otlp_reader r;
	struct otlp_item item;
	struct err *err = NULL;

	*ret = (struct otlp_attribute){ 0 };
	otlp_open(&r, part, message);
	while (!err && otlp_next(&r, &item)) {
		if (item.number == 2)
			err = read_any(in, item.part, ret);
		else if (item.number == 1 && message == OTLP_KEY_VALUE)
			ret->key = import_text(in->p, item.text);
		else if (item.number == 3 && message == OTLP_ATTRIBUTE)
			ret->unit = text_at(in, item.value);
		else
			ret->key = text_at(in, item.value);
	}
	return otlp_close(&r, err);
}

/* False: it says nothing of where a sample ran. */
static bool take_place(const struct otlp *in, const struct otlp_attribute *attribute, struct profile_thread *place)
{
	const char *key = profile_text(in->p, attribute->key);

	if (strcmp(key, "process.pid") == 0)
		place->pid = small(attribute->number);
	else if (strcmp(key, "thread.id") == 0)
		place->tid = small(attribute->number);
	else if (strcmp(key, "thread.name") == 0)
		place->comm = attribute->text;
	else if (strcmp(key, "process.executable.name") == 0)
		place->process = attribute->text;
	else
		return false;
	return true;
}

/* ---- the dictionary ---- */

/* Attribute number @index, if it has @key: its text; else 0. */
static uint32_t attribute_text(const struct otlp *in, int64_t index, const char *key)
{
	if (index < 0 || (uint64_t)index >= in->attributes.len ||
	    strcmp(profile_text(in->p, in->attributes.items[index].key), key) != 0)
		return 0;
	return in->attributes.items[index].text;
}

static struct err *add_mapping(struct otlp *in, struct otlp_part part)
{
	struct profile_module mod = { .kind = PROFILE_USER };
	struct otlp_reader r;
	struct otlp_item item;
	const char *path, *slash;
	uint32_t number = PROFILE_NONE;

	otlp_open(&r, part, OTLP_MAPPING);
	while (otlp_next(&r, &item)) {
		if (item.number == 4)
			mod.path = text_at(in, item.value);
		else if (attribute_text(in, item.value, "process.executable.build_id.gnu"))
			mod.build_id = attribute_text(in, item.value, "process.executable.build_id.gnu");
	}
	path = profile_text(in->p, mod.path);
	slash = strrchr(path, '/');
	if (strncmp(path, "[kernel", 7) == 0 || strcmp(path, "vmlinux") == 0)
		mod.kind = PROFILE_KERNEL;
	mod.name = slash && slash[1] ? profile_string(in->p, slash + 1) : mod.path;
	if (*path || mod.build_id)
		number = profile_add_module(in->p, &mod);
	vec_push(&in->modules, number);
	return otlp_close(&r, NULL);
}

static struct err *add_function(struct otlp *in, struct otlp_part part)
{
	struct profile_function function = { .module = PROFILE_NONE };
	struct otlp_reader r;
	struct otlp_item item;

	otlp_open(&r, part, OTLP_FUNCTION);
	while (otlp_next(&r, &item)) {
		if (item.number == 1)
			function.name = text_at(in, item.value);
		else if (item.number == 2)
			function.linkage_name = text_at(in, item.value);
		else if (item.number == 3)
			function.file = text_at(in, item.value);
		else if (item.value > 0)
			function.line = (uint32_t)MIN(item.value, (int64_t)UINT32_MAX);
	}
	if (!function.name)
		function.name = function.linkage_name;
	vec_push(&in->functions, function);
	return otlp_close(&r, NULL);
}

static struct err *add_line(struct otlp *in, struct otlp_part part, uint32_t module)
{
	struct profile_line line = { 0 };
	struct profile_function function;
	struct otlp_reader r;
	struct otlp_item item;
	int64_t index = 0;
	struct err *err;

	otlp_open(&r, part, OTLP_LINE);
	while (otlp_next(&r, &item)) {
		if (item.number == 1)
			index = item.value;
		else if (item.value > 0)
			line.line = (uint32_t)MIN(item.value, (int64_t)UINT32_MAX);
	}
	err = otlp_close(&r, NULL);
	if (err)
		return err;
	if (index < 0 || (uint64_t)index >= in->functions.len)
		return err_new(ERR_CORRUPT, "function %" PRId64 " is not there", index);
	function = in->functions.items[index];
	function.module = module;
	line.function = profile_add_function(in->p, &function);
	line.file = function.file;
	vec_push(&in->lines, line);
	return NULL;
}

/* "profile.frame.type" of semantic conventions. */
static enum profile_frame_kind kind_of(const char *type)
{
	static const char *const compiled[] = { "", "native", "go", "rust", "cpp", "c", "swift" };

	if (strcmp(type, "kernel") == 0)
		return PROFILE_FRAME_KERNEL;
	for (size_t i = 0; i < ARRAY_LEN(compiled); i++)
		if (strcmp(type, compiled[i]) == 0)
			return PROFILE_FRAME_NATIVE;
	return PROFILE_FRAME_INTERPRETED;
}

static uint32_t location_of(struct otlp *in, uint32_t module, uint64_t addr, enum profile_frame_kind kind)
{
	uint32_t location, count = (uint32_t)in->lines.len;

	if (!addr || module == PROFILE_NONE)
		return profile_add_named_location(in->p, kind, module, in->lines.items, count);
	location = profile_add_location(in->p, module, addr, kind);
	if (in->p->locations.items[location].nlines)
		return profile_add_named_location(in->p, kind, module, in->lines.items, count);
	profile_set_lines(in->p, location, in->lines.items, count);
	return location;
}

static struct err *add_location(struct otlp *in, struct otlp_part part)
{
	VEC(struct otlp_part) lines = { 0 };
	uint32_t module = PROFILE_NONE, type = 0, location;
	struct otlp_reader r;
	struct otlp_item item;
	uint64_t addr = 0;
	struct err *err;

	otlp_open(&r, part, in->is_old ? OTLP_OLD_LOCATION : OTLP_LOCATION);
	while (otlp_next(&r, &item)) {
		if (item.number == 1 && item.value >= 0 && (uint64_t)item.value < in->modules.len)
			module = in->modules.items[item.value];
		else if (item.number == 2)
			addr = (uint64_t)item.value;
		else if (item.number == 3)
			vec_push(&lines, item.part);
		else if (attribute_text(in, item.value, "profile.frame.type"))
			type = attribute_text(in, item.value, "profile.frame.type");
	}
	err = otlp_close(&r, NULL);
	in->lines.len = 0;
	for (size_t i = 0; i < lines.len && !err; i++)
		err = add_line(in, lines.items[i], module);
	vec_deinit(&lines);
	if (err)
		return err_wrap(err, "location %zu", in->locations.len);
	if (!in->lines.len)
		vec_push(&in->lines, import_unnamed_line(in->p, module, addr));
	location = location_of(in, module, addr, kind_of(profile_text(in->p, type)));
	vec_push(&in->locations, location);
	return NULL;
}

static struct err *add_stack(struct otlp *in, struct otlp_part part)
{
	struct otlp_reader r;
	struct otlp_item item;
	uint32_t stack = 0;
	struct err *err;

	in->path.len = 0;
	otlp_open(&r, part, OTLP_STACK);
	while (otlp_next(&r, &item))
		vec_push(&in->path, small(item.value));
	err = otlp_close(&r, NULL);
	for (size_t i = in->path.len; i-- > 0 && !err;) {
		if (in->path.items[i] >= in->locations.len)
			err = err_new(ERR_CORRUPT, "stack %zu has location %" PRIu32 ", which is not there", in->stacks.len,
				      in->path.items[i]);
		else
			stack = import_stack(in->p, stack, in->locations.items[in->path.items[i]]);
	}
	vec_push(&in->stacks, stack);
	return err;
}

static struct err *add_attribute(struct otlp *in, struct otlp_part part)
{
	struct otlp_attribute attribute;
	struct err *err = read_attribute(in, part, in->is_old ? OTLP_KEY_VALUE : OTLP_ATTRIBUTE, &attribute);

	vec_push(&in->attributes, attribute);
	return err;
}

static struct err *add_string(struct otlp *in, struct json_text text)
{
	uint32_t number = import_text(in->p, text);

	vec_push(&in->strings, number);
	return NULL;
}

static struct err *read_strings(struct otlp *in, struct otlp_part part)
{
	struct otlp_reader r;
	struct otlp_item item;
	struct err *err = NULL;

	otlp_open(&r, part, OTLP_DICTIONARY);
	while (!err && otlp_next(&r, &item))
		if (item.number == 5)
			err = add_string(in, item.text);
	return otlp_close(&r, err);
}

/* All messages of field @number, of which each is given to @read. */
static struct err *read_each(struct otlp *in, struct otlp_part part, enum otlp_message message, unsigned number,
			     struct err *(*read)(struct otlp *in, struct otlp_part part))
{
	struct otlp_reader r;
	struct otlp_item item;
	struct err *err = NULL;

	otlp_open(&r, part, message);
	while (!err && otlp_next(&r, &item))
		if (item.number == number)
			err = read(in, item.part);
	return otlp_close(&r, err);
}

/* Each table refers to those in front of it here. */
static struct err *read_dictionary(struct otlp *in, struct otlp_part part)
{
	struct err *err = read_strings(in, part);

	if (!err && !in->is_old && (!in->strings.len || in->strings.items[0]))
		err = err_new(ERR_CORRUPT, "its table of strings does not begin with an empty one");
	if (!err)
		err = read_each(in, part, OTLP_DICTIONARY, 6, add_attribute);
	if (!err)
		err = read_each(in, part, OTLP_DICTIONARY, 1, add_mapping);
	if (!err)
		err = read_each(in, part, OTLP_DICTIONARY, 3, add_function);
	if (!err)
		err = read_each(in, part, OTLP_DICTIONARY, 2, add_location);
	if (!err && !in->is_old)
		err = read_each(in, part, OTLP_DICTIONARY, 7, add_stack);
	return err;
}

/* ---- profiles ---- */

static struct err *read_type(struct otlp *in, struct otlp_part part, uint32_t *ret_name, uint32_t *ret_unit)
{
	struct otlp_reader r;
	struct otlp_item item;

	otlp_open(&r, part, OTLP_VALUE_TYPE);
	while (otlp_next(&r, &item))
		*(item.number == 1 ? ret_name : ret_unit) = text_at(in, item.value);
	return otlp_close(&r, NULL);
}

/* How many samples a value without a time stands for; one that has its time is one. A period of 1 is none. */
static uint64_t count_of(const struct otlp *in, int64_t value)
{
	const struct profile_value_type *type = &in->p->types.items[in->type];
	uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;

	if (strcmp(profile_text(in->p, type->unit), "events") == 0)
		return MAX(size, 1);
	return in->period > 1 && size % in->period == 0 ? MAX(size / in->period, 1) : 1;
}

static void add_values(struct otlp *in, struct import_sample sample)
{
	size_t count = MAX(in->values.len, in->times.len);

	for (size_t i = 0; i < count; i++) {
		sample.weight = in->values.len ? in->values.items[i] : 1;
		sample.has_time = i < in->times.len;
		sample.count = sample.has_time ? 1 : count_of(in, sample.weight);
		sample.time_ns = sample.has_time ? in->times.items[i] : 0;
		if (sample.weight && sample.weight != INT64_MIN)
			import_sample(in->p, &sample);
	}
}

/* Its thread and its labels. */
static struct err *use_attributes(struct otlp *in, struct import_sample *sample)
{
	struct profile_thread place = in->resource;
	VEC(struct profile_label) labels = { 0 };

	for (size_t i = 0; i < in->picked.len; i++) {
		uint32_t number = in->picked.items[i];

		if (number >= in->attributes.len) {
			vec_deinit(&labels);
			return err_new(ERR_CORRUPT, "attribute %" PRIu32 " is not there", number);
		}
		const struct otlp_attribute *from = &in->attributes.items[number];
		struct profile_label label = { from->key, from->text, from->unit, from->is_number, from->number };

		if (from->is_number && from->number >= 0 && strcmp(profile_text(in->p, from->key), "cpu.logical_number") == 0) {
			sample->has_cpu = true;
			sample->cpu = small(from->number);
			continue;
		}
		if (!take_place(in, from, &place) && from->key)
			vec_push(&labels, label);
	}
	sample->thread = profile_add_thread(in->p, &place);
	sample->labels = profile_add_labels(in->p, labels.items, (uint32_t)labels.len);
	vec_deinit(&labels);
	return NULL;
}

static struct err *add_sample(struct otlp *in, struct otlp_part part)
{
	struct import_sample sample = { .type = in->type };
	struct otlp_reader r;
	struct otlp_item item;
	int64_t stack = 0;
	struct err *err;
	bool is_older = false;

	in->values.len = in->times.len = in->picked.len = 0;
	otlp_open(&r, part, OTLP_SAMPLE);
	while (otlp_next(&r, &item)) {
		if (item.number == 1)
			stack = item.value;
		else if (item.number == 2)
			vec_push(&in->picked, small(item.value));
		else if (item.number == 4)
			vec_push(&in->values, item.value);
		else if (item.number == 5)
			vec_push(&in->times, (uint64_t)item.value);
		else
			is_older = true;
	}
	err = otlp_close(&r, NULL);
	if (!err && is_older)
		err = older();
	if (!err && (stack < 0 || (uint64_t)stack >= in->stacks.len))
		err = err_new(ERR_CORRUPT, "stack %" PRId64 " is not there", stack);
	if (!err && in->values.len && in->times.len && in->values.len != in->times.len)
		err = err_new(ERR_CORRUPT, "a sample has %zu values and %zu times", in->values.len, in->times.len);
	if (!err)
		err = use_attributes(in, &sample);
	if (err)
		return err;
	sample.stack = in->stacks.items[stack];
	add_values(in, sample);
	return NULL;
}

static void say_times(struct otlp *in, uint64_t start_ns, uint64_t duration_ns)
{
	struct profile_facts *facts = in->facts;

	if (start_ns && start_ns < INT64_MAX && (!facts->has_wall || start_ns < facts->wall_ns)) {
		facts->has_wall = true;
		facts->wall_ns = facts->start_ns = start_ns;
	}
	if (duration_ns && duration_ns < INT64_MAX) {
		facts->has_duration = true;
		facts->duration_ns = MAX(facts->duration_ns, duration_ns);
	}
}

static struct err *set_type(struct otlp *in, struct otlp_part type, struct otlp_part period)
{
	uint32_t name = 0, unit = 0, of = 0, of_unit = 0;
	struct err *err = type.data ? read_type(in, type, &name, &unit) : NULL;
	char text[256], unit_text[256];

	if (!err && period.data)
		err = read_type(in, period, &of, &of_unit);
	if (err)
		return err;
	if (of != name || of_unit != unit)
		in->period = 0;
	snprintf(text, sizeof(text), "%s", name ? profile_text(in->p, name) : "samples");
	snprintf(unit_text, sizeof(unit_text), "%s", profile_text(in->p, unit));
	in->type = import_type(in->p, text, unit_text);
	return in->type == PROFILE_NONE ? err_new(ERR_UNSUPPORTED, "it has more than %d value types", IMPORT_TYPES_MAX)
					: NULL;
}

/* ---- versions 1.6 and 1.7 ---- */

/*
 * There a sample has a part of its profile's list of locations and a value of each of its profile's types, and attributes of the table
 * have their key as text. async-profiler 4.1 writes it. It does not begin the table of strings with an empty one, so that 0 is a string.
 */

/* Is the first profile of that kind? */
static struct err *note_profile(struct otlp *in, struct otlp_part part)
{
	struct otlp_reader r;
	struct otlp_item item;

	otlp_open(&r, part, OTLP_PROFILE);
	while (!in->is_old && otlp_next(&r, &item))
		in->is_old = item.number == OTLP_OLDER;
	return otlp_close(&r, NULL);
}

static struct err *note_scope(struct otlp *in, struct otlp_part part)
{
	return in->is_old ? NULL : read_each(in, part, OTLP_SCOPE_PROFILES, 2, note_profile);
}

static struct err *note_version(struct otlp *in, struct otlp_part part)
{
	return in->is_old ? NULL : read_each(in, part, OTLP_RESOURCE_PROFILES, 2, note_scope);
}

static struct err *add_old_type(struct otlp *in, struct otlp_part part)
{
	struct err *err = set_type(in, part, (struct otlp_part){ .json = part.json });

	vec_push(&in->types, in->type);
	return err;
}

/* "[burner tid=12]" at the root is the thread. */
static bool take_root(struct otlp *in, uint32_t location, struct profile_thread *place)
{
	uint32_t function = in->p->lines.items[in->p->locations.items[location].first_line].function;
	const char *name = profile_text(in->p, in->p->functions.items[function].name);
	struct import_place found;

	if (*name != '[' || !import_place((struct json_text){ name, strlen(name) }, &found) || found.tid == UINT32_MAX)
		return false;
	place->tid = found.tid;
	place->comm = import_text(in->p, found.name);
	return true;
}

static struct err *old_stack(struct otlp *in, int64_t first, int64_t count, uint32_t *ret)
{
	uint32_t stack = 0;

	if (first < 0 || count < 0 || (uint64_t)first > in->places.len || (uint64_t)count > in->places.len - (uint64_t)first)
		return err_new(ERR_CORRUPT, "locations %" PRId64 " to %" PRId64 " of a profile are not there", first, first + MIN(count, INT32_MAX));
	for (int64_t i = first + count; i-- > first;) {
		uint32_t place = in->places.items[i];

		if (place >= in->locations.len)
			return err_new(ERR_CORRUPT, "location %" PRIu32 " is not there", place);
		if (i != first + count - 1 || !take_root(in, in->locations.items[place], &in->resource))
			stack = import_stack(in->p, stack, in->locations.items[place]);
	}
	*ret = stack;
	return NULL;
}

static void add_old_values(struct otlp *in, struct import_sample sample)
{
	for (size_t i = 0; i < MIN(in->values.len, in->types.len); i++) {
		in->type = sample.type = in->types.items[i];
		sample.weight = in->values.items[i];
		sample.count = i ? sample.count : count_of(in, sample.weight); /* the first is how many there are */
		sample.has_time = in->times.len == 1;
		sample.time_ns = sample.has_time ? in->times.items[0] : 0;
		if (sample.weight && sample.weight != INT64_MIN)
			import_sample(in->p, &sample);
	}
}

static struct err *add_old_sample(struct otlp *in, struct otlp_part part)
{
	struct profile_thread resource = in->resource;
	struct import_sample sample = { .count = 1 };
	int64_t first = 0, count = 0;
	struct otlp_reader r;
	struct otlp_item item;
	struct err *err;

	in->values.len = in->times.len = in->picked.len = 0;
	otlp_open(&r, part, OTLP_OLD_SAMPLE);
	while (otlp_next(&r, &item)) {
		if (item.number == 1)
			first = item.value;
		else if (item.number == 2)
			count = item.value;
		else if (item.number == 3)
			vec_push(&in->values, item.value);
		else if (item.number == 4)
			vec_push(&in->picked, small(item.value));
		else
			vec_push(&in->times, (uint64_t)item.value);
	}
	err = otlp_close(&r, NULL);
	if (!err)
		err = old_stack(in, first, count, &sample.stack);
	if (!err)
		err = use_attributes(in, &sample);
	if (!err)
		add_old_values(in, sample);
	in->resource = resource;
	return err;
}

static struct err *read_old_profile(struct otlp *in, struct otlp_part part)
{
	uint64_t start_ns = 0, duration_ns = 0;
	struct otlp_reader r;
	struct otlp_item item;
	struct err *err;

	if (part.json)
		return older();
	in->period = 0;
	in->places.len = in->types.len = 0;
	otlp_open(&r, part, OTLP_OLD_PROFILE);
	while (otlp_next(&r, &item)) {
		if (item.number == 3)
			vec_push(&in->places, small(item.value));
		else if (item.number == 4)
			start_ns = (uint64_t)item.value;
		else if (item.number == 5)
			duration_ns = (uint64_t)item.value;
	}
	err = otlp_close(&r, NULL);
	if (!err)
		err = read_each(in, part, OTLP_OLD_PROFILE, 1, add_old_type);
	if (err)
		return err;
	say_times(in, start_ns, duration_ns);
	return read_each(in, part, OTLP_OLD_PROFILE, 2, add_old_sample);
}

/* ---- all of it ---- */

static struct err *read_profile(struct otlp *in, struct otlp_part part)
{
	struct otlp_part type = { .json = part.json }, period = { .json = part.json };
	uint64_t start_ns = 0, duration_ns = 0;
	struct otlp_reader r;
	struct otlp_item item;
	bool is_older = false;
	struct err *err;

	if (in->is_old)
		return read_old_profile(in, part);
	in->period = 0;
	otlp_open(&r, part, OTLP_PROFILE);
	while (otlp_next(&r, &item)) {
		if (item.number == 1)
			type = item.part;
		else if (item.number == 3)
			start_ns = (uint64_t)item.value;
		else if (item.number == 4)
			duration_ns = (uint64_t)item.value;
		else if (item.number == 5)
			period = item.part;
		else if (item.number == 6)
			in->period = item.value > 0 ? (uint64_t)item.value : 0;
		else if (item.number == OTLP_OLDER)
			is_older = true;
	}
	err = otlp_close(&r, NULL);
	if (!err && is_older)
		err = older();
	if (!err)
		err = set_type(in, type, period);
	if (err)
		return err;
	say_times(in, start_ns, duration_ns);
	return read_each(in, part, OTLP_PROFILE, 2, add_sample);
}

static struct err *read_scope(struct otlp *in, struct otlp_part part)
{
	return read_each(in, part, OTLP_SCOPE_PROFILES, 2, read_profile);
}

static struct err *take_resource_attribute(struct otlp *in, struct otlp_part part)
{
	struct otlp_attribute attribute;
	struct err *err = read_attribute(in, part, OTLP_KEY_VALUE, &attribute);
	const char *key = profile_text(in->p, attribute.key);

	if (!err && !take_place(in, &attribute, &in->resource) && strcmp(key, "host.name") == 0)
		in->facts->hostname = arena_strdup(&in->facts->arena, profile_text(in->p, attribute.text));
	return err;
}

static struct err *read_resource(struct otlp *in, struct otlp_part part)
{
	return read_each(in, part, OTLP_RESOURCE, 1, take_resource_attribute);
}

static struct err *read_resource_profiles(struct otlp *in, struct otlp_part part)
{
	static const struct profile_thread nowhere = { .pid = PROFILE_NONE, .tid = PROFILE_NONE };
	struct err *err;

	in->resource = nowhere;
	err = read_each(in, part, OTLP_RESOURCE_PROFILES, 1, read_resource);
	return err ? err : read_each(in, part, OTLP_RESOURCE_PROFILES, 2, read_scope);
}

static void deinit(struct otlp *in)
{
	vec_deinit(&in->strings);
	vec_deinit(&in->attributes);
	vec_deinit(&in->modules);
	vec_deinit(&in->functions);
	vec_deinit(&in->locations);
	vec_deinit(&in->stacks);
	vec_deinit(&in->lines);
	vec_deinit(&in->path);
	vec_deinit(&in->picked);
	vec_deinit(&in->places);
	vec_deinit(&in->types);
	vec_deinit(&in->values);
	vec_deinit(&in->times);
}

static struct err *read_otlp(const struct import_input *input, struct profile *p, struct profile_facts *facts,
			     struct diag *diag)
{
	struct otlp in = { .p = p, .facts = facts };
	struct otlp_part whole = { import_json_begins(input->data, input->len, '{'), (const char *)input->data,
				   input->len, 0 };
	struct err *err = read_each(&in, whole, OTLP_DATA, 1, note_version);

	(void)diag;
	if (!err && in.is_old && whole.json)
		err = older();
	if (!err)
		err = read_each(&in, whole, OTLP_DATA, 2, read_dictionary);
	if (!err)
		err = read_each(&in, whole, OTLP_DATA, 1, read_resource_profiles);
	deinit(&in);
	return err;
}

/* Is it a dictionary? One has strings, the first of which is empty; async-profiler's may not be. */
static bool is_dictionary(struct reader r)
{
	struct proto_field field;

	for (unsigned i = 0; i < 100000 && proto_next(&r, &field); i++) {
		if (field.wire != PROTO_BYTES || field.number > 7)
			return false;
		if (field.number == 5)
			return !reader_left(&field.bytes);
	}
	return false;
}

/* A message of fields 1 and 2, each a message that begins with fields of the kind that belongs there. */
static bool is_proto(const uint8_t *start, size_t len)
{
	struct proto_field field, inner;
	struct reader r;

	reader_init(&r, start, len, /* big_endian= */ false);
	if (!proto_next(&r, &field)) {
		/* It may be longer than what is looked at; what is inside it is not. */
		uint64_t size;

		reader_init(&r, start, len, /* big_endian= */ false);
		field.number = (uint32_t)(reader_uleb(&r, "key") >> 3);
		field.wire = (enum proto_wire)(start[0] & 7);
		size = reader_uleb(&r, "length");
		if (r.failed || len < IMPORT_START_LEN || size < reader_left(&r))
			return false;
		field.bytes = reader_slice(&r, reader_left(&r), "message");
	}
	if ((field.number != 1 && field.number != 2) || field.wire != PROTO_BYTES || !reader_left(&field.bytes))
		return false;
	if (field.number == 2)
		return is_dictionary(field.bytes);
	for (unsigned i = 0; i < 3 && proto_next(&field.bytes, &inner); i++)
		if (inner.wire != PROTO_BYTES || inner.number > 3)
			return false;
	/* In a profile of pprof's the first field would be a type, of numbers. */
	return !proto_next(&r, &field) || (field.number <= 2 && field.wire == PROTO_BYTES);
}

static unsigned recognise(const uint8_t *start, size_t len)
{
	if (import_json_begins(start, len, '{'))
		return import_json_has(start, len, "resourceProfiles") ? 90 : 0;
	return is_proto(start, len) ? 84 : 0;
}

const struct importer import_otlp = {
	.name = "otlp",
	.what = "profiles of OpenTelemetry (v1development, since 1.9; 1.6 and 1.7), protobuf or JSON",
	.extensions = ".otlp .otlp.json",
	.carries = IMPORT_TIMES | IMPORT_THREADS | IMPORT_LINES | IMPORT_ADDRESSES | IMPORT_LABELS | IMPORT_INLINED | IMPORT_TYPES,
	.recognise = recognise,
	.read = read_otlp,
};

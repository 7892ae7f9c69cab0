/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_otlp.c - OpenTelemetry's profiles, v1development as of 1.9 to 1.11, in protobuf and in JSON.
 *
 * Everything stands in one dictionary, whose entry 0 of each table is "none"; so numbers of the profile are one less but for strings
 * and stacks, which have a "none" themselves. Each value type is a profile, each row a sample, with a value and a time for each
 * of its samples where these are known, else with their sum.
 */
#include "formats/base/json_writer.h"
#include "formats/base/text.h"
#include "formats/base/writer.h"
#include "report/export/export_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages in either coding of OpenTelemetry's ---- */

/* In protobuf a message stands behind its length: each is collected until it ends. */

#define OTLP_DEPTH_MAX 12

struct otlp_writer {
	bool is_json;
	struct json json;
	FILE *out;
	unsigned depth;
	struct writer levels[OTLP_DEPTH_MAX]; /* protobuf: the messages that are open */
	unsigned numbers[OTLP_DEPTH_MAX];     /* the field that each is the value of */
};

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static struct writer *level(struct otlp_writer *w)
{
	return &w->levels[w->depth];
}

static void put_key(struct otlp_writer *w, unsigned number, unsigned wire)
{
	writer_uleb(level(w), (uint64_t)number << 3 | wire);
}

static void put_bytes(struct otlp_writer *w, unsigned number, const void *data, size_t len)
{
	put_key(w, number, WIRE_BYTES);
	writer_uleb(level(w), len);
	writer_bytes(level(w), data, len);
}

/* The outermost message is open; otlp_writer_finish() ends it, puts it to @out and releases @w. */
static void otlp_writer_init(struct otlp_writer *w, bool is_json, FILE *out)
{
	*w = (struct otlp_writer){ .is_json = is_json, .out = out };
	json_init(&w->json, out);
	if (is_json)
		json_open(&w->json, NULL, '{');
}

static void otlp_writer_finish(struct otlp_writer *w)
{
	if (w->is_json) {
		json_close(&w->json, '}');
		fputc('\n', w->out);
	}
	if (w->levels[0].len)
		fwrite(w->levels[0].data, 1, w->levels[0].len, w->out);
	for (unsigned i = 0; i < OTLP_DEPTH_MAX; i++)
		writer_deinit(&w->levels[i]);
}

static void otlp_begin(struct otlp_writer *w, unsigned number, const char *name)
{
	if (w->is_json) {
		json_open(&w->json, name, '{');
		return;
	}
	w->depth++;
	w->numbers[w->depth] = number;
	writer_reset(level(w));
}

static void otlp_end(struct otlp_writer *w)
{
	const struct writer *done = level(w);

	if (w->is_json) {
		json_close(&w->json, '}');
		return;
	}
	w->depth--;
	put_bytes(w, w->numbers[w->depth + 1], done->data, done->len);
}

static void otlp_list(struct otlp_writer *w, const char *name)
{
	if (w->is_json)
		json_open(&w->json, name, '[');
}

static void otlp_list_end(struct otlp_writer *w)
{
	if (w->is_json)
		json_close(&w->json, ']');
}

static void put_varint(struct otlp_writer *w, unsigned number, int64_t value)
{
	put_key(w, number, WIRE_VARINT);
	writer_uleb(level(w), (uint64_t)value);
}

/* @name NULL: an element of a list. */
static void otlp_int(struct otlp_writer *w, unsigned number, const char *name, int32_t value)
{
	if (name && !value)
		return;
	if (w->is_json)
		json_int(&w->json, name, value);
	else
		put_varint(w, number, value);
}

static void otlp_int64(struct otlp_writer *w, unsigned number, const char *name, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	if (w->is_json)
		json_string(&w->json, name, text);
	else
		put_varint(w, number, value);
}

static void json_decimal(struct json *json, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	json_string(json, name, text);
}

/* Addresses of the kernel are beyond INT64_MAX. */
static void otlp_uint64(struct otlp_writer *w, unsigned number, const char *name, uint64_t value)
{
	if (w->is_json)
		json_decimal(&w->json, name, value);
	else
		put_varint(w, number, (int64_t)value);
}

static void otlp_fixed64(struct otlp_writer *w, unsigned number, const char *name, uint64_t value)
{
	if (name && !value)
		return;
	if (w->is_json) {
		json_decimal(&w->json, name, value);
		return;
	}
	put_key(w, number, WIRE_FIXED64);
	writer_u64(level(w), value);
}

/* escaped: valid UTF-8 */
static void otlp_text(struct otlp_writer *w, unsigned number, const char *name, const char *text)
{
	if (name && !*text)
		return;
	if (w->is_json)
		json_string(&w->json, name, text);
	else
		put_bytes(w, number, text, strlen(text));
}

/* ---- the profile as messages ---- */

struct otlp_attribute {
	uint32_t key, text, unit; /* strings */
	bool is_number;
	int64_t number;
};

struct otlp {
	const struct profile *p;
	const struct profile_facts *facts;
	struct otlp_writer w;
	struct arena arena;
	struct strtab strings; /* the profile's own keep their numbers */
	VEC(struct otlp_attribute) attributes; /* [0] is none */
	VEC(int32_t) stacks;		       /* number in the profile -> in the table; 0: the root, or none that a sample has */
	struct strtab by_name;		       /* what an attribute is, as text -> its number */
	struct profile_time *times;	       /* of all samples, those of a row together, in order of time; NULL: none are known */
	size_t next;			       /* of them: the first whose row was not written yet */
};

/* ---- tables ---- */

static uint32_t string_of(struct otlp *o, const char *text)
{
	return strtab_add(&o->strings, text);
}

/* The number of an attribute of a location, a mapping or a sample. */
static int32_t attribute_of(struct otlp *o, const struct otlp_attribute *attribute)
{
	const char *name = arena_printf(&o->arena, "%u %u %u %d %lld", attribute->key, attribute->text, attribute->unit,
					attribute->is_number, (long long)attribute->number);
	uint32_t number = strtab_add(&o->by_name, name);

	if (number == o->attributes.len)
		vec_push(&o->attributes, *attribute);
	return (int32_t)number;
}

static int32_t text_attribute(struct otlp *o, const char *key, uint32_t text)
{
	return attribute_of(o, &(struct otlp_attribute){ .key = string_of(o, key), .text = text });
}

static int32_t number_attribute(struct otlp *o, const char *key, int64_t number)
{
	return attribute_of(o, &(struct otlp_attribute){ .key = string_of(o, key), .is_number = true, .number = number });
}

/* The entry of a table that stands for nothing. */
static void put_none(struct otlp *o, unsigned number)
{
	otlp_begin(&o->w, number, NULL);
	otlp_end(&o->w);
}

static void put_mappings(struct otlp *o)
{
	struct otlp_writer *w = &o->w;

	otlp_list(w, "mappingTable");
	put_none(o, 1);
	for (size_t i = 0; i < o->p->modules.len; i++) {
		const struct profile_module *mod = &o->p->modules.items[i];

		otlp_begin(w, 1, NULL);
		otlp_int(w, 4, "filenameStrindex", (int32_t)mod->path);
		if (mod->build_id) {
			otlp_list(w, "attributeIndices");
			otlp_int(w, 5, NULL, text_attribute(o, "process.executable.build_id.gnu", mod->build_id));
			otlp_list_end(w);
		}
		otlp_end(w);
	}
	otlp_list_end(w);
}

static void put_lines(struct otlp *o, const struct profile_location *location)
{
	struct otlp_writer *w = &o->w;

	otlp_list(w, "lines");
	for (uint32_t i = 0; i < location->nlines; i++) {
		const struct profile_line *line = &o->p->lines.items[location->first_line + i];

		otlp_begin(w, 3, NULL);
		otlp_int(w, 1, "functionIndex", (int32_t)line->function + 1);
		if (line->line)
			otlp_int64(w, 2, "line", line->line);
		otlp_end(w);
	}
	otlp_list_end(w);
}

/* What semantic conventions have no word for is left to whoever reads it. */
static const char *const frame_types[] = {
	[PROFILE_FRAME_NATIVE] = "native", [PROFILE_FRAME_KERNEL] = "kernel",	[PROFILE_FRAME_INTERPRETED] = "interpreted",
	[PROFILE_FRAME_JIT] = "jit",	   [PROFILE_FRAME_RUNTIME] = "runtime", [PROFILE_FRAME_MARKER] = "marker",
};

static void put_locations(struct otlp *o)
{
	struct otlp_writer *w = &o->w;

	otlp_list(w, "locationTable");
	put_none(o, 2);
	for (size_t i = 0; i < o->p->locations.len; i++) {
		const struct profile_location *location = &o->p->locations.items[i];

		otlp_begin(w, 2, NULL);
		if (location->module != PROFILE_NONE)
			otlp_int(w, 1, "mappingIndex", (int32_t)location->module + 1);
		if (location->has_vaddr)
			otlp_uint64(w, 2, "address", profile_address(location));
		put_lines(o, location);
		otlp_list(w, "attributeIndices");
		otlp_int(w, 4, NULL, text_attribute(o, "profile.frame.type", string_of(o, frame_types[location->kind])));
		otlp_list_end(w);
		otlp_end(w);
	}
	otlp_list_end(w);
}

static void put_functions(struct otlp *o)
{
	struct otlp_writer *w = &o->w;

	otlp_list(w, "functionTable");
	put_none(o, 3);
	for (size_t i = 0; i < o->p->functions.len; i++) {
		const struct profile_function *function = &o->p->functions.items[i];

		otlp_begin(w, 3, NULL);
		otlp_int(w, 1, "nameStrindex", (int32_t)function->name);
		otlp_int(w, 2, "systemNameStrindex", (int32_t)function->linkage_name);
		otlp_int(w, 3, "filenameStrindex", (int32_t)function->file);
		if (function->line)
			otlp_int64(w, 4, "startLine", function->line);
		otlp_end(w);
	}
	otlp_list_end(w);
}

/* Those that samples have, by number; the root, which has no location, is number 0 here and there. */
static void number_stacks(struct otlp *o)
{
	int32_t count = 0;

	for (size_t i = 0; i < o->p->stacks.len; i++)
		vec_push(&o->stacks, 0);
	for (size_t i = 0; i < o->p->samples.len; i++)
		o->stacks.items[o->p->samples.items[i].stack] = 1;
	o->stacks.items[0] = 0;
	for (size_t i = 1; i < o->p->stacks.len; i++)
		if (o->stacks.items[i])
			o->stacks.items[i] = ++count;
}

static void put_stacks(struct otlp *o)
{
	const struct profile_stack *stacks = o->p->stacks.items;

	otlp_list(&o->w, "stackTable");
	for (uint32_t i = 0; i < o->p->stacks.len; i++) {
		if (i && !o->stacks.items[i])
			continue;
		otlp_begin(&o->w, 7, NULL);
		otlp_list(&o->w, "locationIndices");
		for (uint32_t at = i; at; at = stacks[at].parent)
			otlp_int(&o->w, 1, NULL, (int32_t)stacks[at].location + 1);
		otlp_list_end(&o->w);
		otlp_end(&o->w);
	}
	otlp_list_end(&o->w);
}

static void put_attributes(struct otlp *o)
{
	struct otlp_writer *w = &o->w;

	otlp_list(w, "attributeTable");
	for (size_t i = 0; i < o->attributes.len; i++) {
		const struct otlp_attribute *attribute = &o->attributes.items[i];

		otlp_begin(w, 6, NULL);
		otlp_int(w, 1, "keyStrindex", (int32_t)attribute->key);
		if (attribute->key) {
			otlp_begin(w, 2, "value");
			if (attribute->is_number)
				otlp_int64(w, 3, "intValue", attribute->number);
			else
				otlp_text(w, 1, "stringValue", text_escape(&o->arena, strtab_get(&o->strings, attribute->text)));
			otlp_end(w);
		}
		otlp_int(w, 3, "unitStrindex", (int32_t)attribute->unit);
		otlp_end(w);
	}
	otlp_list_end(w);
}

static void put_strings(struct otlp *o)
{
	otlp_list(&o->w, "stringTable");
	for (uint32_t i = 0; i < o->strings.len; i++)
		otlp_text(&o->w, 5, NULL, text_escape(&o->arena, strtab_get(&o->strings, i)));
	otlp_list_end(&o->w);
}

/* Strings and attributes come last: the other tables add some. */
static void put_dictionary(struct otlp *o)
{
	otlp_begin(&o->w, 2, "dictionary");
	put_mappings(o);
	put_locations(o);
	put_functions(o);
	otlp_list(&o->w, "linkTable");
	put_none(o, 4);
	otlp_list_end(&o->w);
	put_stacks(o);
	put_attributes(o);
	put_strings(o);
	otlp_end(&o->w);
}

/* ---- samples ---- */

static void put_sample_attributes(struct otlp *o, const struct profile_sample *row)
{
	const struct profile_thread *thread = &o->p->threads.items[row->thread];
	const struct profile_label_set *set = &o->p->label_sets.items[row->labels];

	otlp_list(&o->w, "attributeIndices");
	if (thread->pid != PROFILE_NONE)
		otlp_int(&o->w, 2, NULL, number_attribute(o, "process.pid", thread->pid));
	if (thread->process)
		otlp_int(&o->w, 2, NULL, text_attribute(o, "process.executable.name", thread->process));
	if (thread->tid != PROFILE_NONE)
		otlp_int(&o->w, 2, NULL, number_attribute(o, "thread.id", thread->tid));
	if (thread->comm)
		otlp_int(&o->w, 2, NULL, text_attribute(o, "thread.name", thread->comm));
	if (row->cpu != PROFILE_NONE)
		otlp_int(&o->w, 2, NULL, number_attribute(o, "cpu.logical_number", row->cpu));
	for (uint32_t i = 0; i < set->count; i++) {
		const struct profile_label *from = &o->p->labels.items[set->first + i];
		struct otlp_attribute label = { from->key, from->text, from->unit, from->is_number, from->number };

		otlp_int(&o->w, 2, NULL, attribute_of(o, &label));
	}
	otlp_list_end(&o->w);
}

/* Since 1970, where it is known when the recording began; else as its clock had it. */
static uint64_t unix_ns(const struct otlp *o, uint64_t time_ns)
{
	return o->facts->has_wall ? time_ns - o->facts->start_ns + o->facts->wall_ns : time_ns;
}

static void put_values(struct otlp *o, uint32_t row)
{
	size_t first = o->next, ntimes = o->p->times.len;

	while (o->next < ntimes && o->times[o->next].row < row) /* of other types */
		first = ++o->next;
	while (o->next < ntimes && o->times[o->next].row == row)
		o->next++;
	otlp_list(&o->w, "values");
	for (size_t i = first; i < o->next; i++)
		otlp_int64(&o->w, 4, NULL, o->times[i].weight);
	if (o->next == first)
		otlp_int64(&o->w, 4, NULL, o->p->samples.items[row].weight);
	otlp_list_end(&o->w);
	otlp_list(&o->w, "timestampsUnixNano");
	for (size_t i = first; i < o->next; i++)
		otlp_fixed64(&o->w, 5, NULL, unix_ns(o, o->times[i].time_ns));
	otlp_list_end(&o->w);
}

static void put_samples(struct otlp *o, uint32_t type)
{
	otlp_list(&o->w, "samples");
	o->next = 0;
	for (uint32_t i = 0; i < o->p->samples.len; i++) {
		const struct profile_sample *row = &o->p->samples.items[i];

		if (row->type != type)
			continue;
		otlp_begin(&o->w, 2, NULL);
		otlp_int(&o->w, 1, "stackIndex", o->stacks.items[row->stack]);
		put_sample_attributes(o, row);
		put_values(o, i);
		otlp_end(&o->w);
	}
	otlp_list_end(&o->w);
}

/* ---- profiles ---- */

/* Units as UCUM and pprof have them. */
static uint32_t unit_of(struct otlp *o, const struct profile_value_type *type)
{
	const char *unit = profile_text(o->p, type->unit);

	if (strcmp(unit, "ns") == 0)
		return string_of(o, "nanoseconds");
	return strcmp(unit, "events") == 0 ? string_of(o, "count") : type->unit;
}

static void put_type(struct otlp *o, unsigned number, const char *name, uint32_t type)
{
	const struct profile_value_type *from = &o->p->types.items[type];

	otlp_begin(&o->w, number, name);
	otlp_int(&o->w, 1, "typeStrindex", (int32_t)from->name);
	otlp_int(&o->w, 2, "unitStrindex", (int32_t)unit_of(o, from));
	otlp_end(&o->w);
}

static int64_t period_of(const struct profile *p, const struct profile_value_type *type)
{
	if (!type->is_freq)
		return (int64_t)type->rate;
	return type->rate && strcmp(profile_text(p, type->unit), "ns") == 0 ? (int64_t)(1000000000 / type->rate) : 0;
}

static void put_profile(struct otlp *o, uint32_t type)
{
	int64_t period = period_of(o->p, &o->p->types.items[type]);

	otlp_begin(&o->w, 2, NULL);
	put_type(o, 1, "sampleType", type);
	put_samples(o, type);
	if (o->facts->has_wall)
		otlp_fixed64(&o->w, 3, "timeUnixNano", o->facts->wall_ns);
	if (o->facts->has_duration)
		otlp_uint64(&o->w, 4, "durationNano", o->facts->duration_ns);
	if (period) {
		put_type(o, 5, "periodType", type);
		otlp_int64(&o->w, 6, "period", period);
	}
	otlp_end(&o->w);
}

static void put_resource(struct otlp *o)
{
	otlp_begin(&o->w, 1, "resource");
	otlp_list(&o->w, "attributes");
	if (*o->facts->hostname) {
		otlp_begin(&o->w, 1, NULL);
		otlp_text(&o->w, 1, "key", "host.name");
		otlp_begin(&o->w, 2, "value");
		otlp_text(&o->w, 1, "stringValue", text_escape(&o->arena, o->facts->hostname));
		otlp_end(&o->w);
		otlp_end(&o->w);
	}
	otlp_list_end(&o->w);
	otlp_end(&o->w);
}

/* The type that is shown first comes first. */
static void put_profiles(struct otlp *o)
{
	uint32_t first = o->facts->first_type;

	otlp_list(&o->w, "profiles");
	for (uint32_t i = 0; i < o->p->types.len; i++) {
		uint32_t type = i == 0 ? first : i <= first ? i - 1 : i;

		if (profile_total(o->p, type).count)
			put_profile(o, type);
	}
	otlp_list_end(&o->w);
}

static void put_all(struct otlp *o)
{
	otlp_list(&o->w, "resourceProfiles");
	otlp_begin(&o->w, 1, NULL);
	put_resource(o);
	otlp_list(&o->w, "scopeProfiles");
	otlp_begin(&o->w, 2, NULL);
	otlp_begin(&o->w, 1, "scope");
	otlp_text(&o->w, 1, "name", "preport");
	otlp_text(&o->w, 2, "version", VERSION);
	otlp_end(&o->w);
	put_profiles(o);
	otlp_end(&o->w);
	otlp_list_end(&o->w);
	otlp_end(&o->w);
	otlp_list_end(&o->w);
	put_dictionary(o);
}

static int compare_times(const void *left, const void *right)
{
	const struct profile_time *a = left, *b = right;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return COMPARE(a->time_ns, b->time_ns);
}

static void begin_tables(struct otlp *o)
{
	static const struct otlp_attribute none;

	for (uint32_t i = 0; i < o->p->strings.len; i++)
		strtab_add(&o->strings, strtab_get(&o->p->strings, i));
	strtab_add(&o->strings, "");
	strtab_add(&o->by_name, "");
	vec_push(&o->attributes, none);
	number_stacks(o);
	o->times = time_series_unpack(&o->p->times);
	if (o->times)
		qsort(o->times, o->p->times.len, sizeof(*o->times), compare_times);
}

static struct err *write_otlp(const struct profile *p, const struct profile_facts *facts, bool is_json, FILE *out)
{
	struct otlp o = { .p = p, .facts = facts };

	begin_tables(&o);
	otlp_writer_init(&o.w, is_json, out);
	put_all(&o);
	otlp_writer_finish(&o.w);
	arena_deinit(&o.arena);
	strtab_deinit(&o.strings);
	strtab_deinit(&o.by_name);
	vec_deinit(&o.attributes);
	vec_deinit(&o.stacks);
	free(o.times);
	return NULL;
}

static struct err *write_proto(const struct profile *p, const struct profile_facts *facts, FILE *out)
{
	return write_otlp(p, facts, /* is_json= */ false, out);
}

static struct err *write_json(const struct profile *p, const struct profile_facts *facts, FILE *out)
{
	return write_otlp(p, facts, /* is_json= */ true, out);
}

#define MISSING "holds no lengths of samples, and no numbers of samples where their times are not known; CPUs are labels"

const struct export_format export_otlp = {
	.file = "precord.otlp",
	.with = "an OpenTelemetry collector, or preport -i",
	.missing = MISSING,
	.times = true,
	.gzip = EXPORT_GZIP_ASKED,
	.carries = IMPORT_TIMES | IMPORT_THREADS | IMPORT_LINES | IMPORT_ADDRESSES | IMPORT_LABELS | IMPORT_INLINED | IMPORT_TYPES,
	.write = write_proto,
};

const struct export_format export_otlp_json = {
	.missing = MISSING,
	.times = true,
	.gzip = EXPORT_GZIP_ASKED,
	.carries = IMPORT_TIMES | IMPORT_THREADS | IMPORT_LINES | IMPORT_ADDRESSES | IMPORT_LABELS | IMPORT_INLINED | IMPORT_TYPES,
	.write = write_json,
};

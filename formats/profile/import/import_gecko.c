/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_gecko.c - profiles of Firefox Profiler: the "processed" format, which samply, simpleperf's scripts, the page itself and
 * preport write, and Gecko's own.
 *
 *	samples    stack, time, weight	    ─► stackTable   frame, prefix
 *	frameTable func, address, line	    ◄──────┘
 *	funcTable  name, resource, fileName ─► resourceTable lib ─► libs
 *
 * Tables are columns of numbers ("frame": [1, 2]) or, in Gecko's own, rows ({"schema": {"frame": 0}, "data": [[1], [2]]}), where a
 * frame has a text instead of a function. They belong to a thread or, in later versions, to all ("shared"). A call that is inlined
 * (inlineDepth) is a line of its caller's location. Left out: markers, counters, screenshots, CPU use.
 */
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_json.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/import_text.h"

#include <math.h>

#define COLUMNS_MAX   8
#define INLINED_MAX   64 /* calls in one location */
#define NESTED_MAX    4	 /* profiles in profiles: a browser has its other processes in its own */
#define PLACE_MAX     4096 /* bytes of a text that is looked into */
#define NOTHING	      (-1.0)
#define NS_PER_MS     1e6
#define SCHEMA_MAX    32

enum { S_STACK, S_TIME, S_DELTAS, S_WEIGHT, S_COUNT };
enum { T_FRAME, T_PREFIX, T_COUNT };
enum { F_FUNC, F_ADDRESS, F_LINE, F_DEPTH, F_CATEGORY, F_LOCATION, F_COUNT };
enum { U_NAME, U_RESOURCE, U_FILE, U_LINE, U_SOURCE, U_COUNT };
enum { R_LIB, R_COUNT };
enum { O_FILE, O_COUNT };

static const char *const sample_columns[] = { "stack", "time", "timeDeltas", "weight", NULL };
static const char *const stack_columns[] = { "frame", "prefix", NULL };
static const char *const frame_columns[] = { "func", "address", "line", "inlineDepth", "category", "location", NULL };
static const char *const function_columns[] = { "name", "resource", "fileName", "lineNumber", "source", NULL };
static const char *const resource_columns[] = { "lib", NULL };
static const char *const source_columns[] = { "filename", NULL };

static const struct unit {
	const char *weight, *type, *unit;
	double scale;
} units[] = {
	{ "samples", "samples", "events", 1 },
	{ "tracing-ms", "wall", "ns", NS_PER_MS },
	{ "bytes", "bytes", "bytes", 1 },
};

static const struct unit *unit_of(struct json_text weight_type)
{
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (json_is(weight_type, units[i].weight))
			return &units[i];
	return &units[0];
}

struct column {
	double *items;
	size_t len, cap;
};

struct gecko_table {
	struct column columns[COLUMNS_MAX];
	const struct unit *unit; /* of weights; NULL: it is not said */
};

/* Of a thread in a file that preport wrote: export_firefox.c. Numbers of strings; 0: it is not said. */
struct gecko_event {
	uint32_t name, unit, thread;
	double mean; /* what a weight of 1 is, where weights are neither times nor bytes */
};

/* What stacks are made of: of all threads, or of one. */
struct gecko_code {
	struct gecko_table stacks, frames, functions, resources, sources;
	VEC(uint32_t) strings; /* of the profile */
	VEC(uint32_t) known;   /* our stack of each of theirs; PROFILE_NONE until it is known */
	bool has_stacks;
};

struct gecko {
	struct profile *p;
	struct diag *diag;
	VEC(uint32_t) libs; /* modules */
	double kernel;	    /* number of that category; NOTHING: none */
	struct gecko_code shared;
	double start_ms; /* of the outermost profile, since 1970 */
	bool has_start;
};

/* One profile's parts, raw. */
struct gecko_parts {
	struct json_text meta, libs, shared, threads, processes;
	double start_ms;
};

static unsigned recognise(const uint8_t *start, size_t len)
{
	if (!import_json_begins(start, len, '{'))
		return 0;
	if (import_json_has(start, len, "meta") &&
	    (import_has_text(start, len, "\"preprocessedProfileVersion\"") || import_has_text(start, len, "\"stackwalk\"")))
		return 92;
	if (import_has_text(start, len, "\"stackTable\"") && import_has_text(start, len, "\"frameTable\""))
		return 85;
	return 0;
}

/* ---- tables ---- */

static int column_named(const char *const *names, struct json_text key)
{
	for (int i = 0; names[i]; i++)
		if (json_is(key, names[i]))
			return i;
	return -1;
}

static double read_cell(struct json_reader *r)
{
	if (json_read_peek(r) == JSON_NUMBER)
		return json_read_double(r);
	json_read_skip(r);
	return NOTHING;
}

static void read_column(struct json_reader *r, struct column *column)
{
	column->len = 0;
	if (json_read_peek(r) != JSON_ARRAY) {
		json_read_skip(r);
		return;
	}
	json_read_array(r);
	while (json_read_more(r))
		vec_push(column, read_cell(r));
}

/* {"frame": 0, "prefix": 1}: which column each place of a row is, or -1. */
static void read_schema(struct json_reader *r, const char *const *names, int ret[SCHEMA_MAX])
{
	struct json_text key;

	for (int i = 0; i < SCHEMA_MAX; i++)
		ret[i] = -1;
	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		int column = column_named(names, key);
		uint64_t place = json_read_count(r);

		for (int i = 0; i < SCHEMA_MAX; i++) /* one place for each, the last that was named */
			ret[i] = ret[i] == column ? -1 : ret[i];
		if (place < SCHEMA_MAX)
			ret[place] = column;
	}
}

/* Rows may be shorter than the schema is: what is missing is null. */
static void read_row(struct json_reader *r, const int *schema, struct gecko_table *table)
{
	double cells[COLUMNS_MAX];
	unsigned place = 0;

	for (int i = 0; i < COLUMNS_MAX; i++)
		cells[i] = NOTHING;
	if (!json_read_array(r))
		return;
	for (; json_read_more(r); place++) {
		double cell = read_cell(r);

		if (place < SCHEMA_MAX && schema[place] >= 0)
			cells[schema[place]] = cell;
	}
	for (int i = 0; i < SCHEMA_MAX; i++)
		if (schema[i] >= 0)
			vec_push(&table->columns[schema[i]], cells[schema[i]]);
}

static void read_table(struct json_reader *r, const char *const *names, struct gecko_table *table)
{
	int schema[SCHEMA_MAX];
	struct json_text key;
	bool rows = false;

	if (json_read_peek(r) != JSON_OBJECT) {
		json_read_skip(r);
		return;
	}
	json_read_object(r);
	while (json_read_key(r, &key)) {
		int column = column_named(names, key);

		if (json_is(key, "schema")) {
			read_schema(r, names, schema);
			rows = true;
		} else if (rows && json_is(key, "data") && json_read_array(r)) {
			while (json_read_more(r))
				read_row(r, schema, table);
		} else if (json_is(key, "weightType") && json_read_peek(r) == JSON_TEXT) {
			table->unit = unit_of(json_read_text(r));
		} else if (column >= 0) {
			read_column(r, &table->columns[column]);
		} else {
			json_read_skip(r);
		}
	}
}

static void table_deinit(struct gecko_table *table)
{
	for (size_t i = 0; i < COLUMNS_MAX; i++)
		vec_deinit(&table->columns[i]);
}

/* NOTHING if there is no such row. */
static double cell(const struct gecko_table *table, int column, double row)
{
	const struct column *of = &table->columns[column];

	return row >= 0 && row < (double)of->len ? of->items[(size_t)row] : NOTHING;
}

/* ---- code ---- */

static void read_strings(struct gecko *in, struct json_reader *r, struct gecko_code *code)
{
	code->strings.len = 0;
	if (!json_read_array(r))
		return;
	while (json_read_more(r)) {
		uint32_t string = 0;

		if (json_read_peek(r) == JSON_TEXT)
			string = import_text(in->p, json_read_text(r));
		else
			json_read_skip(r);
		vec_push(&code->strings, string);
	}
}

/* One key of a thread, or of what all share; false if it is none of this. */
static bool code_key(struct gecko *in, struct json_reader *r, struct json_text key, struct gecko_code *code)
{
	if (json_is(key, "stackTable")) {
		read_table(r, stack_columns, &code->stacks);
		code->has_stacks = true;
	} else if (json_is(key, "frameTable")) {
		read_table(r, frame_columns, &code->frames);
	} else if (json_is(key, "funcTable")) {
		read_table(r, function_columns, &code->functions);
	} else if (json_is(key, "resourceTable")) {
		read_table(r, resource_columns, &code->resources);
	} else if (json_is(key, "sources")) {
		read_table(r, source_columns, &code->sources);
	} else if (json_is(key, "stringArray") || json_is(key, "stringTable")) {
		read_strings(in, r, code);
	} else {
		return false;
	}
	return true;
}

static void code_deinit(struct gecko_code *code)
{
	table_deinit(&code->stacks);
	table_deinit(&code->frames);
	table_deinit(&code->functions);
	table_deinit(&code->resources);
	table_deinit(&code->sources);
	vec_deinit(&code->strings);
	vec_deinit(&code->known);
}

static uint32_t string_of(const struct gecko *in, const struct gecko_code *code, double number)
{
	size_t own = code->strings.len;
	const uint32_t *strings = own ? code->strings.items : in->shared.strings.items;

	return number >= 0 && number < (double)(own ? own : in->shared.strings.len) ? strings[(size_t)number] : 0;
}

static uint32_t line_number(double line)
{
	return line > 0 && line < UINT32_MAX ? (uint32_t)line : 0;
}

/* "name (https://example.org/a.js:12:3)", as Gecko's own frames have it. */
static void take_place(struct gecko *in, uint32_t location, struct import_frame *ret)
{
	const char *text = profile_text(in->p, location);
	const char *open = strnlen(text, PLACE_MAX) < PLACE_MAX ? strstr(text, " (") : NULL;
	struct json_text place = { open ? open + 2 : "", open ? strlen(open + 2) : 0 };
	const char *colon;
	uint64_t number;

	ret->name = location;
	if (place.len < 4 || place.data[place.len - 1] != ')')
		return;
	place.len--;
	for (int i = 0; i < 2; i++) { /* a line, and perhaps a column */
		colon = memrchr(place.data, ':', place.len);
		if (!colon || colon == place.data ||
		    !import_number((struct json_text){ colon + 1, place.len - (size_t)(colon + 1 - place.data) }, &number))
			break;
		place.len = (size_t)(colon - place.data);
		ret->declared = line_number((double)number);
	}
	if (!ret->declared)
		return;
	ret->kind = PROFILE_FRAME_INTERPRETED;
	ret->file = import_text(in->p, place);
	ret->name = strtab_add_len(&in->p->strings, text, (size_t)(open - text));
}

static struct import_frame frame_of(struct gecko *in, const struct gecko_code *code, double frame)
{
	struct import_frame ret = { .module = PROFILE_NONE, .kind = PROFILE_FRAME_NATIVE };
	double function = cell(&code->frames, F_FUNC, frame);
	double lib = cell(&code->resources, R_LIB, cell(&code->functions, U_RESOURCE, function));
	double source = cell(&code->functions, U_SOURCE, function);
	const struct gecko_code *shared = &in->shared;

	ret.line = line_number(cell(&code->frames, F_LINE, frame));
	if (function < 0) {
		take_place(in, string_of(in, code, cell(&code->frames, F_LOCATION, frame)), &ret);
		return ret;
	}
	ret.name = string_of(in, code, cell(&code->functions, U_NAME, function));
	ret.declared = line_number(cell(&code->functions, U_LINE, function));
	ret.file = string_of(in, code, cell(&code->functions, U_FILE, function));
	if (source >= 0)
		ret.file = string_of(in, code, cell(code->sources.columns[0].len ? &code->sources : &shared->sources, O_FILE,
						    source));
	if (lib >= 0 && lib < (double)in->libs.len)
		ret.module = in->libs.items[(size_t)lib];
	if (in->kernel >= 0 && cell(&code->frames, F_CATEGORY, frame) == in->kernel)
		ret.kind = PROFILE_FRAME_KERNEL;
	return ret;
}

static struct profile_line line_of(struct gecko *in, const struct import_frame *frame)
{
	struct profile_function function = {
		.name = frame->name, .module = frame->module, .file = frame->file, .line = frame->declared,
	};

	return (struct profile_line){ profile_add_function(in->p, &function), frame->file, frame->line };
}

/* Locations differ by address; one that was seen with other lines differs by these. */
static uint32_t location_of(struct gecko *in, const struct import_frame *frame, double address,
			    const struct profile_line *lines, uint32_t count)
{
	uint32_t location;

	if (address >= 0 && address < 0x1p64 && frame->module != PROFILE_NONE) {
		location = profile_add_location(in->p, frame->module, (uint64_t)address, frame->kind);
		if (!in->p->locations.items[location].nlines) {
			profile_set_lines(in->p, location, lines, count);
			return location;
		}
		if (in->p->locations.items[location].nlines == count &&
		    memcmp(&in->p->lines.items[in->p->locations.items[location].first_line], lines,
			   count * sizeof(*lines)) == 0)
			return location;
	}
	return profile_add_named_location(in->p, frame->kind, frame->module, lines, count);
}

/*
 * How many of the stacks from @stack on are one location: @stack's frame and those that it is inlined into. @ret_below is the one
 * that is left.
 */
static uint32_t take_location(struct gecko *in, const struct gecko_code *code, double stack, uint32_t *ret_location,
			      double *ret_below)
{
	double frame = cell(&code->stacks, T_FRAME, stack), depth = cell(&code->frames, F_DEPTH, frame);
	double address = cell(&code->frames, F_ADDRESS, frame);
	struct profile_line lines[INLINED_MAX];
	struct import_frame outer;
	uint32_t count = 0;

	do {
		outer = frame_of(in, code, frame);
		lines[count++] = line_of(in, &outer);
		stack = cell(&code->stacks, T_PREFIX, stack);
		frame = cell(&code->stacks, T_FRAME, stack);
	} while (depth-- >= 1 && count < INLINED_MAX && frame >= 0 && cell(&code->frames, F_ADDRESS, frame) == address &&
		 cell(&code->frames, F_DEPTH, frame) == depth);
	*ret_location = location_of(in, &outer, address, lines, count);
	*ret_below = stack;
	return count;
}

/* A prefix is smaller than what stands on it, so that there are no circles. */
static uint32_t stack_of(struct gecko *in, struct gecko_code *code, double number)
{
	size_t len = code->stacks.columns[T_FRAME].len;
	struct { uint32_t at, location; } step;
	VEC(__typeof__(step)) path = { 0 };
	uint32_t stack = 0;

	while (code->known.len < len)
		vec_push(&code->known, PROFILE_NONE);
	while (number >= 0 && number < (double)len) {
		double below;

		step.at = (uint32_t)number;
		if (code->known.items[step.at] != PROFILE_NONE) {
			stack = code->known.items[step.at];
			break;
		}
		take_location(in, code, number, &step.location, &below);
		vec_push(&path, step);
		if (below >= number) {
			diag_warn(in->diag, "stacks that stand on themselves are cut off");
			break;
		}
		number = below;
	}
	while (path.len) {
		step = path.items[--path.len];
		stack = import_stack(in->p, stack, step.location);
		code->known.items[step.at] = stack;
	}
	vec_deinit(&path);
	return stack;
}

/* ---- samples ---- */

static struct gecko_event read_event(struct gecko *in, struct json_reader *r)
{
	struct gecko_event event = { .mean = 1 };
	struct json_text key;

	if (!json_read_object(r))
		return event;
	while (json_read_key(r, &key)) {
		if (json_is(key, "name"))
			event.name = import_text(in->p, json_read_text(r));
		else if (json_is(key, "unit"))
			event.unit = import_text(in->p, json_read_text(r));
		else if (json_is(key, "thread"))
			event.thread = import_text(in->p, json_read_text(r));
		else if (json_is(key, "mean"))
			event.mean = json_read_double(r);
		else
			json_read_skip(r);
	}
	return event;
}

/* The unit of a thread's weights. */
static struct unit unit_of_thread(const struct gecko *in, const struct gecko_table *samples, const struct gecko_event *event)
{
	struct unit unit = samples->unit ? *samples->unit : units[0];

	if (!event->name)
		return unit;
	if (unit.scale == 1 && strcmp(unit.unit, "bytes") != 0)
		unit.scale = event->mean;
	unit.type = profile_text(in->p, event->name);
	unit.unit = profile_text(in->p, event->unit);
	return unit;
}

/* The names are the profile's own strings, which move as others are added. */
static uint32_t type_of(struct gecko *in, const struct unit *unit)
{
	char name[256], of[256];

	snprintf(name, sizeof(name), "%s", unit->type);
	snprintf(of, sizeof(of), "%s", unit->unit);
	return import_type(in->p, name, of);
}

static void add_samples(struct gecko *in, const struct gecko_table *samples, struct gecko_code *code, const struct unit *unit,
			uint32_t thread, double offset_ms)
{
	bool has_weights = samples->columns[S_WEIGHT].len > 0, deltas = samples->columns[S_DELTAS].len > 0;
	uint32_t type = type_of(in, unit);
	double now = 0;

	for (size_t i = 0; i < samples->columns[S_STACK].len; i++) {
		struct import_sample sample = { .type = type, .thread = thread, .count = 1 };
		double weight = 1;
		double delta = deltas ? cell(samples, S_DELTAS, (double)i) : 0;
		double time = deltas ? (now += delta) : cell(samples, S_TIME, (double)i);

		if (has_weights) /* one that is not there weighs nothing */
			weight = i < samples->columns[S_WEIGHT].len ? samples->columns[S_WEIGHT].items[i] : 0;
		sample.stack = stack_of(in, code, samples->columns[S_STACK].items[i]);
		sample.weight = llround(fmin(fmax(weight * unit->scale, -9e18), 9e18));
		sample.has_time = deltas || samples->columns[S_TIME].len > i;
		sample.time_ns = import_time_ns(time + offset_ms, NS_PER_MS);
		import_sample(in->p, &sample);
	}
}

/* A number, also as a text ("123" or, of the second track of one, "123.1"). */
static uint32_t read_id(struct json_reader *r)
{
	struct json_text text;
	uint64_t number;

	if (json_read_peek(r) == JSON_NUMBER)
		return json_read_small(r);
	if (json_read_peek(r) != JSON_TEXT) {
		json_read_skip(r);
		return PROFILE_NONE;
	}
	text = json_read_text(r);
	return import_number(import_take(&text, '.'), &number) && number < UINT32_MAX ? (uint32_t)number : PROFILE_NONE;
}

static struct err *read_thread(struct gecko *in, struct json_reader *r, double offset_ms)
{
	struct gecko_code own = { 0 };
	struct gecko_table samples = { 0 };
	uint32_t pid = PROFILE_NONE, tid = PROFILE_NONE, name = 0, process = 0;
	struct gecko_event event = { 0 };
	struct json_text key;

	if (!json_read_object(r))
		return NULL;
	while (json_read_key(r, &key)) {
		if (json_is(key, "name"))
			name = import_text(in->p, json_read_text(r));
		else if (json_is(key, "processName"))
			process = import_text(in->p, json_read_text(r));
		else if (json_is(key, "pid"))
			pid = read_id(r);
		else if (json_is(key, "tid"))
			tid = read_id(r);
		else if (json_is(key, "preportEvent"))
			event = read_event(in, r);
		else if (json_is(key, "samples"))
			read_table(r, sample_columns, &samples);
		else if (!code_key(in, r, key, &own))
			json_read_skip(r);
	}
	if (!r->failed) {
		struct unit unit = unit_of_thread(in, &samples, &event);

		add_samples(in, &samples, own.has_stacks ? &own : &in->shared, &unit,
			    import_thread(in->p, pid, tid, process, event.name ? event.thread : name), offset_ms);
	}
	table_deinit(&samples);
	code_deinit(&own);
	return json_read_check(r);
}

/* ---- the profile ---- */

static void read_category(struct gecko *in, struct json_reader *r, double number)
{
	struct json_text key;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (!json_is(key, "name"))
			json_read_skip(r);
		else if (json_is(json_read_text(r), "Kernel"))
			in->kernel = number;
	}
}

static void read_meta(struct gecko *in, struct json_reader *r, struct gecko_parts *parts)
{
	struct json_text key;
	double number = 0;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (json_is(key, "startTime")) {
			parts->start_ms = read_cell(r);
		} else if (json_is(key, "categories") && json_read_peek(r) == JSON_ARRAY) {
			json_read_array(r);
			while (json_read_more(r))
				read_category(in, r, number++);
		} else {
			json_read_skip(r);
		}
	}
}

static void read_lib(struct gecko *in, struct json_reader *r)
{
	struct profile_module mod = { .kind = PROFILE_USER };
	struct json_text key;
	bool read = json_read_object(r);

	while (read && json_read_key(r, &key)) {
		uint32_t *to = json_is(key, "name") ? &mod.name : json_is(key, "path") ? &mod.path :
			       json_is(key, "codeId") ? &mod.build_id : NULL;

		if (to && json_read_peek(r) == JSON_TEXT)
			*to = import_text(in->p, json_read_text(r));
		else
			json_read_skip(r);
	}
	mod.path = mod.path ? mod.path : mod.name;
	if (strncmp(profile_text(in->p, mod.name), "[kernel", 7) == 0)
		mod.kind = PROFILE_KERNEL;
	vec_push(&in->libs, mod.path || mod.build_id ? profile_add_module(in->p, &mod) : PROFILE_NONE);
}

static void read_shared(struct gecko *in, struct json_reader *r)
{
	struct json_text key;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key))
		if (!code_key(in, r, key, &in->shared))
			json_read_skip(r);
}

static struct err *read_profile(struct gecko *in, struct json_reader *r, unsigned depth);

static struct err *read_parts(struct gecko *in, const struct json_reader *r, struct gecko_parts *parts, unsigned depth)
{
	struct json_reader meta = json_reader_part(r, parts->meta), libs = json_reader_part(r, parts->libs);
	struct json_reader shared = json_reader_part(r, parts->shared), threads = json_reader_part(r, parts->threads);
	struct json_reader processes = json_reader_part(r, parts->processes);
	struct err *err = NULL;

	if (parts->meta.data)
		read_meta(in, &meta, parts);
	if (!in->has_start) {
		in->start_ms = parts->start_ms;
		in->has_start = true;
	}
	if (parts->libs.data && json_read_array(&libs))
		while (json_read_more(&libs))
			read_lib(in, &libs);
	if (parts->shared.data)
		read_shared(in, &shared);
	err = json_read_check(&meta);
	err = err ? err : json_read_check(&libs);
	err = err ? err : json_read_check(&shared);
	if (!err && parts->threads.data && json_read_array(&threads))
		while (!err && json_read_more(&threads))
			err = read_thread(in, &threads, fmax(parts->start_ms - in->start_ms, 0));
	err = err ? err : json_read_check(&threads);
	if (!err && parts->processes.data && json_read_array(&processes))
		while (!err && json_read_more(&processes))
			err = read_profile(in, &processes, depth + 1);
	err = err ? err : json_read_check(&processes);
	json_reader_deinit(&meta);
	json_reader_deinit(&libs);
	json_reader_deinit(&shared);
	json_reader_deinit(&threads);
	json_reader_deinit(&processes);
	return err;
}

/* Threads refer to what may stand behind them, so the parts are found first. */
static struct err *read_profile(struct gecko *in, struct json_reader *r, unsigned depth)
{
	struct gecko_parts parts = { 0 };
	struct json_text key;

	if (depth > NESTED_MAX) {
		json_read_fail(r, "profiles of at most 4 levels");
		return NULL;
	}
	in->libs.len = 0;
	in->kernel = NOTHING;
	code_deinit(&in->shared);
	in->shared = (struct gecko_code){ 0 };
	if (!json_read_object(r))
		return NULL;
	while (json_read_key(r, &key)) {
		if (json_is(key, "meta"))
			parts.meta = json_read_raw(r);
		else if (json_is(key, "libs"))
			parts.libs = json_read_raw(r);
		else if (json_is(key, "shared"))
			parts.shared = json_read_raw(r);
		else if (json_is(key, "threads"))
			parts.threads = json_read_raw(r);
		else if (json_is(key, "processes"))
			parts.processes = json_read_raw(r);
		else
			json_read_skip(r);
	}
	return r->failed ? NULL : read_parts(in, r, &parts, depth);
}

static struct err *read_gecko(const struct import_input *input, struct profile *p, struct profile_facts *facts,
			      struct diag *diag)
{
	struct gecko in = { .p = p, .diag = diag };
	struct json_reader r;
	struct err *err;

	json_reader_init(&r, input->data, input->len);
	err = read_profile(&in, &r, 0);
	err = err ? err : json_read_check(&r);
	facts->has_wall = in.start_ms > 0;
	facts->wall_ns = import_time_ns(in.start_ms, NS_PER_MS);
	code_deinit(&in.shared);
	vec_deinit(&in.libs);
	json_reader_deinit(&r);
	return err;
}

const struct importer import_gecko = {
	.name = "firefox",
	.what = "Firefox Profiler: its page, samply, Gecko itself, preport export --to firefox",
	.extensions = ".profile.json .json",
	.carries = IMPORT_TIMES | IMPORT_THREADS | IMPORT_LINES | IMPORT_ADDRESSES | IMPORT_INLINED | IMPORT_TYPES,
	.recognise = recognise,
	.read = read_gecko,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_chrome.c - the trace event format of Chrome, which many tools write for chrome://tracing and Perfetto.
 *
 * An array of events, or an object with "traceEvents"; an array may end early, as a trace that is being written does. Where V8's
 * CPU profile is in it (Profile and ProfileChunk events), that is what is read. Otherwise calls are B and E pairs and
 * complete X events of each thread, and a sample is each time for which a thread's stack stayed the same. Names of processes and
 * threads come from M events. Where the file has the format's sampling part ("stackFrames", "samples"; preport's own export is one),
 * that is read. Asynchronous events, counters, instants, flows and objects are left out, and counted.
 */
#include "formats/profile/import/import_json.h"
#include "formats/profile/import/import_place.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/import_spans.h"
#include "formats/profile/import/import_text.h"
#include "formats/profile/import/v8_frames.h"

#include <inttypes.h>
#include <stdio.h>

#define NS_PER_US 1000.0

struct numbers {
	int64_t *items;
	size_t len, cap;
};

struct chrome_event {
	uint64_t time_ns, end_ns; /* end: IMPORT_NO_END unless it is X */
	uint32_t location;	  /* PROFILE_NONE: E without a name */
	uint32_t thread;	  /* index in chrome.threads */
	uint32_t order;		  /* in the file */
	bool closes;
};

/* What a file calls a process or thread: a number, or, in some, a text. */
struct chrome_id {
	bool is_text;
	int64_t number; /* of a text its string in the profile */
};

struct chrome_thread {
	uint32_t process; /* index in chrome.processes */
	struct chrome_id tid;
	uint32_t name;
};

struct chrome_process {
	struct chrome_id pid;
	uint32_t name;
};

/* A CPU profile that comes in chunks. */
struct chrome_profile {
	uint32_t thread;
	uint64_t now_us;
	struct v8_tree tree;
	struct numbers samples, deltas;
};

/* One of "stackFrames"; texts are strings of the profile. */
struct chrome_frame {
	uint32_t name, category;
	uint32_t parent; /* text; 0: none */
	uint32_t declared; /* line that the function begins at; 0: not known */
	uint32_t stack;	 /* PROFILE_NONE until it is known */
};

struct chrome {
	struct profile *p;
	struct diag *diag;
	VEC(struct chrome_event) events;
	VEC(struct chrome_thread) threads;
	VEC(struct chrome_process) processes;
	VEC(struct chrome_profile) profiles;
	struct map process_ids[2]; /* numbers; texts -> index in processes */
	struct map tids[2];	   /* the same -> a dense number of ours */
	struct map thread_ids;	   /* (process, that number) -> index in threads */
	struct map profile_ids;	   /* (process, id) -> index in profiles */
	uint32_t ntids;
	struct json_text stack_frames, stack_samples, units; /* raw */
	VEC(struct chrome_frame) frames;
	struct map frame_ids; /* text -> index in frames */
	struct import_spans spans;
	uint64_t left_out, unmatched;
	size_t nstates; /* of the events: what a thread did, beside the samples (preport export) */
};

/* The keys of one event. */
struct chrome_fields {
	char ph;
	uint32_t name, id;
	double ts, dur;
	bool has_dur, has_name, py_spy, viztracer, is_state;
	struct chrome_id pid, tid;
	struct json_text args; /* raw */
};

static unsigned recognise(const uint8_t *start, size_t len)
{
	if (!import_has_text(start, len, "\"ph\""))
		return 0;
	if (import_json_begins(start, len, '['))
		return 80;
	if (!import_json_begins(start, len, '{'))
		return 0;
	return import_has_text(start, len, "\"traceEvents\"") ? 85 : 0;
}

/* ---- events ---- */

static uint32_t process_of(struct chrome *in, struct chrome_id pid)
{
	struct chrome_process fresh = { .pid = pid };
	bool is_new;
	uint64_t *at = map_put(&in->process_ids[pid.is_text], (uint64_t)pid.number, &is_new);

	if (is_new) {
		*at = in->processes.len;
		vec_push(&in->processes, fresh);
	}
	return (uint32_t)*at;
}

static uint32_t thread_of(struct chrome *in, const struct chrome_fields *f)
{
	struct chrome_thread fresh = { .process = process_of(in, f->pid), .tid = f->tid };
	uint64_t *tid, *at;
	bool is_new;

	tid = map_put(&in->tids[f->tid.is_text], (uint64_t)f->tid.number, &is_new);
	if (is_new)
		*tid = in->ntids++;
	at = map_put(&in->thread_ids, map_pair(fresh.process, (uint32_t)*tid), &is_new);
	if (is_new) {
		*at = in->threads.len;
		vec_push(&in->threads, fresh);
	}
	return (uint32_t)*at;
}

static uint32_t frame_of(struct chrome *in, uint32_t name)
{
	struct import_frame frame = { .name = name, .module = PROFILE_NONE, .kind = PROFILE_FRAME_NATIVE };

	return import_frame(in->p, &frame);
}

/* VizTracer's have it in the name, "f (/x.py:12)": the line that the function begins at. Functions in C have none. */
static uint32_t named_place(struct chrome *in, uint32_t name)
{
	struct import_frame frame = { .module = PROFILE_NONE, .kind = PROFILE_FRAME_INTERPRETED };
	const char *whole = profile_text(in->p, name);
	struct json_text text = { whole, strlen(whole) };

	if (!import_take_source(in->p, &text, &frame.file, &frame.declared))
		return frame_of(in, name);
	frame.name = import_text(in->p, text);
	return import_frame(in->p, &frame);
}

/* py-spy's calls have their place, {"filename": "x.py", "line": 12}, where they begin and where they end. */
static uint32_t placed_frame_of(struct chrome *in, const struct json_reader *r, const struct chrome_fields *f)
{
	struct import_frame frame = { .name = f->name, .module = PROFILE_NONE, .kind = PROFILE_FRAME_INTERPRETED };
	struct json_reader args = json_reader_part(r, f->args);
	struct json_text key;
	uint64_t line = 0;

	if (f->args.data && json_read_object(&args))
		while (json_read_key(&args, &key)) {
			if (json_is(key, "filename") && json_read_peek(&args) == JSON_TEXT)
				frame.file = import_text(in->p, json_read_text(&args));
			else if (json_is(key, "line"))
				line = json_read_count(&args);
			else
				json_read_skip(&args);
		}
	json_reader_deinit(&args);
	frame.line = (uint32_t)MIN(line, UINT32_MAX);
	return import_frame(in->p, &frame);
}

/* py-spy has "thread (27340): main" and "process 12:"x"" as calls around all others. */
static bool take_place(struct chrome *in, const struct chrome_fields *f)
{
	const char *name = profile_text(in->p, f->name);
	struct import_place place;

	if (!f->py_spy || !import_place((struct json_text){ name, strlen(name) }, &place))
		return false;
	if (place.tid != UINT32_MAX) {
		struct chrome_thread *thread = &in->threads.items[thread_of(in, f)];

		thread->tid = (struct chrome_id){ false, place.tid };
		thread->name = import_text(in->p, place.name);
	}
	if (place.process.len)
		in->processes.items[process_of(in, f->pid)].name = import_text(in->p, place.process);
	return true;
}

/* "12", "-1"; false for what is no number, or one of more than 63 bits. */
static bool whole_number(struct json_text text, int64_t *ret)
{
	bool negative = text.len && *text.data == '-';
	uint64_t number;

	if (!import_number((struct json_text){ text.data + negative, text.len - negative }, &number) || number > INT64_MAX)
		return false;
	*ret = negative ? -(int64_t)number : (int64_t)number;
	return true;
}

/* Some write names where numbers belong, or numbers as texts. */
static struct chrome_id read_id(struct chrome *in, struct json_reader *r)
{
	struct json_text text;
	int64_t number;

	if (json_read_peek(r) != JSON_TEXT)
		return (struct chrome_id){ false, json_read_int(r) };
	text = json_read_text(r);
	if (whole_number(text, &number))
		return (struct chrome_id){ false, number };
	return (struct chrome_id){ true, import_text(in->p, text) };
}

static void read_fields(struct chrome *in, struct json_reader *r, struct chrome_fields *ret)
{
	struct json_text key;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (json_is(key, "ph")) {
			struct json_text ph = json_read_text(r);

			ret->ph = ph.len == 1 ? *ph.data : 0;
		} else if (json_is(key, "name")) {
			ret->name = import_text(in->p, json_read_text(r));
			ret->has_name = true;
		} else if (json_is(key, "ts")) {
			ret->ts = json_read_double(r);
		} else if (json_is(key, "dur")) {
			ret->dur = json_read_double(r);
			ret->has_dur = true;
		} else if (json_is(key, "pid")) {
			ret->pid = read_id(in, r);
		} else if (json_is(key, "tid")) {
			ret->tid = read_id(in, r);
		} else if (json_is(key, "args")) {
			ret->args = json_read_raw(r);
		} else if (json_is(key, "cat") && json_read_peek(r) == JSON_TEXT) {
			struct json_text cat = json_read_text(r);

			ret->py_spy = json_is(cat, "py-spy");
			ret->viztracer = json_is(cat, "FEE");
			ret->is_state = json_is(cat, "state");
		} else if (json_is(key, "id") && json_read_peek(r) == JSON_TEXT) {
			ret->id = import_text(in->p, json_read_text(r));
		} else {
			json_read_skip(r);
		}
	}
}

/* {"name": "…"} */
static uint32_t name_in(struct chrome *in, const struct json_reader *r, struct json_text args)
{
	struct json_reader inner = json_reader_part(r, args);
	struct json_text key;
	uint32_t name = 0;

	if (args.data && json_read_object(&inner))
		while (json_read_key(&inner, &key)) {
			if (json_is(key, "name") && json_read_peek(&inner) == JSON_TEXT)
				name = import_text(in->p, json_read_text(&inner));
			else
				json_read_skip(&inner);
		}
	json_reader_deinit(&inner);
	return name;
}

static void take_names(struct chrome *in, const struct json_reader *r, const struct chrome_fields *f)
{
	const char *what = profile_text(in->p, f->name);
	uint32_t thread, process;

	if (strcmp(what, "thread_name") == 0) {
		thread = thread_of(in, f);
		in->threads.items[thread].name = name_in(in, r, f->args);
	} else if (strcmp(what, "process_name") == 0) {
		process = process_of(in, f->pid);
		in->processes.items[process].name = name_in(in, r, f->args);
	}
}

static void take_call(struct chrome *in, const struct json_reader *r, const struct chrome_fields *f)
{
	struct chrome_event event = {
		.time_ns = import_time_ns(f->ts, NS_PER_US),
		.end_ns = IMPORT_NO_END,
		.thread = thread_of(in, f),
		.closes = f->ph == 'E',
		.order = (uint32_t)in->events.len,
		.location = PROFILE_NONE,
	};

	if (take_place(in, f))
		return;
	if (f->ph == 'X')
		event.end_ns = import_time_ns(f->ts + (f->has_dur ? f->dur : 0), NS_PER_US);
	if (f->has_name && (*profile_text(in->p, f->name) || !event.closes))
		event.location = f->py_spy      ? placed_frame_of(in, r, f)
				 : f->viztracer ? named_place(in, f->name)
						: frame_of(in, f->name);
	else if (!event.closes)
		event.location = frame_of(in, profile_string(in->p, "(unnamed)"));
	in->nstates += f->is_state;
	vec_push(&in->events, event);
}

/* ---- V8's profiles ---- */

static struct chrome_profile *profile_of(struct chrome *in, const struct chrome_fields *f)
{
	struct chrome_profile fresh = { 0 };
	bool is_new;
	uint64_t *at = map_put(&in->profile_ids, map_pair(process_of(in, f->pid), f->id), &is_new);

	if (is_new) {
		*at = in->profiles.len;
		fresh.thread = thread_of(in, f);
		v8_tree_init(&fresh.tree, in->p);
		vec_push(&in->profiles, fresh);
	}
	return &in->profiles.items[*at];
}

static void read_numbers(struct json_reader *r, struct numbers *vec)
{
	int64_t number;

	if (!json_read_array(r))
		return;
	while (json_read_more_int(r, &number))
		vec_push(vec, number);
}

static void read_cpu_profile(struct chrome_profile *of, struct json_reader *r)
{
	struct json_text key;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (json_is(key, "nodes"))
			v8_tree_read(&of->tree, r);
		else if (json_is(key, "samples"))
			read_numbers(r, &of->samples);
		else
			json_read_skip(r);
	}
}

/* @outer: what it holds may lie in "data", once. */
static void read_chunk(struct chrome_profile *of, struct json_reader *r, bool outer)
{
	struct json_text key;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (outer && json_is(key, "data"))
			read_chunk(of, r, /* outer= */ false);
		else if (json_is(key, "cpuProfile"))
			read_cpu_profile(of, r);
		else if (json_is(key, "timeDeltas"))
			read_numbers(r, &of->deltas);
		else if (json_is(key, "startTime"))
			of->now_us = json_read_count(r);
		else
			json_read_skip(r);
	}
}

static struct err *take_chunk(struct chrome *in, const struct json_reader *r, const struct chrome_fields *f)
{
	struct chrome_profile *of = profile_of(in, f);
	struct json_reader inner = json_reader_part(r, f->args);
	struct err *err = NULL;

	if (strcmp(profile_text(in->p, f->name), "Profile") == 0)
		of->thread = thread_of(in, f);
	if (f->args.data) {
		read_chunk(of, &inner, /* outer= */ true);
		err = json_read_check(&inner);
	}
	json_reader_deinit(&inner);
	return err;
}

static struct err *read_event(struct chrome *in, struct json_reader *r)
{
	struct chrome_fields f = { .pid.number = -1, .tid.number = -1 };

	read_fields(in, r, &f);
	if (r->failed)
		return NULL;
	switch (f.ph) {
	case 'M':
		take_names(in, r, &f);
		return NULL;
	case 'B':
	case 'E':
	case 'X':
		take_call(in, r, &f);
		return NULL;
	case 'P':
		if (strncmp(profile_text(in->p, f.name), "Profile", 7) == 0)
			return take_chunk(in, r, &f);
		break;
	default:
		break;
	}
	in->left_out++;
	return NULL;
}

/* A number of the kernel's, if it can be one. */
static uint32_t number_of(struct chrome_id id)
{
	return !id.is_text && id.number >= 0 && id.number < UINT32_MAX ? (uint32_t)id.number : PROFILE_NONE;
}

/* The name that it was given, or the text that stands for its number. */
static uint32_t name_of(uint32_t name, struct chrome_id id)
{
	return !name && id.is_text ? (uint32_t)id.number : name;
}

static uint32_t profile_thread(struct chrome *in, uint32_t index)
{
	const struct chrome_thread *thread = &in->threads.items[index];
	const struct chrome_process *process = &in->processes.items[thread->process];

	return import_thread(in->p, number_of(process->pid), number_of(thread->tid),
			     name_of(process->name, process->pid), name_of(thread->name, thread->tid));
}

/* ---- "stackFrames" and "samples" ---- */

/* Numbers and texts name frames alike. */
static uint32_t frame_id(struct chrome *in, struct json_reader *r)
{
	struct json_text id = json_read_peek(r) == JSON_TEXT ? json_read_text(r) : json_read_raw(r);

	return import_text(in->p, id);
}

static void read_stack_frame(struct chrome *in, struct json_reader *r, uint32_t id)
{
	struct chrome_frame frame = { .stack = PROFILE_NONE };
	struct json_text key;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (json_is(key, "name"))
			frame.name = import_text(in->p, json_read_text(r));
		else if (json_is(key, "category"))
			frame.category = import_text(in->p, json_read_text(r));
		else if (json_is(key, "parent"))
			frame.parent = frame_id(in, r);
		else if (json_is(key, "funcLine"))
			frame.declared = json_read_small(r);
		else
			json_read_skip(r);
	}
	*map_put(&in->frame_ids, id, NULL) = in->frames.len;
	vec_push(&in->frames, frame);
}

static void read_stack_frames(struct chrome *in, struct json_reader *r)
{
	struct json_text key;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key))
		read_stack_frame(in, r, import_text(in->p, key));
}

static struct chrome_frame *frame_named(struct chrome *in, uint32_t id)
{
	const uint64_t *at = map_get(&in->frame_ids, id);

	return at ? &in->frames.items[*at] : NULL;
}

/* The number behind the last colon of @text, which is cut off with it; 0, and nothing is cut, if there is none. */
static uint32_t take_number(struct json_text *text)
{
	const char *colon = memrchr(text->data, ':', text->len);
	uint64_t number;

	if (!colon || !import_number((struct json_text){ colon + 1, (size_t)(text->data + text->len - colon) - 1 }, &number))
		return 0;
	text->len = (size_t)(colon - text->data);
	return (uint32_t)MIN(number, (uint64_t)UINT32_MAX);
}

/* Hermes (React Native) has "name(file:line:column)" as the name, and a kind as the category. */
static uint32_t hermes_location(struct chrome *in, const struct chrome_frame *from)
{
	const char *name = profile_text(in->p, from->name), *open = strchr(name, '(');
	size_t len = strlen(name);
	struct import_frame frame = { .name = from->name, .module = PROFILE_NONE, .kind = PROFILE_FRAME_RUNTIME };
	struct json_text place = { open ? open + 1 : name, open ? len - (size_t)(open + 1 - name) : 0 };

	if (from->declared && place.len && name[len - 1] == ')') {
		place.len--;
		take_number(&place);
		frame.line = take_number(&place);
		frame.file = import_text(in->p, place);
		frame.declared = from->declared;
		frame.kind = PROFILE_FRAME_INTERPRETED;
		frame.name = open == name ? profile_string(in->p, "(anonymous)")
					  : import_text(in->p, (struct json_text){ name, (size_t)(open - name) });
	}
	return import_frame(in->p, &frame);
}

static bool is_hermes(const char *category)
{
	static const char *const kinds[] = { "JavaScript", "root", "Metadata", "Native", "JSSuspend", "HermesInternal" };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(category, kinds[i]) == 0)
			return true;
	return false;
}

static uint32_t stack_frame_location(struct chrome *in, const struct chrome_frame *from)
{
	if (is_hermes(profile_text(in->p, from->category)))
		return hermes_location(in, from);

	const char *module = profile_text(in->p, from->category);
	bool kernel = strncmp(module, "[kernel", 7) == 0;
	struct import_frame frame = { .name = from->name };

	frame.kind = kernel ? PROFILE_FRAME_KERNEL : PROFILE_FRAME_NATIVE;
	frame.module = import_module(in->p, (struct json_text){ module, strlen(module) },
				     kernel ? PROFILE_KERNEL : PROFILE_USER);
	return import_frame(in->p, &frame);
}

/* The stack that ends in frame @id; a frame that is its own caller, or that is not there, fails. */
static uint32_t stack_of_frame(struct chrome *in, struct json_reader *r, uint32_t id)
{
	VEC(uint32_t) path = { 0 };
	uint32_t stack = 0;

	while (id && !r->failed) {
		struct chrome_frame *frame = frame_named(in, id);

		if (!frame || path.len > in->frames.len) {
			json_read_fail(r, frame ? "a frame that is not its own caller" : "the number of a frame of stackFrames");
			break;
		}
		if (frame->stack != PROFILE_NONE) {
			stack = frame->stack;
			break;
		}
		vec_push(&path, (uint32_t)(frame - in->frames.items));
		id = frame->parent;
	}
	while (path.len && !r->failed) {
		struct chrome_frame *frame = &in->frames.items[path.items[--path.len]];

		stack = import_stack(in->p, stack, stack_frame_location(in, frame));
		frame->stack = stack;
	}
	vec_deinit(&path);
	return stack;
}

static uint32_t type_named(struct chrome *in, const struct json_reader *r, uint32_t name)
{
	struct json_reader units = json_reader_part(r, in->units);
	const char *text = *profile_text(in->p, name) ? profile_text(in->p, name) : "samples";
	char unit[32] = "events";
	struct json_text key;
	uint32_t type;

	for (type = 0; type < in->p->types.len; type++)
		if (in->p->types.items[type].name == name)
			return type;
	if (in->units.data && json_read_object(&units))
		while (json_read_key(&units, &key)) {
			bool is_it = json_is(key, text);
			struct json_text value = json_read_text(&units);

			if (is_it)
				snprintf(unit, sizeof(unit), "%.*s", (int)MIN(value.len, sizeof(unit)), value.data);
		}
	json_reader_deinit(&units);
	return import_type(in->p, text, unit);
}

static void read_stack_sample(struct chrome *in, struct json_reader *r)
{
	struct import_sample sample = { .count = 1, .weight = 1, .has_time = true };
	struct chrome_fields f = { .pid.number = -1, .tid.number = -1 };
	uint32_t name = 0;
	struct json_text key;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (json_is(key, "ts"))
			sample.time_ns = import_time_ns(json_read_double(r), NS_PER_US);
		else if (json_is(key, "name"))
			name = import_text(in->p, json_read_text(r));
		else if (json_is(key, "weight"))
			sample.weight = json_read_int(r);
		else if (json_is(key, "sf"))
			sample.stack = stack_of_frame(in, r, frame_id(in, r));
		else if (json_is(key, "pid"))
			f.pid = read_id(in, r);
		else if (json_is(key, "tid"))
			f.tid = read_id(in, r);
		else
			json_read_skip(r);
	}
	if (r->failed)
		return;
	sample.type = type_named(in, r, name);
	if (sample.type == PROFILE_NONE) {
		json_read_fail(r, "samples of at most 256 events");
		return;
	}
	sample.thread = profile_thread(in, thread_of(in, &f));
	import_sample(in->p, &sample);
}

static struct err *read_stack_samples(struct chrome *in, const struct json_reader *r)
{
	struct json_reader frames = json_reader_part(r, in->stack_frames), samples = json_reader_part(r, in->stack_samples);
	struct err *err;

	if (in->stack_frames.data)
		read_stack_frames(in, &frames);
	err = json_read_check(&frames);
	if (!err && in->stack_samples.data && json_read_array(&samples))
		while (json_read_more(&samples))
			read_stack_sample(in, &samples);
	if (!err)
		err = json_read_check(&samples);
	json_reader_deinit(&frames);
	json_reader_deinit(&samples);
	return err;
}

static struct err *read_events(struct chrome *in, struct json_reader *r)
{
	struct err *err = NULL;

	if (!json_read_array(r))
		return NULL;
	while (!err && json_read_more(r))
		err = read_event(in, r);
	return err;
}

/* {"units": {"cpu-clock": "ns"}}, as preport writes it. */
static void read_other(struct chrome *in, struct json_reader *r)
{
	struct json_text key;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (json_is(key, "units"))
			in->units = json_read_raw(r);
		else
			json_read_skip(r);
	}
}

static struct err *read_keys(struct chrome *in, struct json_reader *r)
{
	struct json_text key;
	struct err *err = NULL;

	json_read_object(r);
	while (!err && json_read_key(r, &key)) {
		if (json_is(key, "traceEvents"))
			err = read_events(in, r);
		else if (json_is(key, "stackFrames"))
			in->stack_frames = json_read_raw(r);
		else if (json_is(key, "samples"))
			in->stack_samples = json_read_raw(r);
		else if (json_is(key, "otherData") && json_read_peek(r) == JSON_OBJECT)
			read_other(in, r);
		else
			json_read_skip(r);
	}
	return err;
}

static struct err *read_file(struct chrome *in, const struct import_input *input)
{
	struct json_reader r;
	struct err *err;

	json_reader_init(&r, input->data, input->len);
	err = json_read_peek(&r) == JSON_ARRAY ? read_events(in, &r) : read_keys(in, &r);
	if (!err && !r.failed)
		err = read_stack_samples(in, &r);
	/* A trace that is still being written has no end; what is there counts. */
	if (!err && r.failed && r.cut && (in->events.len || in->profiles.len))
		diag_warn(in->diag, "the trace ends in the middle; events up to offset %zu are used",
			  input->len);
	else if (!err)
		err = json_read_check(&r);
	json_reader_deinit(&r);
	return err;
}

/* ---- samples ---- */

static int by_time(const void *a_, const void *b_)
{
	const struct chrome_event *a = a_, *b = b_;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return COMPARE(a->order, b->order);
}

static bool is_complete(const struct chrome_event *event)
{
	return event->end_ns != IMPORT_NO_END;
}

static int longest_first(const void *a_, const void *b_)
{
	const struct chrome_event *a = a_, *b = b_;

	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return COMPARE(a->order, b->order);
}

/* Complete events are written when they end: of those that begin together, the longest is the outermost. */
static void sort_complete(struct chrome *in)
{
	size_t end;

	for (size_t i = 0; i < in->events.len; i = end) {
		const struct chrome_event *first = &in->events.items[i];

		end = i + 1;
		if (!is_complete(first))
			continue;
		while (end < in->events.len && is_complete(&in->events.items[end]) &&
		       in->events.items[end].thread == first->thread &&
		       in->events.items[end].time_ns == first->time_ns)
			end++;
		if (end - i > 1)
			qsort(&in->events.items[i], end - i, sizeof(*in->events.items), longest_first);
	}
}

static void use_event(struct chrome *in, const struct chrome_event *event)
{
	if (event->closes)
		import_spans_close(&in->spans, event->location, event->time_ns);
	else
		import_spans_open(&in->spans, event->location, event->time_ns, event->end_ns);
}

static uint64_t last_end(const struct chrome *in, size_t begin, size_t end)
{
	uint64_t last = 0;

	for (size_t i = begin; i < end; i++) {
		const struct chrome_event *event = &in->events.items[i];

		last = MAX(last, event->end_ns == IMPORT_NO_END ? event->time_ns : event->end_ns);
	}
	return last;
}

static void add_calls(struct chrome *in)
{
	uint32_t type = import_type(in->p, "wall", "ns");
	size_t end;

	vec_sort(&in->events, by_time);
	sort_complete(in);
	for (size_t i = 0; i < in->events.len; i = end) {
		uint32_t thread = in->events.items[i].thread;

		import_spans_begin(&in->spans, in->p, type, profile_thread(in, thread));
		for (end = i; end < in->events.len && in->events.items[end].thread == thread; end++)
			use_event(in, &in->events.items[end]);
		import_spans_finish(&in->spans, last_end(in, i, end));
		in->unmatched += in->spans.unmatched;
	}
}

static struct err *add_profile(struct chrome *in, struct chrome_profile *of)
{
	struct import_sample sample = { .type = import_type(in->p, "wall", "ns"),
					.thread = profile_thread(in, of->thread),
					.count = 1, .has_time = true };
	struct err *err = v8_tree_connect(&of->tree);
	int64_t now_us = (int64_t)of->now_us;

	if (err)
		return err;
	if (of->samples.len != of->deltas.len)
		return err_new(ERR_CORRUPT, "a profile has %zu samples and %zu times", of->samples.len,
			       of->deltas.len);
	for (size_t i = 0; i < of->samples.len; i++) {
		uint32_t node = v8_tree_find(&of->tree, of->samples.items[i]);
		int64_t next = i + 1 < of->deltas.len ? of->deltas.items[i + 1] : 0;

		if (__builtin_add_overflow(now_us, of->deltas.items[i], &now_us) || now_us < 0 ||
		    now_us > INT64_MAX / 2000 || next > INT64_MAX / 2000)
			return err_new(ERR_CORRUPT, "the time of sample %zu is out of range", i + 1);
		if (node == PROFILE_NONE)
			return err_new(ERR_CORRUPT, "sample %zu is of node %" PRId64 ", which is not there",
				       i + 1, of->samples.items[i]);
		sample.stack = v8_tree_stack(&of->tree, node);
		sample.time_ns = (uint64_t)now_us * 1000;
		sample.weight = MAX(next, 0) * 1000;
		import_sample(in->p, &sample);
	}
	return NULL;
}

static struct err *add_samples(struct chrome *in)
{
	struct err *err = NULL;

	for (size_t i = 0; i < in->profiles.len && !err; i++)
		err = add_profile(in, &in->profiles.items[i]);
	if (!in->profiles.len && !in->p->samples.len)
		add_calls(in);
	else if (in->events.len > in->nstates)
		diag_warn(in->diag, "the trace has samples of stacks, which are used; its %zu calls are left out",
			  in->events.len - in->nstates);
	if (in->left_out)
		diag_warn(in->diag, "%" PRIu64 " events that are not calls (asynchronous ones, counters, "
				    "instants, flows) are left out",
			  in->left_out);
	if (in->unmatched)
		diag_warn(in->diag, "%" PRIu64 " events end a call that had not begun", in->unmatched);
	return err;
}

static void deinit(struct chrome *in)
{
	for (size_t i = 0; i < in->profiles.len; i++) {
		v8_tree_deinit(&in->profiles.items[i].tree);
		vec_deinit(&in->profiles.items[i].samples);
		vec_deinit(&in->profiles.items[i].deltas);
	}
	vec_deinit(&in->profiles);
	vec_deinit(&in->events);
	vec_deinit(&in->threads);
	vec_deinit(&in->processes);
	vec_deinit(&in->frames);
	map_deinit(&in->frame_ids);
	for (size_t i = 0; i < 2; i++) {
		map_deinit(&in->process_ids[i]);
		map_deinit(&in->tids[i]);
	}
	map_deinit(&in->thread_ids);
	map_deinit(&in->profile_ids);
	import_spans_deinit(&in->spans);
}

static struct err *read_chrome(const struct import_input *input, struct profile *p,
			       struct profile_facts *facts, struct diag *diag)
{
	struct chrome in = { .p = p, .diag = diag };
	struct err *err = read_file(&in, input);

	(void)facts;
	if (!err)
		err = add_samples(&in);
	deinit(&in);
	return err;
}

const struct importer import_chrome = {
	.name = "chrome",
	.what = "trace events of Chrome, Perfetto's JSON and many tools; with a CPU profile, that",
	.extensions = ".json .trace",
	.carries = IMPORT_TIMES | IMPORT_THREADS | IMPORT_LINES | IMPORT_TYPES, /* lines of V8 and py-spy */
	.recognise = recognise,
	.read = read_chrome,
};

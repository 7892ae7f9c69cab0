/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_speedscope.c - speedscope's own format (its file-format-schema.json), as py-spy, rbspy, dotnet-trace and others write it.
 *
 * Each profile in it becomes a thread of its name. Evented ones ("O" opens, "C" closes a frame) give a sample for each time a
 * stack stays the same; sampled ones (stacks root first, with weights) follow each other. Units of time become ns.
 */
#include "formats/profile/import/import_json.h"
#include "formats/profile/import/import_place.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/import_spans.h"
#include "formats/profile/import/import_text.h"

#include <inttypes.h>
#include <math.h>

struct speedscope {
	struct profile *p;
	struct diag *diag;
	VEC(uint32_t) frames; /* locations */
	struct import_spans spans;
	struct err *err;
	bool own; /* we wrote it */
	const char *mismatch; /* a profile has "fewer" or "more" weights than samples; NULL: as many */
	uint64_t rounded; /* weights that have a fraction where only whole numbers can be kept */
};

static const struct unit {
	const char *name;
	double scale;
	const char *type, *unit;
	bool is_time;
} units[] = {
	{ "none", 1, "samples", "events", false },   { "nanoseconds", 1, "wall", "ns", true },
	{ "microseconds", 1e3, "wall", "ns", true }, { "milliseconds", 1e6, "wall", "ns", true },
	{ "seconds", 1e9, "wall", "ns", true },	     { "bytes", 1, "bytes", "bytes", false },
};

/* One profile's values while it is read. */
struct speedscope_profile {
	struct json_text events, samples, weights; /* raw */
	const struct unit *unit;
	uint32_t odd_unit; /* string: one that speedscope does not have, 0 if it has it */
	uint32_t type, thread;
	double scale; /* to ns, or 1 */
	bool is_time;
	double start, end;
};

static unsigned recognise(const uint8_t *start, size_t len)
{
	if (!import_json_begins(start, len, '{'))
		return 0;
	if (import_has_text(start, len, "speedscope.app/file-format-schema.json"))
		return 95;
	return import_json_has(start, len, "shared") && import_json_has(start, len, "profiles") ? 70 : 0;
}

static void read_frame(struct speedscope *in, struct json_reader *r)
{
	struct import_frame frame = { .module = PROFILE_NONE, .kind = PROFILE_FRAME_INTERPRETED };
	struct json_text key;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (json_is(key, "name"))
			frame.name = import_text(in->p, json_read_text(r));
		else if (json_is(key, "file"))
			frame.file = import_text(in->p, json_read_text(r));
		else if (json_is(key, "line"))
			frame.line = json_read_small(r);
		else
			json_read_skip(r);
	}
	vec_push(&in->frames, import_frame(in->p, &frame));
}

static void read_shared(struct speedscope *in, struct json_reader *r)
{
	struct json_text key;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (!json_is(key, "frames"))
			json_read_skip(r);
		else if (json_read_array(r))
			while (json_read_more(r))
				read_frame(in, r);
	}
}

static uint32_t location_of(struct speedscope *in, struct json_reader *r)
{
	int64_t number = json_read_int(r);

	if (number >= 0 && (uint64_t)number < in->frames.len)
		return in->frames.items[number];
	if (!r->failed)
		json_read_fail(r, "the number of a frame of the file");
	return PROFILE_NONE;
}

/* ---- evented ---- */

static void read_event(struct speedscope *in, const struct speedscope_profile *of, struct json_reader *r)
{
	uint32_t location = PROFILE_NONE;
	struct json_text key;
	uint64_t time = 0;
	char what = 0;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (json_is(key, "type")) {
			struct json_text type = json_read_text(r);

			what = type.len == 1 ? *type.data : 0;
		} else if (json_is(key, "at")) {
			time = import_time_ns(json_read_double(r), of->scale);
		} else if (json_is(key, "frame")) {
			location = location_of(in, r);
		} else {
			json_read_skip(r);
		}
	}
	if (location == PROFILE_NONE)
		json_read_fail(r, "an event with a frame");
	else if (what == 'O')
		import_spans_open(&in->spans, location, time, IMPORT_NO_END);
	else if (what == 'C')
		import_spans_close(&in->spans, location, time);
	else
		json_read_fail(r, "an event of type O or C");
}

/* ---- sampled ---- */

static uint32_t read_stack(struct speedscope *in, struct json_reader *r)
{
	uint32_t stack = 0;

	if (!json_read_array(r))
		return 0;
	while (json_read_more(r)) {
		uint32_t location = location_of(in, r);

		if (location != PROFILE_NONE)
			stack = import_stack(in->p, stack, location);
	}
	return stack;
}

/* The next of @weights, of which there has to be one for each sample; 1 if the file has none at all. */
static double read_weight(struct speedscope *in, const struct speedscope_profile *of, struct json_reader *weights, bool weighted)
{
	double weight = 1;

	if (weighted && !json_read_more(weights))
		in->mismatch = "fewer";
	else if (weighted)
		weight = json_read_double(weights);
	in->rounded += of->scale == 1 && weight != trunc(weight);
	return weight;
}

static void read_samples(struct speedscope *in, const struct speedscope_profile *of, struct json_reader *r,
			 struct json_reader *weights)
{
	double now = of->start;
	bool weighted = json_read_peek(weights) == JSON_ARRAY && json_read_array(weights);

	if (!json_read_array(r))
		return;
	while (!weights->failed && !in->mismatch && json_read_more(r)) {
		struct import_sample sample = { .type = of->type, .thread = of->thread, .count = 1 };
		double weight;

		sample.stack = read_stack(in, r);
		weight = read_weight(in, of, weights, weighted);
		sample.weight = (int64_t)import_time_ns(weight, of->scale);
		sample.has_time = of->is_time && weighted;
		sample.time_ns = import_time_ns(now, of->scale);
		now += weight > 0 ? weight : 0;
		if (!r->failed && !weights->failed)
			import_sample(in->p, &sample);
	}
	if (weighted && !r->failed && !in->mismatch && json_read_more(weights))
		in->mismatch = "more";
}

/* ---- profiles ---- */

static void read_values(struct speedscope *in, const struct speedscope_profile *of, struct json_reader *r)
{
	struct json_reader events = json_reader_part(r, of->events), samples = json_reader_part(r, of->samples);
	struct json_reader weights = json_reader_part(r, of->weights);

	import_spans_begin(&in->spans, in->p, of->type, of->thread);
	in->spans.times = of->is_time;
	if (of->events.data && json_read_array(&events)) {
		while (json_read_more(&events))
			read_event(in, of, &events);
		import_spans_finish(&in->spans, import_time_ns(of->end, of->scale));
		if (in->spans.unmatched)
			diag_warn(in->diag, "a frame is closed that was not open");
	}
	if (of->samples.data)
		read_samples(in, of, &samples, &weights);
	in->err = json_read_check(&events);
	if (!in->err)
		in->err = json_read_check(&samples);
	if (!in->err && weights.failed)
		in->err = json_read_check(&weights);
	if (!in->err && in->mismatch)
		in->err = err_new(ERR_CORRUPT, "the profile whose weights end at offset %zu has %s weights than samples",
				  (size_t)(weights.end - weights.begin), in->mismatch);
	json_reader_deinit(&events);
	json_reader_deinit(&samples);
	json_reader_deinit(&weights);
}

static void set_unit(struct speedscope *in, struct json_text name, struct speedscope_profile *of)
{
	const struct unit *unit = NULL;

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (json_is(name, units[i].name))
			unit = &units[i];
	if (!unit)
		of->odd_unit = import_text(in->p, name);
	of->unit = unit ? unit : &units[0];
	unit = of->unit;
	of->scale = unit->scale;
	of->is_time = unit->is_time;
}

/* "comm (event)" of a profile of ours whose threads have no numbers, or "event" where they have no names either. */
static void take_event(struct json_text *name, struct json_text *event)
{
	const char *open = name->len && name->data[name->len - 1] == ')' ? memrchr(name->data, '(', name->len) : NULL;

	if (!open || open == name->data || open[-1] != ' ') {
		*event = *name;
		name->len = 0;
		return;
	}
	*event = (struct json_text){ open + 1, name->len - (size_t)(open + 2 - name->data) };
	name->len = (size_t)(open - 1 - name->data);
}

/* What a profile's name says of its thread, and, if we wrote it, of what its values are. */
static void take_name(struct speedscope *in, uint32_t name, struct speedscope_profile *of)
{
	struct json_text text = { profile_text(in->p, name), strlen(profile_text(in->p, name)) };
	struct import_place place;
	const char *unit = of->unit->unit;
	char type[256] = "";

	if (!import_place(text, &place)) {
		place.name = text;
		if (in->own)
			take_event(&place.name, &place.event);
	}
	of->thread = import_thread(in->p, place.pid, place.tid, import_text(in->p, place.process),
				   import_text(in->p, place.name));
	if (in->own)
		snprintf(type, sizeof(type), "%.*s", (int)MIN(place.event.len, sizeof(type) - 1), place.event.data);
	if (of->odd_unit)
		unit = profile_text(in->p, of->odd_unit);
	if (of->odd_unit && !*type)
		snprintf(type, sizeof(type), "value");
	of->type = import_type(in->p, *type ? type : of->unit->type, unit);
}

static void read_profile(struct speedscope *in, struct json_reader *r)
{
	struct speedscope_profile of = { 0 };
	struct json_text key;
	uint32_t name = 0;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (json_is(key, "name"))
			name = import_text(in->p, json_read_text(r));
		else if (json_is(key, "unit"))
			set_unit(in, json_read_text(r), &of);
		else if (json_is(key, "startValue"))
			of.start = json_read_double(r);
		else if (json_is(key, "endValue"))
			of.end = json_read_double(r);
		else if (json_is(key, "events"))
			of.events = json_read_raw(r);
		else if (json_is(key, "samples"))
			of.samples = json_read_raw(r);
		else if (json_is(key, "weights"))
			of.weights = json_read_raw(r);
		else
			json_read_skip(r);
	}
	if (!of.unit)
		set_unit(in, (struct json_text){ "none", 4 }, &of);
	take_name(in, name, &of);
	if (!r->failed)
		read_values(in, &of, r);
}

static void read_profiles(struct speedscope *in, struct json_reader *r)
{
	if (!json_read_array(r))
		return;
	while (!in->err && json_read_more(r))
		read_profile(in, r);
}

/* The frames may stand behind the profiles, so they are looked for first. */
static struct err *read_part(struct speedscope *in, const struct import_input *input, bool shared)
{
	struct json_reader r;
	struct json_text key;
	struct err *err;

	json_reader_init(&r, input->data, input->len);
	json_read_object(&r);
	while (!in->err && json_read_key(&r, &key)) {
		if (shared && json_is(key, "shared"))
			read_shared(in, &r);
		else if (shared && json_is(key, "exporter") && json_read_peek(&r) == JSON_TEXT)
			in->own = import_starts(json_read_text(&r), "preport");
		else if (!shared && json_is(key, "profiles"))
			read_profiles(in, &r);
		else
			json_read_skip(&r);
	}
	err = in->err ? in->err : json_read_check(&r);
	json_reader_deinit(&r);
	return err;
}

static struct err *read_speedscope(const struct import_input *input, struct profile *p,
				   struct profile_facts *facts, struct diag *diag)
{
	struct speedscope in = { .p = p, .diag = diag };
	struct err *err = read_part(&in, input, /* shared= */ true);

	(void)facts;
	if (!err)
		err = read_part(&in, input, /* shared= */ false);
	if (!err && in.rounded)
		diag_warn(diag, "%" PRIu64 " weights have a fraction, which is rounded: values are whole numbers", in.rounded);
	vec_deinit(&in.frames);
	import_spans_deinit(&in.spans);
	return err;
}

const struct importer import_speedscope = {
	.name = "speedscope",
	.what = "speedscope's own file: sampled or with opening and closing frames",
	.extensions = ".speedscope.json .speedscope",
	.carries = IMPORT_TIMES | IMPORT_THREADS | IMPORT_LINES | IMPORT_TYPES,
	.recognise = recognise,
	.read = read_speedscope,
};

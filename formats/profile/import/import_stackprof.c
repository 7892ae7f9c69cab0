/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_stackprof.c - Ruby's stackprof, as JSON ('stackprof --json', or data.to_json).
 *
 *	"frames": {"140": {"name": "Object#f", "file": "a.rb", "line": 3}}
 *	"raw": [2, 140, 150, 7]			how many frames, root first, and how many samples in a row
 *	"raw_lines": [2, 3, 9, 7]		the same with the lines that ran
 *	"raw_timestamp_deltas": [1000, …]	microseconds, of each sample
 *
 * Without "raw" (recorded without raw: true) there are no stacks, only functions' own samples, which a warning notes.
 */
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_ids.h"
#include "formats/profile/import/import_json.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/import_text.h"

#include <inttypes.h>

#define NS_PER_US 1000
#define LARGEST	  ((uint64_t)INT64_MAX / 2000000)

struct stackprof_frame {
	struct import_frame frame;
	uint64_t samples; /* own */
};

struct numbers {
	int64_t *items;
	size_t len, cap;
};

struct stackprof {
	struct profile *p;
	VEC(struct stackprof_frame) frames;
	struct import_ids ids;
	struct numbers raw, lines, deltas;
	uint32_t mode;	   /* string */
	uint64_t interval; /* microseconds, or allocations */
	uint32_t type, thread;
	uint64_t scale; /* value of a sample */
};

static unsigned recognise(const uint8_t *start, size_t len)
{
	if (!import_json_begins(start, len, '{') || !import_json_has(start, len, "mode") ||
	    !import_json_has(start, len, "interval"))
		return 0;
	return import_has_text(start, len, "\"total_samples\"") ? 90 : 50;
}

static void read_frame(struct stackprof *in, struct json_reader *r, uint64_t id)
{
	struct stackprof_frame fresh = { .frame = { .module = PROFILE_NONE, .kind = PROFILE_FRAME_INTERPRETED } };
	struct json_text key;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (json_is(key, "name"))
			fresh.frame.name = import_text(in->p, json_read_text(r));
		else if (json_is(key, "file"))
			fresh.frame.file = import_text(in->p, json_read_text(r));
		else if (json_is(key, "line"))
			fresh.frame.declared = json_read_small(r);
		else if (json_is(key, "samples"))
			fresh.samples = json_read_count(r);
		else
			json_read_skip(r);
	}
	if (!fresh.frame.file)
		fresh.frame.kind = PROFILE_FRAME_RUNTIME; /* "(garbage collection)" */
	import_ids_put(&in->ids, id, (uint32_t)in->frames.len);
	vec_push(&in->frames, fresh);
}

static void read_frames(struct stackprof *in, struct json_reader *r)
{
	struct json_text key;
	uint64_t id;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (import_number(key, &id))
			read_frame(in, r, id);
		else
			json_read_fail(r, "a frame that has a number");
	}
}

static void read_numbers(struct json_reader *r, struct numbers *ret)
{
	int64_t number;

	ret->len = 0;
	if (!json_read_array(r))
		return;
	while (json_read_more_int(r, &number))
		vec_push(ret, number);
}

static struct err *read_file(struct stackprof *in, const struct import_input *input)
{
	struct json_reader r;
	struct json_text key;
	struct err *err;

	json_reader_init(&r, input->data, input->len);
	json_read_object(&r);
	while (json_read_key(&r, &key)) {
		if (json_is(key, "frames"))
			read_frames(in, &r);
		else if (json_is(key, "raw"))
			read_numbers(&r, &in->raw);
		else if (json_is(key, "raw_lines"))
			read_numbers(&r, &in->lines);
		else if (json_is(key, "raw_timestamp_deltas"))
			read_numbers(&r, &in->deltas);
		else if (json_is(key, "mode"))
			in->mode = import_text(in->p, json_read_text(&r));
		else if (json_is(key, "interval"))
			in->interval = json_read_count(&r);
		else
			json_read_skip(&r);
	}
	err = json_read_check(&r);
	json_reader_deinit(&r);
	return err;
}

/* "cpu" and "wall" sample every so many microseconds, "object" every so many allocations, others count. */
static void set_type(struct stackprof *in)
{
	const char *mode = profile_text(in->p, in->mode);
	bool is_time = strcmp(mode, "cpu") == 0 || strcmp(mode, "wall") == 0;

	in->scale = in->interval && in->interval <= LARGEST ? in->interval : 1;
	if (is_time)
		in->scale *= NS_PER_US;
	else if (strcmp(mode, "object") != 0)
		in->scale = 1;
	in->type = import_type(in->p, strcmp(mode, "object") == 0 ? "objects" : *mode ? mode : "samples",
			       is_time ? "ns" : "events");
	in->thread = import_thread(in->p, PROFILE_NONE, PROFILE_NONE, 0, 0);
}

static struct err *stack_of(struct stackprof *in, size_t at, size_t count, uint32_t *ret)
{
	bool has_lines = in->lines.len == in->raw.len;

	*ret = 0;
	for (size_t i = at; i < at + count; i++) {
		uint32_t number = import_ids_get(&in->ids, (uint64_t)in->raw.items[i]);
		struct import_frame frame;

		if (number == PROFILE_NONE)
			return err_new(ERR_CORRUPT, "frame %" PRId64 " is not there", in->raw.items[i]);
		frame = in->frames.items[number].frame;
		if (has_lines && in->lines.items[i] > 0 && in->lines.items[i] < UINT32_MAX)
			frame.line = (uint32_t)in->lines.items[i];
		*ret = import_stack(in->p, *ret, import_frame(in->p, &frame));
	}
	return NULL;
}

/* @count samples in a row; each has its time where there are times. */
static struct err *add_samples(struct stackprof *in, uint32_t stack, uint64_t count, size_t *delta, uint64_t *now_us)
{
	struct import_sample sample = { .stack = stack, .type = in->type, .thread = in->thread, .count = count,
					.weight = (int64_t)in->scale };

	if (count > (uint64_t)INT64_MAX / in->scale)
		return err_new(ERR_CORRUPT, "%" PRIu64 " samples in a row are too many", count);
	if (count > in->deltas.len - *delta) {
		sample.weight *= (int64_t)count;
		import_sample(in->p, &sample);
		return NULL;
	}
	sample.count = 1;
	sample.has_time = true;
	for (uint64_t i = 0; i < count; i++) {
		int64_t passed = in->deltas.items[(*delta)++];

		*now_us += passed > 0 ? MIN((uint64_t)passed, LARGEST - *now_us) : 0;
		sample.time_ns = *now_us * NS_PER_US;
		import_sample(in->p, &sample);
	}
	return NULL;
}

static struct err *add_raw(struct stackprof *in)
{
	size_t delta = 0, at = 0;
	uint64_t now_us = 0;

	while (at < in->raw.len) {
		uint64_t count = (uint64_t)in->raw.items[at++];
		uint32_t stack;
		struct err *err;

		if (count >= in->raw.len - at)
			return err_new(ERR_CORRUPT, "\"raw\" ends within a stack of %" PRIu64 " frames", count);
		err = stack_of(in, at, count, &stack);
		at += count;
		if (!err && in->raw.items[at] > 0)
			err = add_samples(in, stack, (uint64_t)in->raw.items[at], &delta, &now_us);
		at++;
		if (err)
			return err;
	}
	return NULL;
}

static struct err *add_own(struct stackprof *in, struct diag *diag)
{
	struct err *err = NULL;
	uint64_t now_us = 0;
	size_t delta = 0;

	diag_warn(diag, "it has no stacks, only each function's own samples; record with raw: true");
	in->deltas.len = 0;
	for (size_t i = 0; i < in->frames.len && !err; i++) {
		const struct stackprof_frame *frame = &in->frames.items[i];
		uint32_t stack;

		if (!frame->samples)
			continue;
		stack = import_stack(in->p, 0, import_frame(in->p, &frame->frame));
		err = add_samples(in, stack, frame->samples, &delta, &now_us);
	}
	return err;
}

static struct err *read_stackprof(const struct import_input *input, struct profile *p, struct profile_facts *facts,
				  struct diag *diag)
{
	struct stackprof in = { .p = p };
	struct err *err = read_file(&in, input);

	(void)facts;
	if (!err) {
		set_type(&in);
		err = in.raw.len ? add_raw(&in) : add_own(&in, diag);
	}
	vec_deinit(&in.frames);
	vec_deinit(&in.raw);
	vec_deinit(&in.lines);
	vec_deinit(&in.deltas);
	import_ids_deinit(&in.ids);
	return err;
}

const struct importer import_stackprof = {
	.name = "stackprof",
	.what = "JSON of stackprof, the Ruby sampler",
	.extensions = ".stackprof.json .json",
	.carries = IMPORT_TIMES | IMPORT_LINES,
	.recognise = recognise,
	.read = read_stackprof,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_v8_ticks.c - what 'node --prof-process --preprocess' makes of the log that 'node --prof' writes.
 *
 *	"code": [{"name": "fib /app/w.js:1:13", "type": "JS", "kind": "Opt", …}, …]
 *	"ticks": [{"tm": 5299, "vm": 3, "s": [36706, 548630, …]}, …]
 *
 * A tick is a sample: microseconds, the state of the virtual machine, and pairs of a number of code, leaf first, and an offset in it.
 * Code -1 is not known. There is much more code than is ever met, so it is read when it is.
 */
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_json.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/import_text.h"

#include "formats/base/vec.h"

#include <inttypes.h>

#define NS_PER_US   1000
#define TIME_MAX_US ((uint64_t)9000000000000000)

/* "vm", in V8's order. */
static const char *const states[] = {
	"JavaScript", "garbage collection", "parser", "bytecode compiler", "compiler", "other", "external", "waits for Atomics", "idle",
	"logging",
};

struct code {
	struct json_text text; /* of the file */
	uint32_t location;     /* PROFILE_NONE until it is needed */
};

struct v8_ticks {
	struct profile *p;
	VEC(struct code) codes;
	VEC(int64_t) stack; /* of the tick at hand: numbers of code and offsets */
	uint32_t type, thread, unknown;
	uint64_t wrong; /* numbers of code that is not there */
};

static unsigned recognise(const uint8_t *start, size_t len)
{
	if (!import_json_begins(start, len, '{') || !import_json_has(start, len, "code"))
		return 0;
	return import_has_text(start, len, "\"SHARED_LIB\"") || import_has_text(start, len, "\"CPP\"") ||
			       import_has_text(start, len, "\"CODE\"") || import_has_text(start, len, "\"JS\"") ?
		       85 : 0;
}

/* "12:5" off the end of @text: the line. */
static bool take_line_and_column(struct json_text *text, uint32_t *ret_line)
{
	struct json_text number = *text;
	size_t colons[2] = { 0 };
	uint64_t line, column;

	for (size_t i = text->len, n = 0; i > 0 && n < 2; i--)
		if (text->data[i - 1] == ':')
			colons[n++] = i - 1;
	if (!colons[1])
		return false;
	number = (struct json_text){ text->data + colons[1] + 1, colons[0] - colons[1] - 1 };
	if (!import_number(number, &line))
		return false;
	number = (struct json_text){ text->data + colons[0] + 1, text->len - colons[0] - 1 };
	if (!import_number(number, &column))
		return false;
	*ret_line = (uint32_t)MIN(line, (uint64_t)UINT32_MAX - 1);
	text->len = colons[1];
	return true;
}

/* "fib /app/w.js:1:13", "get size /app/w.js:3:7", " /app/w.js:1:1" */
static void name_script(struct v8_ticks *in, struct json_text text, struct import_frame *frame)
{
	struct json_text name = text;
	bool two = import_starts(text, "get ") || import_starts(text, "set ");

	if (!take_line_and_column(&text, &frame->declared)) {
		frame->name = import_text(in->p, text);
		return;
	}
	import_take(&text, ' ');
	if (two)
		import_take(&text, ' ');
	name.len = (size_t)(text.data - name.data) - (text.data > name.data);
	frame->name = name.len ? import_text(in->p, name) : profile_string(in->p, "(anonymous)");
	frame->file = import_text(in->p, text);
}

static void name_library(struct v8_ticks *in, struct json_text path, struct import_frame *frame)
{
	const char *name;

	frame->module = import_module(in->p, path, PROFILE_USER);
	name = profile_text(in->p, profile_module(in->p, frame->module)->name);
	frame->name = profile_string(in->p, *name ? name : "[unknown]");
}

static void name_code(struct v8_ticks *in, struct json_text name, const char *type, struct import_frame *frame)
{
	if (strcmp(type, "JS") == 0)
		name_script(in, name, frame);
	else if (strcmp(type, "SHARED_LIB") == 0)
		name_library(in, name, frame);
	else
		frame->name = import_text(in->p, name);
	if (strcmp(type, "CODE") == 0)
		frame->kind = PROFILE_FRAME_RUNTIME;
}

static uint32_t read_code(struct v8_ticks *in, struct json_reader *r)
{
	struct import_frame frame = { .module = PROFILE_NONE, .kind = PROFILE_FRAME_NATIVE };
	struct json_text key, text;
	uint32_t name = 0, type = 0;

	json_read_object(r);
	while (json_read_key(r, &key)) {
		if (json_is(key, "name")) {
			name = import_text(in->p, json_read_text(r));
		} else if (json_is(key, "type")) {
			type = import_text(in->p, json_read_text(r));
		} else if (json_is(key, "kind")) {
			text = json_read_text(r);
			frame.kind = json_is(text, "Unopt") || json_is(text, "Ignition") ? PROFILE_FRAME_INTERPRETED : PROFILE_FRAME_JIT;
		} else {
			json_read_skip(r);
		}
	}
	text.data = profile_text(in->p, name);
	text.len = strlen(text.data);
	name_code(in, text, profile_text(in->p, type), &frame);
	return import_frame(in->p, &frame);
}

static uint32_t location_of(struct v8_ticks *in, const struct json_reader *file, int64_t number)
{
	struct code *code;

	if (number < 0 || (uint64_t)number >= in->codes.len) {
		in->wrong += number >= 0;
		return in->unknown;
	}
	code = &in->codes.items[number];
	if (code->location == PROFILE_NONE) {
		struct json_reader r = json_reader_part(file, code->text);

		code->location = read_code(in, &r);
		json_reader_deinit(&r);
	}
	return code->location;
}

static void read_codes(struct v8_ticks *in, struct json_reader *r)
{
	if (!json_read_array(r))
		return;
	while (json_read_more(r))
		vec_push(&in->codes, ((struct code){ json_read_raw(r), PROFILE_NONE }));
}

static void read_stack(struct v8_ticks *in, struct json_reader *r)
{
	int64_t number;

	if (!json_read_array(r))
		return;
	while (json_read_more_int(r, &number))
		vec_push(&in->stack, number);
}

static uint32_t state_label(struct v8_ticks *in, uint32_t state)
{
	struct profile_label label = { .key = profile_string(in->p, "state") };

	if (state >= ARRAY_LEN(states))
		return 0;
	label.text = profile_string(in->p, states[state]);
	return profile_add_labels(in->p, &label, 1);
}

static void read_tick(struct v8_ticks *in, struct json_reader *r)
{
	struct import_sample sample = { .type = in->type, .thread = in->thread, .count = 1, .weight = 1 };
	struct json_text key;
	uint64_t us;

	in->stack.len = 0;
	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (json_is(key, "tm")) {
			us = json_read_count(r);
			sample.time_ns = MIN(us, TIME_MAX_US) * NS_PER_US;
			sample.has_time = true;
		} else if (json_is(key, "vm")) {
			sample.labels = state_label(in, json_read_small(r));
		} else if (json_is(key, "s")) {
			read_stack(in, r);
		} else {
			json_read_skip(r);
		}
	}
	for (size_t i = in->stack.len / 2; i > 0; i--)
		sample.stack = import_stack(in->p, sample.stack, location_of(in, r, in->stack.items[2 * i - 2]));
	if (!r->failed)
		import_sample(in->p, &sample);
}

static struct err *read_file(struct v8_ticks *in, const struct import_input *input)
{
	struct json_reader r;
	struct json_text key;
	struct err *err;

	json_reader_init(&r, input->data, input->len);
	json_read_object(&r);
	while (json_read_key(&r, &key)) {
		if (json_is(key, "code")) {
			read_codes(in, &r);
		} else if (json_is(key, "ticks") && json_read_array(&r)) {
			while (json_read_more(&r))
				read_tick(in, &r);
		} else if (!json_is(key, "ticks")) {
			json_read_skip(&r);
		}
	}
	err = json_read_check(&r);
	json_reader_deinit(&r);
	return err;
}

static struct err *read_v8_ticks(const struct import_input *input, struct profile *p, struct profile_facts *facts,
				 struct diag *diag)
{
	struct v8_ticks in = { .p = p, .type = import_type(p, "ticks", "events"),
			       .thread = import_thread(p, PROFILE_NONE, PROFILE_NONE, 0, 0) };
	struct import_frame unknown = { .name = profile_string(p, "[unknown]"), .module = PROFILE_NONE, .kind = PROFILE_FRAME_NATIVE };
	struct err *err;

	(void)facts;
	in.unknown = import_frame(p, &unknown);
	err = read_file(&in, input);
	if (!err && in.wrong)
		diag_warn(diag, "%" PRIu64 " frames are of code that the file does not have", in.wrong);
	vec_deinit(&in.codes);
	vec_deinit(&in.stack);
	return err;
}

const struct importer import_v8_ticks = {
	.name = "v8-ticks",
	.what = "ticks of node --prof, from 'node --prof-process --preprocess LOG'",
	.extensions = ".json",
	.carries = IMPORT_TIMES | IMPORT_LINES | IMPORT_LABELS,
	.recognise = recognise,
	.read = read_v8_ticks,
};

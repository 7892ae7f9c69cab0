/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded_read.c - lines are cut at blanks from the right: names hold blanks, values do not.
 */
#include "formats/profile/folded_read.h"

#include "formats/base/text.h"

#include <inttypes.h>
#include <string.h>

#define LOOKED_AT    4096 /* bytes of a file that is to be recognised */
#define WEIGHT_LEAST 1000 /* where no value is below, they are weights */

struct folded_reader {
	struct profile *p;
	struct arena arena; /* of one line */
	uint64_t line;      /* its number */
	uint64_t divisor, least, total;
};

/* A name and what its endings say. */
struct folded_frame {
	char *name;
	const char *module;
	enum profile_frame_kind kind;
};

static size_t line_len(const char *text, size_t len)
{
	const char *end = memchr(text, '\n', len);

	return end ? (size_t)(end - text) : len;
}

/* "a;b;c 12": where the value begins, 0 if there is none. */
static size_t value_at(const char *line, size_t len)
{
	size_t at = len;

	while (at && line[at - 1] >= '0' && line[at - 1] <= '9')
		at--;
	return at < len && at > 1 && line[at - 1] == ' ' ? at : 0;
}

static size_t without_blanks(const char *line, size_t len)
{
	while (len && (line[len - 1] == '\r' || line[len - 1] == ' ' || line[len - 1] == '\t'))
		len--;
	return len;
}

static bool is_nothing(const char *line, size_t len)
{
	return len == 0 || *line == '#';
}

bool folded_is(const void *data, size_t len)
{
	const char *text = data;
	size_t seen = MIN(len, (size_t)LOOKED_AT);

	if (!len || memchr(data, 0, seen))
		return false;
	while (len) {
		size_t whole = line_len(text, len), used = without_blanks(text, whole);

		if (!is_nothing(text, used))
			return value_at(text, used) > 0;
		whole = MIN(whole + 1, len);
		text += whole;
		len -= whole;
	}
	return false;
}

/* ---- frames ---- */

static bool take_ending(char *name, const char *ending)
{
	size_t len = strlen(name), end = strlen(ending);

	if (len <= end || strcmp(name + len - end, ending) != 0)
		return false;
	name[len - end] = 0;
	return true;
}

/* " [libc.so.6]" */
static const char *take_module(char *name)
{
	size_t len = strlen(name);
	char *open = len && name[len - 1] == ']' ? strrchr(name, '[') : NULL;

	if (open && open > name && open[-1] == '[') /* " [[kernel]]": the name is "[kernel]" */
		open--;
	if (!open || open < name + 2 || open[-1] != ' ')
		return NULL;
	name[len - 1] = 0;
	open[-1] = 0;
	return open + 1;
}

static struct folded_frame parse_frame(char *name)
{
	struct folded_frame frame = {
		.name = name,
		.module = take_module(name),
		.kind = PROFILE_FRAME_NATIVE,
	};

	if (take_ending(name, "_[k]"))
		frame.kind = PROFILE_FRAME_KERNEL;
	else if (take_ending(name, "_[j]"))
		frame.kind = PROFILE_FRAME_JIT;
	else
		take_ending(name, "_[i]");
	if (frame.module && strncmp(frame.module, "[kernel", 7) == 0)
		frame.kind = PROFILE_FRAME_KERNEL;
	if (!frame.module && frame.kind == PROFILE_FRAME_KERNEL)
		frame.module = "[kernel]";
	return frame;
}

static uint32_t add_module(struct folded_reader *r, const struct folded_frame *frame)
{
	struct profile_module mod = { .kind = PROFILE_USER };

	if (!frame->module)
		return PROFILE_NONE;
	if (frame->kind == PROFILE_FRAME_KERNEL)
		mod.kind = PROFILE_KERNEL;
	else if (frame->kind == PROFILE_FRAME_JIT)
		mod.kind = PROFILE_JIT;
	mod.name = mod.path = profile_string(r->p, frame->module);
	return profile_add_module(r->p, &mod);
}

static uint32_t add_frame(struct folded_reader *r, uint32_t parent, char *name)
{
	struct folded_frame frame = parse_frame(name);
	struct profile_function function = {
		.name = profile_string(r->p, frame.name),
		.module = add_module(r, &frame),
	};
	struct profile_line line = { .function = profile_add_function(r->p, &function) };
	uint32_t location =
		profile_add_named_location(r->p, frame.kind, function.module, &line, 1);

	return profile_add_stack(r->p, parent, location, PROFILE_HOW_SURE);
}

static uint32_t add_process(struct folded_reader *r, const char *name)
{
	uint32_t text = profile_string(r->p, name);
	struct profile_thread thread = { .pid = PROFILE_NONE, .tid = PROFILE_NONE, .comm = text, .process = text };

	return profile_add_thread(r->p, &thread);
}

/* ---- lines ---- */

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static struct err *add_line(struct folded_reader *r, const char *line, size_t len)
{
	size_t at = value_at(line, len);
	struct profile_sample sample = { .cpu = UINT32_MAX, .user = true, .count = 1 };
	uint64_t value = 0;
	char *frames, *rest;

	if (!at || !text_parse_u64(arena_memdup(&r->arena, line + at, len - at), &value))
		return err_new(ERR_CORRUPT, "line %" PRIu64 " does not end in a blank and a number",
			       r->line);
	if (value > (uint64_t)INT64_MAX - r->total)
		return err_new(ERR_CORRUPT, "line %" PRIu64 ": the values add up to too much",
			       r->line);
	if (!value)
		return NULL;
	r->total += value;
	r->divisor = greatest_divisor(r->divisor, value);
	r->least = MIN(r->least, value);
	sample.weight = (int64_t)value;
	frames = rest = arena_memdup(&r->arena, line, at - 1);
	sample.thread = add_process(r, strchr(frames, ';') ? strsep(&rest, ";") : "");
	while (rest) {
		char *name = strsep(&rest, ";");

		if (*name)
			sample.stack = add_frame(r, sample.stack, name);
	}
	sample.weight_sq = (double)sample.weight * (double)sample.weight;
	profile_add_sample(r->p, &sample);
	return NULL;
}

/* What the values are, now that all are known. */
static void set_counts(struct folded_reader *r)
{
	uint64_t one = r->least < WEIGHT_LEAST ? 1 : r->divisor;

	if (r->least >= WEIGHT_LEAST && one < WEIGHT_LEAST)
		return;
	for (size_t i = 0; i < r->p->samples.len; i++) {
		struct profile_sample *sample = &r->p->samples.items[i];

		sample->count = (uint64_t)sample->weight / one;
		sample->weight_sq = (double)sample->weight * (double)one;
	}
}

struct err *folded_read(const void *data, size_t len, struct profile *p)
{
	struct folded_reader r = { .p = p, .least = UINT64_MAX };
	struct profile_value_type event = { .name = profile_string(p, "samples"),
				       .unit = profile_string(p, "events") };
	const char *text = data;
	struct err *err = NULL;

	profile_add_value_type(p, &event);
	while (len && !err) {
		size_t whole = line_len(text, len), used = without_blanks(text, whole);

		r.line++;
		arena_reset(&r.arena);
		if (!is_nothing(text, used))
			err = add_line(&r, text, used);
		whole = MIN(whole + 1, len);
		text += whole;
		len -= whole;
	}
	set_counts(&r);
	arena_deinit(&r.arena);
	return err;
}

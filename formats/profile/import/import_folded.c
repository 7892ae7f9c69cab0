/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_folded.c - collapsed stacks: a line is "process;root;...;leaf VALUE".
 *
 * Written by many: preport, stackcollapse-perf.pl, inferno, bcc, async-profiler, py-spy, … Blank lines and comments (#) are
 * passed over. What they mean by a frame is seen from the file's beginning:
 *
 *	perf, bcc, preport	the first frame is the process, unless it is the only one
 *	py-spy, async-profiler	all frames are code, but that first ones which say so are a process or thread
 *
 * Endings are understood: " [module]", "_[k]" (kernel), "_[i]" (inlined), "_[j]" (JIT), "_[0]" and "_[1]" (interpreted,
 * compiled first); " (file:line)" in front of them, of py-spy and of preport; and bcc's frame "-" between user's and kernel's code. There are no addresses, times or CPUs.
 *
 * VALUE may count samples or sum up their weights; that is not written anywhere. If some value is below 1000, they count samples.
 * Otherwise they are weights: where some line has exactly the greatest common divisor of all, and that is 10,000 or more, it is
 * taken to be the weight of one sample. Else (times in microseconds, written in nanoseconds, have a common divisor too) it is not
 * known how many samples there were, and what is shown are values.
 *
 * To be fast, the frames that a line shares with the line before are not looked up again, a frame is found by its bytes, and a
 * stack by its caller's and the frame's numbers.
 */
#include "formats/base/map.h"
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_place.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/import_text.h"

#include <inttypes.h>
#include <string.h>

#define WEIGHT_LEAST 1000  /* where no value is below, they are weights */
#define PERIOD_LEAST 10000 /* of one sample */
#define LINES_SEEN   200  /* to find out the dialect */
#define VALUE_MAX    ((uint64_t)1000000000000000000)

enum dialect {
	DIALECT_PROCESS, /* the first frame is the process */
	DIALECT_CODE,	 /* all frames are code */
};

/* A frame that was met; the texts are the file's own bytes. */
struct known_frame {
	uint64_t hash;
	const char *name; /* NULL: a free slot */
	uint32_t len, location;
	bool kernel; /* it is marked as such */
};

/* Where a frame of the line before ends in it, and its stack. */
struct line_frame {
	uint32_t end;
	uint32_t stack;
	bool kernel;
	bool is_code; /* and no process, thread or mark between user's and kernel's code */
};

struct folded {
	struct profile *p;
	enum dialect dialect;
	uint64_t line; /* its number */
	uint64_t divisor, least;
	int64_t total;
	struct known_frame *known;
	size_t nknown, known_room; /* a power of two */
	VEC(struct line_frame) frames;
	VEC(uint32_t) locations; /* of the line's frames that the line before does not have */
	VEC(uint32_t) stacks;	 /* that these lead to */
	const char *before; /* the line before, up to its value */
	size_t before_len;
	uint32_t thread; /* of that */
	struct import_place process; /* that its first frame named, for a second one that names a thread */
};

/* A line without its value. */
struct folded_line {
	const char *text;
	size_t len;
	bool negative;
	uint64_t value;
};

static size_t without_blanks(const char *line, size_t len)
{
	while (len && (line[len - 1] == '\r' || line[len - 1] == ' ' || line[len - 1] == '\t'))
		len--;
	return len;
}

/* "a;b;c 12", also without any frame; false if it is not like that. A number that is too large stays too large. */
static bool split(const char *line, size_t len, struct folded_line *ret)
{
	size_t at = len;

	while (at && line[at - 1] >= '0' && line[at - 1] <= '9')
		at--;
	if (at == len)
		return false;
	ret->value = 0;
	for (size_t i = at; i < len; i++)
		ret->value = MIN(ret->value, VALUE_MAX) * 10 + (uint64_t)(line[i] - '0');
	ret->negative = at && line[at - 1] == '-';
	at -= ret->negative;
	if (!at || (line[at - 1] != ' ' && line[at - 1] != '\t'))
		return false;
	ret->text = line;
	ret->len = without_blanks(line, at);
	return true;
}

/* The next line that says something, without its end; false behind the last one. */
static bool next_line(const char **text, const char *end, uint64_t *number, const char **ret, size_t *ret_len)
{
	while (*text < end) {
		const char *line = *text, *stop = memchr(line, '\n', (size_t)(end - line));
		size_t len = (size_t)((stop ? stop : end) - line);

		*text = stop ? stop + 1 : end;
		++*number;
		if (len && line[len - 1] <= ' ')
			len = without_blanks(line, len);
		if (!len || *line == '#')
			continue;
		*ret = line;
		*ret_len = len;
		return true;
	}
	return false;
}

/* ---- what kind of file it is ---- */

/* Of the lines at a file's beginning. */
struct folded_look {
	unsigned lines, good, stacks; /* all; with a value; with more than one frame */
	unsigned two_values, negative, blanks;
	unsigned code;		      /* whose first frame is no process by its name alone */
};

static bool has_ending(const char *text, size_t len, const char *ending)
{
	size_t n = strlen(ending);

	return len > n && memcmp(text + len - n, ending, n) == 0;
}

/* Could it be no name of a process? */
static bool is_code(const char *frame, size_t len)
{
	static const char *const endings[] = { "_[j]", "_[i]", "_[k]", "_[0]", "_[1]", ")" };
	struct import_place place;

	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		if (has_ending(frame, len, endings[i]))
			return true;
	if (import_place((struct json_text){ frame, len }, &place)) /* a process that is named as such, or a thread alone */
		return place.pid == PROFILE_NONE || place.tid == PROFILE_NONE;
	return memmem(frame, len, "::", 2) != NULL;
}

static void look_at(struct folded_look *look, const char *line, size_t len)
{
	struct folded_line parts, inner;
	const char *semicolon;
	size_t first;

	look->lines++;
	if (!split(line, len, &parts))
		return;
	if (!parts.len) { /* py-spy has a line of samples without a frame; alone it says nothing */
		look->lines--;
		return;
	}
	look->good++;
	look->negative += parts.negative;
	look->two_values += split(parts.text, parts.len, &inner) && inner.len;
	semicolon = memchr(parts.text, ';', parts.len);
	first = semicolon ? (size_t)(semicolon - parts.text) : parts.len;
	look->stacks += semicolon != NULL;
	look->blanks += memchr(parts.text, ' ', first) != NULL;
	look->code += is_code(parts.text, first);
}

static struct folded_look look_at_all(const char *text, size_t len, bool whole)
{
	struct folded_look look = { 0 };
	const char *end = text + len, *line;
	uint64_t number = 0;
	size_t line_len;

	if (!whole) /* the last line is cut */
		end = memrchr(text, '\n', len);
	while (end && look.lines < LINES_SEEN && next_line(&text, end, &number, &line, &line_len))
		look_at(&look, line, line_len);
	return look;
}

static unsigned recognise(const uint8_t *start, size_t len)
{
	const char *text = (const char *)start;
	bool whole = len < IMPORT_START_LEN;
	struct folded_look look;

	if (memchr(text, 0, len))
		return 0;
	if (!whole && !memchr(text, '\n', len)) /* one very long line */
		return memchr(text, ';', len) ? 20 : 0;
	look = look_at_all(text, len, whole);
	if (!look.good || look.good * 2 < look.lines)
		return 0;
	if (look.stacks)
		return look.good == look.lines ? 60 : 30;
	/* Without a single stack it may be a list, or prose that ends in a number. */
	return look.good == look.lines && !look.blanks ? 25 : 0;
}

static struct err *set_dialect(struct folded *in, const struct import_input *input)
{
	size_t len = MIN(input->len, IMPORT_START_LEN);
	struct folded_look look = look_at_all((const char *)input->data, len, len == input->len);

	if (look.good && look.two_values == look.good)
		return err_remedy(err_new(ERR_UNSUPPORTED,
					  "each line has two values, so it holds the difference of two profiles"),
				  "give the two files to 'preport diff'");
	if (look.code * 2 > look.good)
		in->dialect = DIALECT_CODE;
	return NULL;
}

/* ---- frames ---- */

static bool take_ending(struct json_text *name, const char *ending)
{
	if (!has_ending(name->data, name->len, ending))
		return false;
	name->len -= strlen(ending);
	return true;
}

/* " [libc.so.6]" */
static struct json_text take_module(struct json_text *name)
{
	struct json_text module = { "", 0 };
	const char *open;

	if (!name->len || name->data[name->len - 1] != ']')
		return module;
	open = memrchr(name->data, '[', name->len);
	if (open && open > name->data && open[-1] == '[') /* " [[kernel]]": the name is "[kernel]" */
		open--;
	if (!open || open < name->data + 2 || open[-1] != ' ')
		return module;
	module = (struct json_text){ open + 1,
				     name->len - (size_t)(open - name->data) - 2 };
	name->len = (size_t)(open - name->data) - 1;
	return module;
}

/* Is @file a script's, or made of a text ("<string>")? */
static bool is_script(const char *file)
{
	static const char *const endings[] = { ".py", ".pyx", ".rb", ".php", ".pl", ".pm", ".lua", ".js", ".mjs", ".cjs", ".ts" };

	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		if (has_ending(file, strlen(file), endings[i]))
			return true;
	return *file == '<';
}

/* "name (file.py:12)" */
static void take_place(struct json_text *name, struct profile *p, struct import_frame *frame)
{
	if (import_take_source(p, name, &frame->file, &frame->line) && is_script(profile_text(p, frame->file)))
		frame->kind = PROFILE_FRAME_INTERPRETED;
}

static void parse_frame(struct folded *in, struct json_text name, bool kernel, struct import_frame *ret)
{
	struct json_text module = take_module(&name);
	enum profile_module_kind kind = PROFILE_USER;

	ret->kind = kernel ? PROFILE_FRAME_KERNEL : PROFILE_FRAME_NATIVE;
	if (take_ending(&name, "_[k]"))
		ret->kind = PROFILE_FRAME_KERNEL;
	else if (take_ending(&name, "_[j]") || take_ending(&name, "_[1]"))
		ret->kind = PROFILE_FRAME_JIT;
	else if (take_ending(&name, "_[0]"))
		ret->kind = PROFILE_FRAME_INTERPRETED;
	else
		take_ending(&name, "_[i]");
	if (module.len >= 7 && memcmp(module.data, "[kernel", 7) == 0)
		ret->kind = PROFILE_FRAME_KERNEL;
	if (ret->kind == PROFILE_FRAME_KERNEL) {
		kind = PROFILE_KERNEL;
		if (!module.len)
			module = (struct json_text){ "[kernel]", 8 };
	} else if (ret->kind == PROFILE_FRAME_JIT) {
		kind = PROFILE_JIT;
	}
	take_place(&name, in->p, ret);
	ret->module = import_module(in->p, module, kind);
	ret->name = import_text(in->p, name);
}

static uint64_t hash_of(const char *text, size_t len, bool kernel)
{
	uint64_t hash = len * 0x9e3779b97f4a7c15u ^ kernel, word;

	for (; len >= sizeof(word); len -= sizeof(word), text += sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = (hash ^ word) * 0xbf58476d1ce4e5b9u;
		hash ^= hash >> 32;
	}
	word = 0;
	memcpy(&word, text, len);
	hash = (hash ^ word) * 0xbf58476d1ce4e5b9u;
	return hash ^ hash >> 29;
}

static void grow_known(struct folded *in)
{
	struct known_frame *old = in->known;
	size_t room = in->known_room;

	in->known_room = room ? room * 2 : 1024;
	in->known = memory_zeroed(in->known_room, sizeof(*in->known));
	for (size_t i = 0; i < room; i++) {
		size_t at = old[i].hash & (in->known_room - 1);

		if (!old[i].name)
			continue;
		while (in->known[at].name)
			at = (at + 1) & (in->known_room - 1);
		in->known[at] = old[i];
	}
	free(old);
}

/* The location of the frame written as @name, wherever it stands. */
static uint32_t location_of(struct folded *in, struct json_text name, bool kernel)
{
	uint64_t hash = hash_of(name.data, name.len, kernel);
	struct import_frame frame = { 0 };
	size_t at;

	if (in->nknown * 2 >= in->known_room)
		grow_known(in);
	for (at = hash & (in->known_room - 1); in->known[at].name; at = (at + 1) & (in->known_room - 1)) {
		const struct known_frame *known = &in->known[at];

		if (known->hash == hash && known->kernel == kernel && known->len == name.len &&
		    memcmp(known->name, name.data, name.len) == 0)
			return known->location;
	}
	parse_frame(in, name, kernel, &frame);
	in->known[at] = (struct known_frame){ hash, name.data, (uint32_t)name.len, import_frame(in->p, &frame), kernel };
	in->nknown++;
	return in->known[at].location;
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

static size_t same_bytes(const char *a, const char *b, size_t len)
{
	size_t at = 0;

	while (at + 8 <= len && memcmp(a + at, b + at, 8) == 0)
		at += 8;
	while (at < len && a[at] == b[at])
		at++;
	return at;
}

/* Drop the frames of the line before that are not whole in this one too; those left are at the same place. */
static void keep_same(struct folded *in, const struct folded_line *line)
{
	size_t same = same_bytes(in->before, line->text, MIN(in->before_len, line->len));

	/* Whether a first frame is a process depends on there being a second one. */
	if (in->frames.len && (in->frames.len == 1 || !memchr(line->text, ';', line->len)))
		in->frames.len = 0;
	while (in->frames.len) {
		size_t end = in->frames.items[in->frames.len - 1].end;

		if (end < same || (end == same && (end == line->len || line->text[end] == ';')))
			break;
		in->frames.len--;
	}
}

/* May the frame that comes next name a thread of the process that the first one named? */
static bool is_behind_process(const struct folded *in)
{
	return in->frames.len == 1 && in->process.pid != PROFILE_NONE && in->process.tid == PROFILE_NONE;
}

/* Does the first frame, or the second behind a process, say where the stack ran? Where it is the only one, it is what ran. */
static bool is_place(const struct folded *in, size_t at, bool only, struct json_text frame, struct import_place *ret)
{
	bool known;

	if (at && !is_behind_process(in))
		return false;
	known = import_place(frame, ret);
	if (known && !(ret->pid != PROFILE_NONE && ret->tid != PROFILE_NONE))
		return true;
	return !at && in->dialect == DIALECT_PROCESS && !only;
}

/* The frame @text is a place, of which @place is what more than a name it says. */
static void set_thread(struct folded *in, struct json_text text, struct import_place place)
{
	uint32_t process;

	if (place.pid == PROFILE_NONE && place.tid == PROFILE_NONE)
		place.name = text;
	if (place.process.len || place.tid != PROFILE_NONE)
		process = import_text(in->p, place.process);
	else
		process = import_text(in->p, place.name);
	in->thread = import_thread(in->p, place.pid, place.tid, process, import_text(in->p, place.name));
}

/* The frame at @at, @text, as far as it is no code. False: it is code. */
static bool take_thread(struct folded *in, size_t at, bool only, struct json_text text)
{
	struct import_place place = { .pid = PROFILE_NONE, .tid = PROFILE_NONE };
	bool is = text.len && is_place(in, at, only, text, &place);

	if (!at) {
		in->process = place;
		set_thread(in, is ? text : (struct json_text){ "", 0 }, place);
	} else if (is_behind_process(in)) {
		place.pid = in->process.pid;
		place.process = in->process.process;
		set_thread(in, text, place);
	}
	return is;
}

/* Add the frame of @len bytes at @at; its stack is not known yet. @kernel: frames are the kernel's from there on. */
static void next_frame(struct folded *in, const struct folded_line *line, size_t at, size_t len, bool *kernel)
{
	struct json_text name = { line->text + at, len };
	bool place = take_thread(in, at, len == line->len, name);
	struct line_frame frame = { .end = (uint32_t)(at + len) };

	if (len == 1 && *name.data == '-')
		*kernel = true; /* bcc: the kernel's frames follow */
	else
		frame.is_code = len && !place;
	if (frame.is_code)
		vec_push(&in->locations, location_of(in, name, *kernel));
	frame.kernel = *kernel;
	vec_push(&in->frames, frame);
}

/* The stacks of the frames from @first on. */
static void add_stacks(struct folded *in, size_t first, uint32_t stack)
{
	size_t at = 0;

	in->stacks.len = 0;
	vec_reserve(&in->stacks, in->locations.len);
	profile_add_calls(in->p, stack, in->locations.items, in->locations.len, in->stacks.items);
	for (size_t i = first; i < in->frames.len; i++) {
		if (in->frames.items[i].is_code)
			stack = in->stacks.items[at++];
		in->frames.items[i].stack = stack;
	}
	in->locations.len = 0;
}

static void add_frames(struct folded *in, const struct folded_line *line)
{
	struct line_frame before = { 0 };
	size_t at = 0, kept;

	keep_same(in, line);
	kept = in->frames.len;
	if (kept) {
		before = in->frames.items[kept - 1];
		at = before.end + 1;
	}
	while (at <= line->len) {
		const char *name = line->text + at;
		const char *stop = at < line->len ? memchr(name, ';', line->len - at) : NULL;
		size_t len = stop ? (size_t)(stop - name) : line->len - at;

		next_frame(in, line, at, len, &before.kernel);
		at += len + 1;
	}
	add_stacks(in, kept, before.stack);
	in->before = line->text;
	in->before_len = line->len;
}

static struct err *add_line(struct folded *in, const char *text, size_t len)
{
	struct folded_line line;
	struct profile_sample sample = { .cpu = PROFILE_NONE, .user = true, .count = 1 };

	if (!split(text, len, &line))
		return err_new(ERR_CORRUPT, "line %" PRIu64 " does not end in a blank and a number", in->line);
	if (line.negative)
		return err_remedy(err_new(ERR_UNSUPPORTED,
					  "line %" PRIu64 " has a negative count, so it holds the difference of two profiles",
					  in->line),
				  "give the two files to 'preport diff'");
	if (line.value > INT64_MAX || __builtin_add_overflow(in->total, (int64_t)line.value, &in->total))
		return err_new(ERR_CORRUPT, "line %" PRIu64 ": the values add up to too much", in->line);
	if (len >= UINT32_MAX)
		return err_new(ERR_UNSUPPORTED, "line %" PRIu64 " is longer than 4 GiB", in->line);
	if (!line.value)
		return NULL;
	in->divisor = greatest_divisor(in->divisor, line.value);
	in->least = MIN(in->least, line.value);
	add_frames(in, &line);
	sample.stack = in->frames.items[in->frames.len - 1].stack;
	sample.thread = in->thread;
	sample.weight = (int64_t)line.value;
	profile_add_sample(in->p, &sample);
	return NULL;
}

/* What the values are, now that all are known. */
static void set_counts(struct folded *in)
{
	uint64_t one = in->least < WEIGHT_LEAST ? 1 : in->divisor;
	bool known = in->least < WEIGHT_LEAST || (one >= PERIOD_LEAST && one == in->least);

	if (!known)
		in->p->types.items[0] = (struct profile_value_type){ .name = profile_string(in->p, "value") };
	for (size_t i = 0; i < in->p->samples.len; i++) {
		struct profile_sample *sample = &in->p->samples.items[i];

		sample->count = known ? (uint64_t)sample->weight / one : 1;
		sample->weight_sq = known ? (double)sample->weight * (double)one : PROFILE_UNCOUNTED;
	}
}

static struct err *read_folded(const struct import_input *input, struct profile *p,
			       struct profile_facts *facts, struct diag *diag)
{
	struct folded in = { .p = p, .least = UINT64_MAX, .before = "" };
	const char *text = (const char *)input->data, *end = text + input->len, *line;
	struct err *err = set_dialect(&in, input);
	size_t len;

	(void)facts;
	(void)diag;
	import_type(p, "samples", "events");
	while (!err && next_line(&text, end, &in.line, &line, &len))
		err = add_line(&in, line, len);
	set_counts(&in);
	free(in.known);
	vec_deinit(&in.frames);
	vec_deinit(&in.locations);
	vec_deinit(&in.stacks);
	return err;
}

const struct importer import_folded = {
	.name = "folded",
	.what = "collapsed stacks: preport, stackcollapse, inferno, bcc, async-profiler, py-spy",
	.extensions = ".folded .collapsed .txt .stacks",
	.carries = IMPORT_LINES | IMPORT_THREADS, /* those of py-spy and async-profiler */
	.recognise = recognise,
	.read = read_folded,
};

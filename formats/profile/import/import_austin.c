/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_austin.c - the text that Austin writes, version 3 and newer, and 1 and 2.
 *
 *	# mode: wall                                            (also cpu, memory, full; not in old versions)
 *	P42;T0:7;/app/main.py:main:10;/app/main.py:work:3 200   process, interpreter and thread, file:function:line, value
 *	P42;T7;main.py:main:10 … time,idle,bytes                full mode
 *	Thread 7f12;main (main.py);L10;work (main.py);L3 200    version 1
 *
 * Values are microseconds, or bytes with mode memory, which may be negative. In full mode the three values are three types, and
 * the time of samples that were idle is "wall" alone. There are no times of samples.
 */
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/import_text.h"

#include <inttypes.h>
#include <stdlib.h>

struct austin {
	struct profile *p;
	uint64_t line;
	bool memory;
	uint32_t types[3]; /* wall, cpu, memory; PROFILE_NONE until one is there */
};

/* "P42;" or "Thread 7f12;" */
static bool is_sample(struct json_text line)
{
	struct json_text first = import_take(&line, ';');
	uint64_t number;

	if (import_starts(first, "Thread "))
		return line.len && memmem(line.data, line.len, ");L", 3);
	if (!import_starts(first, "P") || !line.len || *line.data != 'T')
		return false;
	first.data++;
	first.len--;
	return import_number(first, &number);
}

/* "file:function:line", ":GC:" */
static bool is_frame(struct json_text text)
{
	const char *line = memrchr(text.data, ':', text.len);
	uint64_t number;

	return text.len && (*text.data == ':' || (line && memchr(text.data, ':', (size_t)(line - text.data)) &&
						 import_number((struct json_text){ line + 1, text.len - (size_t)(line + 1 - text.data) },
							       &number)));
}

/*
 * What processes and threads are called, programs choose: a collapsed stack may begin as a sample does, so the frames have to be Austin's,
 * too. *@ret_frames rises by how many there are.
 */
static bool is_sample_for_sure(struct json_text line, size_t *ret_frames)
{
	const char *blank = memrchr(line.data, ' ', line.len);

	if (!blank || !is_sample(line))
		return false;
	if (import_starts(line, "Thread ")) {
		++*ret_frames;
		return true;
	}
	line.len = (size_t)(blank - line.data);
	import_take(&line, ';');
	import_take(&line, ';');
	for (; line.len; ++*ret_frames)
		if (!is_frame(import_take(&line, ';')))
			return false;
	return true;
}

#define LINES_TRIED 100

static unsigned recognise(const uint8_t *start, size_t len)
{
	struct import_lines lines;
	struct json_text line;
	size_t frames = 0;

	import_lines_init(&lines, start, len);
	while (import_lines_next(&lines, &line) && lines.number < LINES_TRIED) {
		bool last = lines.pos >= lines.end; /* it may be cut */

		if (import_starts(line, "# austin:") || import_starts(line, "# mode:"))
			return 95;
		if (line.len && *line.data != '#' && !is_sample_for_sure(line, &frames) && !(last && frames))
			return 0;
	}
	return frames ? 85 : 0;
}

/* "file:function:line"; the file may have colons of its own. */
static void parse_frame(struct austin *in, struct json_text text, struct import_frame *ret)
{
	const char *line = memrchr(text.data, ':', text.len), *name;
	struct json_text number;
	uint64_t value = 0;

	ret->kind = PROFILE_FRAME_INTERPRETED;
	if (!line) {
		ret->kind = text.len > 1 && *text.data == ':' ? PROFILE_FRAME_RUNTIME : ret->kind;
		ret->name = import_text(in->p, text);
		return;
	}
	number = (struct json_text){ line + 1, text.len - (size_t)(line + 1 - text.data) };
	name = memrchr(text.data, ':', (size_t)(line - text.data));
	if (!import_number(number, &value) || !name) { /* ":GC:", ":INVALID:" */
		ret->kind = PROFILE_FRAME_RUNTIME;
		ret->name = import_text(in->p, text);
		return;
	}
	ret->line = (uint32_t)MIN(value, (uint64_t)UINT32_MAX - 1);
	ret->name = strtab_add_len(&in->p->strings, name + 1, (size_t)(line - name - 1));
	ret->file = strtab_add_len(&in->p->strings, text.data, (size_t)(name - text.data));
}

/* "function (file)", with "L12" behind the next semicolon. */
static void parse_old_frame(struct austin *in, struct json_text text, struct json_text *rest,
			    struct import_frame *ret)
{
	const char *open = memrchr(text.data, '(', text.len);
	struct json_text line = *rest;
	uint64_t value;

	ret->kind = PROFILE_FRAME_INTERPRETED;
	if (!open || open == text.data || text.data[text.len - 1] != ')') {
		ret->name = import_text(in->p, text);
		return;
	}
	ret->file = strtab_add_len(&in->p->strings, open + 1, text.len - (size_t)(open + 1 - text.data) - 1);
	ret->name = strtab_add_len(&in->p->strings, text.data, (size_t)(open - text.data) - (open[-1] == ' '));
	line = import_take(rest, ';');
	if (import_starts(line, "L")) {
		line.data++;
		line.len--;
		if (import_number(line, &value))
			ret->line = (uint32_t)MIN(value, (uint64_t)UINT32_MAX - 1);
	}
}

static uint32_t stack_of(struct austin *in, struct json_text frames, bool old)
{
	uint32_t stack = 0;

	while (frames.len) {
		struct import_frame frame = { .module = PROFILE_NONE };
		struct json_text text = import_take(&frames, ';');

		if (!text.len)
			continue;
		if (old)
			parse_old_frame(in, text, &frames, &frame);
		else
			parse_frame(in, text, &frame);
		stack = import_stack(in->p, stack, import_frame(in->p, &frame));
	}
	return stack;
}

static uint32_t thread_of(struct austin *in, struct json_text *line, bool *ret_old)
{
	struct json_text first = import_take(line, ';'), thread = first;
	uint64_t pid = PROFILE_NONE;

	*ret_old = !import_starts(first, "P");
	if (!*ret_old) {
		first.data++;
		first.len--;
		if (!import_number(first, &pid) || pid > UINT32_MAX)
			pid = PROFILE_NONE;
		thread = import_take(line, ';');
	}
	return import_thread(in->p, (uint32_t)pid, PROFILE_NONE, 0, import_text(in->p, thread));
}

static bool signed_number(struct json_text text, int64_t *ret)
{
	bool negative = text.len && *text.data == '-';
	uint64_t value;

	text.data += negative;
	text.len -= negative;
	if (!import_number(text, &value) || value > (uint64_t)INT64_MAX / 2000)
		return false;
	*ret = negative ? -(int64_t)value : (int64_t)value;
	return true;
}

static void add(struct austin *in, unsigned which, int64_t value, struct import_sample sample)
{
	static const char *const names[] = { "wall", "cpu", "memory" }, *const units[] = { "ns", "ns", "bytes" };

	if (!value)
		return;
	if (in->types[which] == PROFILE_NONE)
		in->types[which] = import_type(in->p, names[which], units[which]);
	sample.type = in->types[which];
	sample.weight = which == 2 ? value : value * 1000;
	import_sample(in->p, &sample);
}

/* "200", or in full mode "time,idle,bytes". */
static bool add_values(struct austin *in, struct json_text text, const struct import_sample *sample)
{
	struct json_text first = import_take(&text, ','), idle = import_take(&text, ',');
	int64_t value, bytes, is_idle;

	if (!signed_number(first, &value))
		return false;
	if (!idle.len && !text.len) {
		add(in, in->memory ? 2 : 0, value, *sample);
		return true;
	}
	if (!signed_number(idle, &is_idle) || !signed_number(text, &bytes))
		return false;
	add(in, 0, value, *sample);
	add(in, 1, is_idle ? 0 : value, *sample);
	add(in, 2, bytes, *sample);
	return true;
}

static struct err *add_line(struct austin *in, struct json_text line)
{
	const char *blank = memrchr(line.data, ' ', line.len);
	struct import_sample sample = { .count = 1 };
	struct json_text values, frames = line;
	bool old;

	if (!blank || !is_sample(line))
		return err_new(ERR_CORRUPT, "line %" PRIu64 " is not an Austin sample", in->line);
	values = (struct json_text){ blank + 1, line.len - (size_t)(blank + 1 - line.data) };
	frames.len = (size_t)(blank - line.data);
	sample.thread = thread_of(in, &frames, &old);
	sample.stack = stack_of(in, import_trim(frames), old);
	if (!add_values(in, values, &sample))
		return err_new(ERR_CORRUPT, "line %" PRIu64 " does not end in a value", in->line);
	return NULL;
}

static struct err *read_austin(const struct import_input *input, struct profile *p,
			       struct profile_facts *facts, struct diag *diag)
{
	struct austin in = { .p = p, .types = { PROFILE_NONE, PROFILE_NONE, PROFILE_NONE } };
	struct import_lines lines;
	struct json_text line;
	struct err *err = NULL;

	(void)facts;
	(void)diag;
	import_lines_init(&lines, input->data, input->len);
	while (!err && import_lines_next(&lines, &line)) {
		in.line = lines.number;
		if (import_starts(line, "# mode: memory"))
			in.memory = true;
		if (line.len && *line.data != '#')
			err = add_line(&in, line);
	}
	return err;
}

const struct importer import_austin = {
	.name = "austin",
	.what = "text of Austin, the Python sampler",
	.extensions = ".austin",
	.carries = IMPORT_THREADS | IMPORT_LINES | IMPORT_TYPES,
	.recognise = recognise,
	.read = read_austin,
};

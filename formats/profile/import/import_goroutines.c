/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_goroutines.c - the stacks of all goroutines as Go prints them: /debug/pprof/goroutine?debug=2, a panic, SIGQUIT.
 *
 *	goroutine 19 [chan receive, 3 minutes]:
 *	main.worker(0xc000012345)		leaf first
 *		/src/main.go:3 +0x25
 *	created by main.main in goroutine 1	no caller: a label
 *		/src/main.go:6 +0x6b
 *						an empty line ends it
 *
 * Each goroutine is one sample. Other lines, of a log or of registers, are left out.
 */
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/import_text.h"

#include <inttypes.h>

#define LABELS_MAX 3

struct goroutines {
	struct profile *p;
	VEC(uint32_t) path; /* locations, leaf first */
	bool open;	    /* within a goroutine */
	bool created;	    /* the next line is the place where it was created */
	uint32_t function;  /* string: whose place comes next; 0: none */
	struct profile_label labels[LABELS_MAX];
	uint32_t nlabels;
	uint32_t type, thread;
	uint64_t left_out; /* lines */
};

/* "goroutine 19 [chan receive, 3 minutes]:", also with "gp=0x1 m=0" in front of the bracket; the state, without brackets. */
static bool is_head(struct json_text line, struct json_text *ret_state)
{
	static const char word[] = "goroutine ";
	struct json_text rest = line;
	uint64_t number;
	const char *close;

	if (!import_starts(line, word) || line.data[line.len - 1] != ':')
		return false;
	rest.data += sizeof(word) - 1;
	rest.len -= sizeof(word) - 1;
	if (!import_number(import_take(&rest, ' '), &number))
		return false;
	import_take(&rest, '[');
	close = rest.len ? memchr(rest.data, ']', rest.len) : NULL;
	if (!close)
		return false;
	*ret_state = (struct json_text){ rest.data, (size_t)(close - rest.data) };
	return true;
}

/* "main.f(0x1, ...)": the name */
static bool is_call(struct json_text line, struct json_text *ret_name)
{
	const char *open = line.len && line.data[line.len - 1] == ')' ? memrchr(line.data, '(', line.len) : NULL;

	if (!open || open == line.data || *line.data == '\t')
		return false;
	*ret_name = (struct json_text){ line.data, (size_t)(open - line.data) };
	return true;
}

/* "\t/src/main.go:3 +0x25" */
static bool is_place(struct json_text line, struct json_text *ret_file, uint32_t *ret_line)
{
	const char *colon;
	struct json_text number;
	uint64_t value;

	if (!line.len || *line.data != '\t')
		return false;
	line = import_trim(line);
	colon = line.len ? memrchr(line.data, ':', line.len) : NULL;
	if (!colon)
		return false;
	*ret_file = (struct json_text){ line.data, (size_t)(colon - line.data) };
	number = (struct json_text){ colon + 1, line.len - ret_file->len - 1 };
	if (!import_number(import_take(&number, ' '), &value))
		return false;
	*ret_line = (uint32_t)MIN(value, (uint64_t)UINT32_MAX - 1);
	return true;
}

static unsigned recognise(const uint8_t *start, size_t len)
{
	struct import_lines lines;
	struct json_text line, part;
	bool head = false;

	import_lines_init(&lines, start, len);
	while (import_lines_next(&lines, &line)) {
		if (head && is_call(line, &part))
			return 88;
		head = line.len && is_head(line, &part);
	}
	return 0;
}

static void add_label(struct goroutines *in, const char *key, uint32_t text)
{
	if (in->nlabels < LABELS_MAX && text)
		in->labels[in->nlabels++] = (struct profile_label){ .key = profile_string(in->p, key), .text = text };
}

/* "chan receive, 3 minutes, locked to thread" */
static void take_state(struct goroutines *in, struct json_text state)
{
	uint64_t minutes;

	add_label(in, "state", import_text(in->p, import_take(&state, ',')));
	while ((state = import_trim(state)).len) {
		struct json_text part = import_take(&state, ','), number = import_take(&part, ' ');

		if (import_starts(part, "minutes") && import_number(number, &minutes) && in->nlabels < LABELS_MAX)
			in->labels[in->nlabels++] = (struct profile_label){
				.key = profile_string(in->p, "waited"), .unit = profile_string(in->p, "minutes"), .is_number = true,
				.number = (int64_t)MIN(minutes, (uint64_t)INT64_MAX) };
	}
}

static void add_frame(struct goroutines *in, struct json_text file, uint32_t line)
{
	struct import_frame frame = { .name = in->function, .file = import_text(in->p, file), .line = line, .module = PROFILE_NONE };

	vec_push(&in->path, import_frame(in->p, &frame));
	in->function = 0;
}

static void finish_goroutine(struct goroutines *in)
{
	struct import_sample sample = { .type = in->type, .thread = in->thread, .count = 1, .weight = 1 };

	if (in->function)
		add_frame(in, (struct json_text){ .data = NULL }, 0);
	if (in->open) {
		while (in->path.len)
			sample.stack = import_stack(in->p, sample.stack, in->path.items[--in->path.len]);
		sample.labels = in->nlabels ? profile_add_labels(in->p, in->labels, in->nlabels) : 0;
		import_sample(in->p, &sample);
	}
	in->open = in->created = false;
	in->nlabels = 0;
}

/* "created by main.main in goroutine 1" */
static void take_creator(struct goroutines *in, struct json_text line)
{
	static const char by[] = "created by ", from[] = " in goroutine ";
	const char *end;

	line.data += sizeof(by) - 1;
	line.len -= sizeof(by) - 1;
	end = memmem(line.data, line.len, from, sizeof(from) - 1);
	if (end)
		line.len = (size_t)(end - line.data);
	add_label(in, "created_by", import_text(in->p, line));
	in->created = true;
}

static void take_line(struct goroutines *in, struct json_text line)
{
	struct json_text part;
	uint32_t number;

	if (is_place(line, &part, &number)) {
		if (in->function)
			add_frame(in, part, number);
		return;
	}
	if (in->function)
		add_frame(in, (struct json_text){ .data = NULL }, 0);
	if (import_starts(line, "created by ")) {
		take_creator(in, line);
	} else if (is_call(line, &part) && !in->created) {
		in->function = import_text(in->p, part);
	} else if (import_starts(line, "...") && !in->created) { /* "...23 frames elided..." */
		struct import_frame elided = { .name = import_text(in->p, line), .module = PROFILE_NONE, .kind = PROFILE_FRAME_MARKER };

		vec_push(&in->path, import_frame(in->p, &elided));
	} else {
		in->left_out++;
	}
}

static struct err *read_goroutines(const struct import_input *input, struct profile *p, struct profile_facts *facts,
				   struct diag *diag)
{
	struct goroutines in = { .p = p, .type = import_type(p, "goroutine", "events"),
				 .thread = import_thread(p, PROFILE_NONE, PROFILE_NONE, 0, 0) };
	struct import_lines lines;
	struct json_text line, state;

	(void)facts;
	import_lines_init(&lines, input->data, input->len);
	while (import_lines_next(&lines, &line)) {
		if (!line.len) {
			finish_goroutine(&in);
		} else if (is_head(line, &state)) {
			finish_goroutine(&in);
			in.open = true;
			take_state(&in, state);
		} else if (in.open) {
			take_line(&in, line);
		} else {
			in.left_out++;
		}
	}
	finish_goroutine(&in);
	if (in.left_out)
		diag_warn(diag, "%" PRIu64 " lines that are not of a goroutine are left out", in.left_out);
	vec_deinit(&in.path);
	return NULL;
}

const struct importer import_goroutines = {
	.name = "goroutines",
	.what = "stacks of Go's goroutines as text: goroutine?debug=2, a panic, SIGQUIT",
	.extensions = ".txt .log",
	.carries = IMPORT_LINES | IMPORT_LABELS,
	.recognise = recognise,
	.read = read_goroutines,
};

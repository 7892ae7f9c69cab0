/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_pyinstrument.c - Python's pyinstrument: its session ('-r pyisession', .pyisession) and its report as JSON ('-r json').
 *
 *	"frame_records": [[["MainThread\0<thread>\0140523", "main\0w.py\012\1l14"], 0.0012], …]
 *		a sample: the calls, root first, and how many seconds passed since the one before. A call is its function, file and the
 *		line that the function begins at, then marked with \1 what else is known: l is the line that ran, c the class.
 *
 *	"root_frame": {"function": "main", "file_path": "w.py", "line_no": 12, "time": 0.68, "children": […]}
 *		a tree of sums; "time" is with callees. pyinstrument has left out and joined some calls here. How many samples are behind a
 *		time is not known.
 */
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_json.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/import_text.h"

#include <inttypes.h>

#define DEEPEST 5000 /* children of children */

struct node {
	struct import_frame frame;
	uint32_t class;	 /* string */
	uint32_t parent; /* or PROFILE_NONE */
	uint32_t stack;
	int64_t whole_ns, own_ns;
};

struct pyinstrument {
	struct profile *p;
	uint32_t type, thread;
	double now_s;	      /* of samples, since it began */
	struct writer joined; /* "class.function" */
	uint64_t negative;
	VEC(struct node) nodes; /* of a report */
};

static unsigned recognise(const uint8_t *start, size_t len)
{
	if (!import_json_begins(start, len, '{') || !import_has_text(start, len, "\"sample_count\"") ||
	    !import_has_text(start, len, "\"cpu_time\""))
		return 0;
	return import_has_text(start, len, "\"frame_records\"") || import_has_text(start, len, "\"root_frame\"") ? 92 : 0;
}

/* ---- a session ---- */

/* "Foo.run" */
static uint32_t name_in_class(struct pyinstrument *in, const char *class, size_t class_len, struct json_text name)
{
	writer_reset(&in->joined);
	writer_bytes(&in->joined, class, class_len);
	writer_u8(&in->joined, '.');
	writer_bytes(&in->joined, name.data, name.len);
	return strtab_add_len(&in->p->strings, (const char *)in->joined.data, in->joined.len);
}

/* "\1l14\1cFoo": what is known of a call besides its function. */
static void take_marks(struct pyinstrument *in, struct json_text marks, struct json_text name, struct import_frame *frame)
{
	while (marks.len) {
		struct json_text mark = import_take(&marks, '\1');
		uint64_t line;

		if (!mark.len)
			continue;
		char kind = *mark.data;

		mark.data++;
		mark.len--;
		if (kind == 'l' && import_number(mark, &line))
			frame->line = (uint32_t)MIN(line, (uint64_t)UINT32_MAX - 1);
		if (kind == 'c' && mark.len)
			frame->name = name_in_class(in, mark.data, mark.len, name);
	}
}

/* Take what stands in front of the next NUL off @text; json_reader.h shows that as U+FFFD. */
static struct json_text take_part(struct json_text *text)
{
	static const char nul[] = "\xef\xbf\xbd";
	const char *at = memmem(text->data, text->len, nul, 3);
	struct json_text taken = { text->data, at ? (size_t)(at - text->data) : text->len };
	size_t used = taken.len + (at ? 3 : 0);

	text->data += used;
	text->len -= used;
	return taken;
}

/* The location of a call, or PROFILE_NONE: it is a thread, which becomes that of the sample. */
static uint32_t take_call(struct pyinstrument *in, struct json_text text, struct import_sample *sample)
{
	struct import_frame frame = { .module = PROFILE_NONE, .kind = PROFILE_FRAME_INTERPRETED };
	struct json_text name = take_part(&text), file = take_part(&text), number = import_take(&text, '\1');
	uint64_t declared = 0;

	if (json_is(file, "<thread>")) {
		sample->thread = import_thread(in->p, PROFILE_NONE, PROFILE_NONE, 0, import_text(in->p, name));
		return PROFILE_NONE;
	}
	import_number(number, &declared);
	frame.name = import_text(in->p, name);
	frame.declared = (uint32_t)MIN(declared, (uint64_t)UINT32_MAX - 1);
	if (json_is(file, "<built-in>"))
		frame.kind = PROFILE_FRAME_NATIVE;
	else
		frame.file = import_text(in->p, file);
	take_marks(in, text, name, &frame);
	return import_frame(in->p, &frame);
}

/* One sample: the array of calls and the seconds. */
static void take_record(struct pyinstrument *in, struct json_reader *r)
{
	struct import_sample sample = { .type = in->type, .thread = in->thread, .count = 1, .has_time = true };
	double seconds;

	if (!json_read_array(r) || !json_read_more(r))
		return;
	if (json_read_array(r))
		while (json_read_more(r)) {
			uint32_t location = take_call(in, json_read_text(r), &sample);

			if (location != PROFILE_NONE)
				sample.stack = import_stack(in->p, sample.stack, location);
		}
	if (!json_read_more(r))
		return json_read_fail(r, "the seconds of a sample");
	seconds = json_read_double(r);
	while (json_read_more(r))
		json_read_skip(r);
	if (r->failed)
		return;
	in->negative += seconds < 0;
	in->now_s += seconds > 0 ? seconds : 0;
	sample.weight = (int64_t)import_time_ns(seconds, 1e9);
	sample.time_ns = import_time_ns(in->now_s, 1e9);
	import_sample(in->p, &sample);
}

static void take_records(struct pyinstrument *in, struct json_reader *r)
{
	if (!json_read_array(r))
		return;
	while (json_read_more(r))
		take_record(in, r);
}

/* ---- a report ---- */

static void take_children(struct pyinstrument *in, struct json_reader *r, uint32_t parent, unsigned depth);

static void take_field(struct pyinstrument *in, struct json_reader *r, struct json_text key, struct node *node)
{
	struct json_text file;

	if (json_is(key, "function")) {
		node->frame.name = import_text(in->p, json_read_text(r));
	} else if (json_is(key, "class_name")) {
		node->class = import_text(in->p, json_read_text(r));
	} else if (json_is(key, "line_no")) {
		node->frame.declared = json_read_small(r);
	} else if (json_is(key, "time")) {
		node->whole_ns = (int64_t)import_time_ns(json_read_double(r), 1e9);
	} else if (json_is(key, "file_path")) {
		file = json_read_text(r);
		if (json_is(file, "<built-in>"))
			node->frame.kind = PROFILE_FRAME_NATIVE;
		else
			node->frame.file = import_text(in->p, file);
	} else {
		json_read_skip(r);
	}
}

static void take_node(struct pyinstrument *in, struct json_reader *r, uint32_t parent, unsigned depth)
{
	struct node node = { .parent = parent, .frame = { .module = PROFILE_NONE, .kind = PROFILE_FRAME_INTERPRETED } };
	uint32_t number = (uint32_t)in->nodes.len;
	struct json_text key;

	if (depth > DEEPEST)
		return json_read_fail(r, "a tree of at most 5,000 levels");
	if (!json_read_object(r))
		return;
	vec_push(&in->nodes, node);
	while (json_read_key(r, &key)) {
		if (json_is(key, "children"))
			take_children(in, r, number, depth);
		else
			take_field(in, r, key, &node);
	}
	in->nodes.items[number] = node;
}

static void take_children(struct pyinstrument *in, struct json_reader *r, uint32_t parent, unsigned depth)
{
	if (!json_read_array(r))
		return;
	while (json_read_more(r))
		take_node(in, r, parent, depth + 1);
}

/* The time of what "[self]" stands for is the caller's own. */
static uint32_t stack_of(struct pyinstrument *in, struct node *node, uint32_t above)
{
	const char *name = profile_text(in->p, node->frame.name), *class = profile_text(in->p, node->class);

	if (strcmp(name, "[self]") == 0)
		return above;
	if (node->class)
		node->frame.name = name_in_class(in, class, strlen(class), (struct json_text){ name, strlen(name) });
	return import_stack(in->p, above, import_frame(in->p, &node->frame));
}

/* Of damaged files the sums may be of any size. */
static void add_time(int64_t *to, int64_t ns)
{
	*to = (int64_t)((uint64_t)*to + (uint64_t)ns);
}

/* Callers stand in front of what they call. Times are rounded to a millionth: the parts may be that much more than their sum. */
static void add_nodes(struct pyinstrument *in)
{
	struct import_sample sample = { .type = in->type, .thread = in->thread, .count = 1, .uncounted = true };

	for (size_t i = 0; i < in->nodes.len; i++) {
		struct node *node = &in->nodes.items[i], *parent = node->parent == PROFILE_NONE ? NULL : &in->nodes.items[node->parent];

		add_time(&node->own_ns, node->whole_ns);
		node->stack = stack_of(in, node, parent ? parent->stack : 0);
		if (parent)
			add_time(&parent->own_ns, -node->whole_ns);
	}
	for (size_t i = 0; i < in->nodes.len; i++) {
		sample.stack = in->nodes.items[i].stack;
		sample.weight = in->nodes.items[i].own_ns;
		if (sample.weight > 0)
			import_sample(in->p, &sample);
	}
}

/* ---- both ---- */

static struct err *read_file(struct pyinstrument *in, const struct import_input *input, struct profile_facts *facts)
{
	struct json_reader r;
	struct json_text key;
	struct err *err;

	json_reader_init(&r, input->data, input->len);
	json_read_object(&r);
	while (json_read_key(&r, &key)) {
		if (json_is(key, "frame_records")) {
			take_records(in, &r);
		} else if (json_is(key, "root_frame")) {
			take_node(in, &r, PROFILE_NONE, 0);
		} else if (json_is(key, "start_time")) {
			facts->wall_ns = import_time_ns(json_read_double(&r), 1e9);
			facts->has_wall = facts->wall_ns > 0;
		} else if (json_is(key, "duration")) {
			facts->duration_ns = import_time_ns(json_read_double(&r), 1e9);
			facts->has_duration = true;
		} else {
			json_read_skip(&r);
		}
	}
	err = json_read_check(&r);
	json_reader_deinit(&r);
	return err;
}

static struct err *read_pyinstrument(const struct import_input *input, struct profile *p, struct profile_facts *facts,
				     struct diag *diag)
{
	struct pyinstrument in = { .p = p };
	struct err *err;

	in.type = import_type(p, "wall", "ns");
	in.thread = import_thread(p, PROFILE_NONE, PROFILE_NONE, 0, 0);
	err = read_file(&in, input, facts);
	if (!err)
		add_nodes(&in);
	if (!err && in.negative)
		diag_warn(diag, "%" PRIu64 " samples have a negative time, which is left out", in.negative);
	vec_deinit(&in.nodes);
	writer_deinit(&in.joined);
	return err;
}

const struct importer import_pyinstrument = {
	.name = "pyinstrument",
	.what = "session (-r pyisession) or JSON (-r json) of pyinstrument, the Python sampler",
	.extensions = ".pyisession .json",
	.carries = IMPORT_TIMES | IMPORT_THREADS | IMPORT_LINES,
	.recognise = recognise,
	.read = read_pyinstrument,
};

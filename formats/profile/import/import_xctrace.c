/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_xctrace.c - tables of samples of Apple's Instruments: xctrace export --xpath '//table[@schema="time-profile"]'.
 *
 *	<row><sample-time id="1">57246708</sample-time>		ns
 *	     <thread id="2" fmt="main  0x8480c1 (app, pid: 7)"><tid>8683713</tid><process id="4" fmt="app (7)"><pid>7</pid></process></thread>
 *	     <process ref="4"/><core id="7">3</core><weight id="9">1000000</weight>
 *	     <backtrace id="10"><frame id="11" name="f" addr="0x18d3"><binary name="app" path="/app"/><source line="7"><path>f.c</path></source></frame>
 *	     ...</backtrace></row>				leaf first
 *
 * What has an id stands again as ref. So an element has a value when it ends, which goes to the one around it and stays for refs. Each row is a sample.
 */
#include "formats/base/memory.h"
#include "formats/base/writer.h"
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_ids.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/import_text.h"

#include <inttypes.h>

#define DEPTH_MAX    64
#define FRAMES_MAX   65536
#define START_LOOKED 4096 /* bytes in which a table's first tag stands */

enum kind {
	KIND_OTHER,
	KIND_ROW,
	KIND_TIME,
	KIND_THREAD,
	KIND_TID,
	KIND_PROCESS,
	KIND_PID,
	KIND_CORE,
	KIND_WEIGHT,
	KIND_CYCLES,
	KIND_BACKTRACE,
	KIND_FRAME,
	KIND_BINARY,
	KIND_SOURCE,
	KIND_PATH,
};

static const struct {
	const char *name;
	enum kind kind;
} elements[] = {
	{ "row", KIND_ROW },		 { "sample-time", KIND_TIME },
	{ "event-time", KIND_TIME },	 { "start-time", KIND_TIME },
	{ "thread", KIND_THREAD },	 { "tid", KIND_TID },
	{ "process", KIND_PROCESS },	 { "pid", KIND_PID },
	{ "core", KIND_CORE },		 { "weight", KIND_WEIGHT },
	{ "cycle-weight", KIND_CYCLES }, { "backtrace", KIND_BACKTRACE },
	{ "tagged-backtrace", KIND_BACKTRACE }, { "frame", KIND_FRAME },
	{ "binary", KIND_BINARY },	 { "source", KIND_SOURCE },
	{ "path", KIND_PATH },
};

/* What an element was when it ended: a number of the file or of the profile. */
struct value {
	enum kind kind;
	uint64_t number;
};

struct process {
	uint32_t pid, name;
};

struct source {
	uint32_t file, line;
};

/* One that is open. */
struct element {
	struct json_text tag;
	enum kind kind;
	bool has_id;
	uint64_t id;
	uint64_t number;		      /* of a backtrace: what a tagged one holds */
	uint32_t name, tid, module, file, line; /* of those around it, as far as they have them */
	struct process process;
	size_t frames; /* before it, in in->frames */
	struct import_frame frame;
};

struct row {
	bool has_time, has_weight, has_stack, has_core;
	uint32_t type, thread, stack, core;
	uint64_t time_ns;
	int64_t weight;
};

struct xctrace {
	struct profile *p;
	const char *begin, *pos, *end;
	struct element open[DEPTH_MAX];
	size_t depth;
	struct row row;
	struct import_ids ids; /* to values */
	VEC(struct value) values;
	VEC(struct process) processes;
	VEC(struct source) sources;
	VEC(uint32_t) frames; /* of open backtraces, leaf first */
	struct writer text;
	uint32_t nobody;
	uint64_t left_out;
};

static struct err *corrupt(const struct xctrace *in, const char *what)
{
	return err_new(ERR_CORRUPT, "%s at offset %zu", what, (size_t)(in->pos - in->begin));
}

/* ---- tags ------------------------------------------------------------------------------------------ */

struct tag {
	struct json_text name, attributes;
	bool closes, is_empty;
};

/* The value of attribute @name, as it stands; empty if there is none. */
static struct json_text attribute(const struct tag *tag, const char *name)
{
	struct json_text rest = tag->attributes;

	while (rest.len) {
		struct json_text key = import_trim(import_take(&rest, '='));
		char quote = rest.len ? *rest.data : 0;

		if (quote != '"' && quote != '\'')
			break;
		import_take(&rest, quote);

		struct json_text value = import_take(&rest, quote);

		if (json_is(key, name))
			return value;
	}
	return (struct json_text){ "", 0 };
}

/* The character that "lt" stands for, or "#60"; 0 if none that is known. */
static uint32_t entity(struct json_text name)
{
	static const struct {
		const char *name;
		char c;
	} known[] = { { "lt", '<' }, { "gt", '>' }, { "amp", '&' }, { "quot", '"' }, { "apos", '\'' } };
	uint64_t number = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (json_is(name, known[i].name))
			return (uint32_t)known[i].c;
	if (name.len < 2 || *name.data != '#')
		return 0;
	name.data++;
	name.len--;
	if (*name.data == 'x' ? import_hex((struct json_text){ name.data + 1, name.len - 1 }, &number) : import_number(name, &number))
		return number < 0x80 ? (uint32_t)number : '?';
	return 0;
}

/* The number of @text without entities in the profile. */
static uint32_t add_text(struct xctrace *in, struct json_text text)
{
	if (!text.len || !memchr(text.data, '&', text.len))
		return import_text(in->p, text);
	in->text.len = 0;
	while (text.len) {
		struct json_text plain = import_take(&text, '&'), rest = text;
		struct json_text name = import_take(&rest, ';');
		uint32_t c = name.len < 10 ? entity(name) : 0;

		writer_bytes(&in->text, plain.data, plain.len);
		if (c) {
			writer_u8(&in->text, (uint8_t)c);
			text = rest;
		} else if (text.len) {
			writer_u8(&in->text, '&');
		}
	}
	return import_text(in->p, (struct json_text){ (const char *)in->text.data, in->text.len });
}

/* What stands before the next tag, then that; false at the end of the file. ERR_CORRUPT: it is cut. */
static struct err *next_tag(struct xctrace *in, struct json_text *ret_text, struct tag *ret, bool *ret_more)
{
	const char *open = in->pos < in->end ? memchr(in->pos, '<', (size_t)(in->end - in->pos)) : NULL, *close;

	*ret_more = open != NULL;
	if (!open)
		return NULL;
	*ret_text = (struct json_text){ in->pos, (size_t)(open - in->pos) };
	in->pos = open;
	close = memchr(open, '>', (size_t)(in->end - open));
	if (!close)
		return corrupt(in, "it ends within the tag that begins");
	in->pos = close + 1;
	*ret = (struct tag){ .name = { open + 1, (size_t)(close - open - 1) } };
	if (ret->name.len && *ret->name.data == '/') {
		ret->closes = true;
		ret->name.data++;
		ret->name.len--;
	}
	ret->is_empty = ret->name.len && ret->name.data[ret->name.len - 1] == '/';
	ret->name.len -= ret->is_empty;
	ret->attributes = ret->name;
	ret->name = import_take(&ret->attributes, ' ');
	return NULL;
}

static enum kind kind_of(struct json_text name)
{
	for (size_t i = 0; i < sizeof(elements) / sizeof(*elements); i++)
		if (json_is(name, elements[i].name))
			return elements[i].kind;
	return KIND_OTHER;
}

/* ---- what elements are worth ----------------------------------------------------------------------- */

static void put_into_row(struct xctrace *in, enum kind kind, uint64_t number)
{
	struct row *row = &in->row;

	if (kind == KIND_TIME) {
		row->has_time = true;
		row->time_ns = number;
	} else if (kind == KIND_THREAD) {
		row->thread = (uint32_t)number;
	} else if (kind == KIND_CORE) {
		row->has_core = true;
		row->core = (uint32_t)MIN(number, (uint64_t)UINT32_MAX - 1);
	} else if (kind == KIND_BACKTRACE) {
		row->has_stack = true;
		row->stack = (uint32_t)number;
	} else if (kind == KIND_WEIGHT || kind == KIND_CYCLES) {
		row->has_weight = true;
		row->type = kind == KIND_WEIGHT ? import_type(in->p, "time", "ns") : import_type(in->p, "cycles", "events");
		row->weight = import_fits(in->p, (int64_t)MIN(number, (uint64_t)INT64_MAX));
	}
}

/* An element inside @parent has ended. */
static void put_into(struct xctrace *in, struct element *parent, enum kind kind, uint64_t number)
{
	switch (parent->kind) {
	case KIND_ROW:
		put_into_row(in, kind, number);
		break;
	case KIND_THREAD:
		if (kind == KIND_TID)
			parent->tid = (uint32_t)number;
		else if (kind == KIND_PROCESS)
			parent->process = in->processes.items[number];
		break;
	case KIND_PROCESS:
		if (kind == KIND_PID)
			parent->process.pid = (uint32_t)number;
		break;
	case KIND_BACKTRACE:
		if (kind == KIND_FRAME && in->frames.len - parent->frames < FRAMES_MAX)
			vec_push(&in->frames, (uint32_t)number);
		else if (kind == KIND_BACKTRACE)
			parent->number = number;
		break;
	case KIND_FRAME:
		if (kind == KIND_BINARY) {
			parent->frame.module = (uint32_t)number;
		} else if (kind == KIND_SOURCE) {
			parent->frame.file = in->sources.items[number].file;
			parent->frame.line = in->sources.items[number].line;
		}
		break;
	case KIND_SOURCE:
		if (kind == KIND_PATH)
			parent->file = (uint32_t)number;
		break;
	default:
		break;
	}
}

/* "main  0x8480c1 (app, pid: 7)": without what has its own elements. */
static struct json_text thread_name(struct json_text text)
{
	const char *end = text.len ? memmem(text.data, text.len, "  0x", 4) : NULL;

	return end ? (struct json_text){ text.data, (size_t)(end - text.data) } : text;
}

/* "app (7)" */
static struct json_text process_name(struct json_text text)
{
	const char *end = text.len ? memrchr(text.data, '(', text.len) : NULL;

	return end && end > text.data ? import_trim((struct json_text){ text.data, (size_t)(end - text.data) }) : text;
}

static void begin(struct xctrace *in, const struct tag *tag, struct element *e)
{
	uint64_t number;

	switch (e->kind) {
	case KIND_ROW:
		in->row = (struct row){ .thread = in->nobody };
		break;
	case KIND_THREAD:
		e->name = add_text(in, thread_name(attribute(tag, "fmt")));
		e->tid = e->process.pid = PROFILE_NONE;
		break;
	case KIND_PROCESS:
		e->process = (struct process){ PROFILE_NONE, add_text(in, process_name(attribute(tag, "fmt"))) };
		break;
	case KIND_FRAME:
		e->frame = (struct import_frame){ .name = add_text(in, attribute(tag, "name")), .module = PROFILE_NONE,
						  .kind = PROFILE_FRAME_NATIVE };
		break;
	case KIND_BINARY:
		e->number = import_module(in->p, attribute(tag, attribute(tag, "path").len ? "path" : "name"), PROFILE_USER);
		break;
	case KIND_SOURCE:
		e->line = import_number(attribute(tag, "line"), &number) ? (uint32_t)MIN(number, (uint64_t)UINT32_MAX - 1) : 0;
		break;
	case KIND_BACKTRACE:
		e->frames = in->frames.len;
		break;
	default:
		break;
	}
}

static uint64_t end_backtrace(struct xctrace *in, const struct element *e)
{
	uint32_t stack = (uint32_t)e->number;

	while (in->frames.len > e->frames)
		stack = import_stack(in->p, stack, in->frames.items[--in->frames.len]);
	return stack;
}

static void end_row(struct xctrace *in)
{
	const struct row *row = &in->row;
	struct import_sample sample = { .stack = row->stack, .type = row->type, .thread = row->thread, .count = 1, .weight = row->weight,
					.has_time = row->has_time, .time_ns = row->time_ns, .has_cpu = row->has_core, .cpu = row->core };

	if (row->has_weight && row->has_stack)
		import_sample(in->p, &sample);
	else
		in->left_out++;
}

/* The value of @e, which ends with @text inside. False: it is no number where one has to be. */
static bool end_value(struct xctrace *in, const struct element *e, struct json_text text, uint64_t *ret)
{
	*ret = e->number;
	switch (e->kind) {
	case KIND_TIME:
	case KIND_TID:
	case KIND_PID:
	case KIND_CORE:
	case KIND_WEIGHT:
	case KIND_CYCLES:
		return import_number(import_trim(text), ret);
	case KIND_THREAD:
		*ret = import_thread(in->p, e->process.pid, e->tid, e->process.name, e->name);
		return true;
	case KIND_PROCESS:
		*ret = in->processes.len;
		vec_push(&in->processes, e->process);
		return true;
	case KIND_BACKTRACE:
		*ret = end_backtrace(in, e);
		return true;
	case KIND_FRAME:
		*ret = import_frame(in->p, &e->frame);
		return true;
	case KIND_SOURCE:
		*ret = in->sources.len;
		vec_push(&in->sources, ((struct source){ e->file, e->line }));
		return true;
	case KIND_PATH:
		*ret = add_text(in, text);
		return true;
	case KIND_ROW:
		end_row(in);
		return true;
	default:
		return true;
	}
}

/* ---- the walk -------------------------------------------------------------------------------------- */

static struct err *end_element(struct xctrace *in, struct json_text text)
{
	struct element *e = &in->open[--in->depth];
	uint64_t number;

	if (!end_value(in, e, text, &number))
		return err_new(ERR_CORRUPT, "'%.*s' in <%.*s> before offset %zu is no number", (int)MIN(text.len, (size_t)40), text.data,
			       (int)MIN(e->tag.len, (size_t)40), e->tag.data, (size_t)(in->pos - in->begin));
	if (e->has_id && e->kind != KIND_OTHER) {
		import_ids_put(&in->ids, e->id, (uint32_t)in->values.len);
		vec_push(&in->values, ((struct value){ e->kind, number }));
	}
	if (in->depth)
		put_into(in, &in->open[in->depth - 1], e->kind, number);
	return NULL;
}

/* <frame ref="12"/> */
static struct err *take_ref(struct xctrace *in, enum kind kind, struct json_text ref)
{
	uint64_t id;
	uint32_t at = import_number(ref, &id) ? import_ids_get(&in->ids, id) : PROFILE_NONE;

	if (at == PROFILE_NONE || in->values.items[at].kind != kind)
		return corrupt(in, "a ref to what was not there ends");
	if (in->depth)
		put_into(in, &in->open[in->depth - 1], kind, in->values.items[at].number);
	return NULL;
}

static struct err *open_element(struct xctrace *in, const struct tag *tag)
{
	enum kind kind = kind_of(tag->name);
	struct json_text ref = attribute(tag, "ref");
	struct element *e = &in->open[in->depth];

	if (kind != KIND_OTHER && ref.len && tag->is_empty)
		return take_ref(in, kind, ref);
	if (kind == KIND_OTHER && tag->is_empty)
		return NULL;
	if (in->depth == DEPTH_MAX)
		return corrupt(in, "more than 64 elements within each other");
	*e = (struct element){ .tag = tag->name, .kind = kind };
	e->has_id = import_number(attribute(tag, "id"), &e->id);
	begin(in, tag, e);
	in->depth++;
	return tag->is_empty ? end_element(in, (struct json_text){ "", 0 }) : NULL;
}

static struct err *close_element(struct xctrace *in, const struct tag *tag, struct json_text text)
{
	const struct json_text *open = in->depth ? &in->open[in->depth - 1].tag : NULL;

	if (!open || open->len != tag->name.len || memcmp(open->data, tag->name.data, open->len) != 0)
		return corrupt(in, "an element that is not open ends");
	return end_element(in, text);
}

static struct err *read_elements(struct xctrace *in)
{
	struct json_text text;
	struct err *err = NULL;
	struct tag tag = { 0 };
	bool more = true;

	while (!err) {
		err = next_tag(in, &text, &tag, &more);
		if (err || !more)
			break;
		if (tag.name.len && (*tag.name.data == '?' || *tag.name.data == '!'))
			continue;
		err = tag.closes ? close_element(in, &tag, text) : open_element(in, &tag);
	}
	if (!err && in->depth)
		err = corrupt(in, "it ends within an element,");
	return err;
}

static unsigned recognise(const uint8_t *start, size_t len)
{
	struct json_text text = import_trim((struct json_text){ (const char *)start, MIN(len, (size_t)START_LOOKED) });

	len = MIN(len, (size_t)START_LOOKED);
	if (!text.len || (!import_starts(text, "<") && !import_starts(text, "\xef\xbb\xbf<")) || (!memmem(start, len, "<trace-query-result", 19) && !memmem(start, len, "<trace-toc", 10)))
		return 0;
	return 95;
}

static struct err *check_table(const struct import_input *input)
{
	size_t len = MIN(input->len, (size_t)START_LOOKED);

	const uint8_t *list = len ? memmem(input->data, len, "<trace-toc", 10) : NULL;

	if (!list || memmem(input->data, len, "<trace-query-result", 19))
		return NULL;
	return err_remedy(err_new(ERR_UNSUPPORTED, "it has the list of tables of a trace, at offset %zu, not one of them",
				  (size_t)(list - input->data)),
			  "xctrace export --input x.trace --xpath '/trace-toc/run[@number=\"1\"]/data/table[@schema=\"time-profile\"]'");
}

static struct err *read_xctrace(const struct import_input *input, struct profile *p, struct profile_facts *facts, struct diag *diag)
{
	struct xctrace *in = memory_zeroed(1, sizeof(*in));
	struct err *err = check_table(input);

	(void)facts;
	in->p = p;
	in->begin = in->pos = (const char *)input->data;
	in->end = in->begin + input->len;
	in->nobody = import_thread(p, PROFILE_NONE, PROFILE_NONE, 0, 0);
	if (!err)
		err = read_elements(in);
	if (in->left_out)
		diag_warn(diag, "%" PRIu64 " rows without a weight or a stack are left out", in->left_out);
	import_ids_deinit(&in->ids);
	vec_deinit(&in->values);
	vec_deinit(&in->processes);
	vec_deinit(&in->sources);
	vec_deinit(&in->frames);
	writer_deinit(&in->text);
	free(in);
	return err;
}

const struct importer import_xctrace = {
	.name = "xctrace",
	.what = "tables of samples that xctrace exports from Apple's Instruments",
	.extensions = ".xml",
	.carries = IMPORT_TIMES | IMPORT_THREADS | IMPORT_LINES | IMPORT_TYPES,
	.recognise = recognise,
	.read = read_xctrace,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_perf_script.c - what perf script prints.
 *
 *	cmd  4242/4243  [001] 12345.678901:     250000 cycles:u:
 *		    55d0c8 main+0x18 (/bin/cmd)
 *		    7f0011 inner (inlined)
 *		 main.c:12
 *		  7f12ab [unknown] (/lib/libc.so.6)
 *
 * A sample is a header and a frame a line, leaf first, until an empty line. Fields that -F left out are absent, all but one of
 * the header's. Without chains the leaf stands behind the header, in whose front blanks fill up the command:
 *
 *		     cmd  4242 12345.678901:     250000 cycles:u:            55d0c8 main+0x18 (/bin/cmd)
 *
 * Records of mappings and tasks (--show-mmap-events, ...) are no samples. "(inlined)" frames are
 * lines of the next one's location; a line "file:NUMBER" (-F srcline) is the place of the frame before it. Without a period
 * each sample counts as one. A single number before the event is the thread's or the period; preport states which fields there
 * are where it leaves out the former: "# fields : comm,period,event".
 */
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/import_text.h"

#include <inttypes.h>
#include <stdio.h>

#define COMM_MAX 16 /* bytes of a command and the blank behind it */

struct header {
	struct json_text comm, event;
	uint32_t pid, tid, cpu;
	bool has_time, has_period;
	uint64_t time_ns, period;
};

/* Which numbers of a thread a header has. */
enum header_ids {
	IDS_ANY,     /* pid/tid, or tid */
	IDS_MAYBE,   /* the same, or none: a number before the event is a period */
	IDS_PROCESS, /* pid, or none */
};

struct perf_script {
	struct profile *p;
	enum header_ids ids;
	struct header header, before;
	uint32_t type, thread; /* what @before says; PROFILE_NONE: nothing yet */
	bool too_many;	       /* events */
	VEC(struct profile_line) lines; /* of inlined calls that wait for the frame they are in */
	VEC(uint32_t) path;		/* locations, leaf first */
	bool open;
	bool loose;  /* its header may be none: it has nothing but a command */
	bool padded; /* headers begin with blanks */
	uint64_t left_out; /* lines */
	/* The frame whose source line may follow. */
	struct json_text name;
	uint32_t module;
	uint64_t address;
	bool has_frame, inlined, kernel;
	uint32_t file, line;
};

/* ---- headers ---- */

static struct json_text next_word(struct json_text *rest)
{
	*rest = import_trim(*rest);
	return import_take(rest, ' ');
}

/* "12345.678901:" */
static bool parse_time(struct json_text word, uint64_t *ret)
{
	struct json_text seconds = import_take(&word, '.');
	uint64_t s, fraction = 0;

	if (word.len < 2 || word.data[word.len - 1] != ':' || !import_number(seconds, &s) || s > 9000000000)
		return false;
	word.len--;
	if (word.len > 9 || !import_number(word, &fraction))
		return false;
	for (size_t i = word.len; i < 9; i++)
		fraction *= 10;
	*ret = s * 1000000000 + fraction;
	return true;
}

/* "4242" or "4242/4243" */
static bool parse_ids(struct json_text word, uint32_t *ret_pid, uint32_t *ret_tid)
{
	struct json_text first = import_take(&word, '/');
	uint64_t a, b;

	if (json_is(first, "-1")) { /* perf's for not known */
		*ret_pid = *ret_tid = PROFILE_NONE;
		return true;
	}
	if (!import_number(first, &a) || a > INT32_MAX)
		return false;
	b = a;
	if (word.len && (!import_number(word, &b) || b > INT32_MAX))
		return false;
	*ret_pid = word.len ? (uint32_t)a : PROFILE_NONE;
	*ret_tid = (uint32_t)b;
	return true;
}

/* "[001]" */
static bool parse_cpu(struct json_text word, uint32_t *ret)
{
	uint64_t cpu;

	if (word.len < 3 || word.data[0] != '[' || word.data[word.len - 1] != ']')
		return false;
	word = (struct json_text){ word.data + 1, word.len - 2 };
	if (!import_number(word, &cpu) || cpu > UINT16_MAX)
		return false;
	*ret = (uint32_t)cpu;
	return true;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* What is not known is 0 or, where preport wrote it, '_'. */
static bool parse_address(struct json_text word, uint64_t *ret)
{
	uint64_t value = 0;

	if (json_is(word, "_")) {
		*ret = 0;
		return true;
	}
	if (!word.len || word.len > 16)
		return false;
	for (size_t i = 0; i < word.len; i++) {
		if (!is_hex(word.data[i]))
			return false;
		value = value << 4 | (uint64_t)(word.data[i] <= '9' ? word.data[i] - '0' : word.data[i] - 'a' + 10);
	}
	*ret = value;
	return true;
}

/* Behind the time: an optional period, and the event with a colon. Without an event, @ret->event is empty where it would be. */
static void parse_event(struct json_text rest, struct header *ret)
{
	struct json_text word = next_word(&rest), number = word;
	uint64_t address;

	ret->has_period = import_number(word, &ret->period);
	if (ret->has_period)
		word = next_word(&rest);
	if (word.len && word.data[word.len - 1] != ':' && !import_starts(word, "PERF_RECORD_")) { /* it is the frame */
		if (ret->has_period && !parse_address(word, &address)) { /* or its name, and the number is its address */
			ret->has_period = false;
			word = number;
		}
		word.len = 0;
	}
	while (word.len && word.data[word.len - 1] == ':')
		word.len--;
	ret->event = word;
}

/* Between the CPU and the time: letters of -F misc and flags. */
static bool is_flags(struct json_text word)
{
	for (size_t i = 0; i < word.len; i++)
		if (!((word.data[i] | 0x20) >= 'a' && (word.data[i] | 0x20) <= 'z'))
			return false;
	return word.len > 0 && word.len <= 8;
}

/* "[001] U 12345.678901:", all but the time may be missing; false if that is. */
static bool take_time(struct json_text *rest, struct header *ret)
{
	struct json_text after = *rest, word = next_word(&after);

	if (parse_cpu(word, &ret->cpu))
		word = next_word(&after);
	if (is_flags(word))
		word = next_word(&after);
	ret->has_time = parse_time(word, &ret->time_ns);
	if (ret->has_time)
		*rest = after;
	return ret->has_time;
}

/* "[001] 250000 cycles:", the first two may be missing; false if it is none. */
static bool take_event(struct json_text rest, struct header *ret)
{
	struct json_text word, event = rest;
	uint64_t number;

	word = next_word(&event);
	if (parse_cpu(word, &ret->cpu)) {
		rest = event;
		word = next_word(&event);
	}
	if (import_number(word, &number))
		word = next_word(&event);
	if (!word.len || word.data[word.len - 1] != ':' || parse_time(word, &number))
		return false;
	parse_event(rest, ret);
	return true;
}

static const struct header no_header = { .pid = PROFILE_NONE, .tid = PROFILE_NONE, .cpu = PROFILE_NONE };

/* What stands from @word on, behind the command, which ends there. */
static bool parse_behind_comm(struct json_text comm, struct json_text word, struct json_text rest, struct header *ret)
{
	struct header h = no_header;

	h.comm = import_trim(comm);
	if (h.comm.len && parse_ids(word, &h.pid, &h.tid)) {
		if (take_time(&rest, &h))
			parse_event(rest, &h);
		else if (!take_event(rest, &h))
			return false;
	} else {
		rest = (struct json_text){ word.data, (size_t)(rest.data + rest.len - word.data) };
		if (take_time(&rest, &h))
			parse_event(rest, &h);
		else if (h.comm.len || !take_event(rest, &h))
			return false;
	}
	*ret = h;
	return true;
}

/*
 * A command may have blanks and numbers, so words are tried until one is a thread's number with what must follow it. The kernel
 * cuts commands, so that one that looks like a header ("a 1 2.5:") ends where the true one can still begin.
 */
static bool parse_any_header(struct json_text line, struct header *ret)
{
	struct json_text rest = line, word;
	const char *start;
	struct header h;
	bool found = false;

	if (!line.len || *line.data == '\t' || *line.data == '#')
		return false;
	start = import_trim(line).data;
	while ((word = next_word(&rest)).len && (!found || word.data <= start + COMM_MAX)) {
		struct json_text comm = { start, (size_t)(word.data - start) };

		if (!parse_behind_comm(comm, word, rest, &h) || (found && (h.tid == PROFILE_NONE || !h.has_time)))
			continue;
		*ret = h;
		found = true;
	}
	return found && (ret->event.len > 0 || ret->has_time);
}

/* "cmd 250000 cycles:" */
static bool parse_period_header(struct json_text line, struct header *ret)
{
	struct header h = no_header;
	const char *event = memrchr(line.data, ' ', line.len), *period = event;

	if (*line.data == '\t' || *line.data == '#' || line.data[line.len - 1] != ':' || !event)
		return false;
	while (period > line.data && period[-1] != ' ')
		period--;
	parse_event((struct json_text){ period, (size_t)(line.data + line.len - period) }, &h);
	h.comm = import_trim((struct json_text){ line.data, (size_t)(period - line.data) });
	*ret = h;
	return h.has_period && h.comm.len;
}

static bool parse_header(struct json_text line, enum header_ids ids, struct header *ret)
{
	bool parsed = parse_any_header(line, ret);

	if (ids != IDS_ANY && line.len && !(parsed && (ret->has_period || ret->has_time)))
		return parse_period_header(line, ret);
	if (parsed && ids == IDS_PROCESS && ret->pid == PROFILE_NONE) {
		ret->pid = ret->tid;
		ret->tid = PROFILE_NONE;
	}
	return parsed;
}

/* "# fields : comm,pid,period,event" */
static void read_fields(struct json_text line, enum header_ids *ids)
{
	struct json_text field;

	if (!import_starts(line, "# fields : "))
		return;
	import_take(&line, ':');
	*ids = IDS_MAYBE;
	for (line = import_trim(line); line.len;) {
		field = import_take(&line, ',');
		if (json_is(field, "pid"))
			*ids = IDS_PROCESS;
		if (json_is(field, "tid"))
			*ids = IDS_MAYBE;
	}
}

/* ---- frames ---- */

/* "name+0x12" without what is behind the plus. */
static struct json_text without_offset(struct json_text name)
{
	const char *plus = name.len ? memrchr(name.data, '+', name.len) : NULL;

	if (plus && plus > name.data && name.data + name.len - plus > 3 && plus[1] == '0' && plus[2] == 'x')
		name.len = (size_t)(plus - name.data);
	return name;
}

/* The place in parentheses at the end, which is cut off @text. */
static struct json_text take_place(struct json_text *text)
{
	struct json_text place = { "", 0 };
	size_t depth = 0, at = text->len;

	if (!text->len || text->data[text->len - 1] != ')')
		return place;
	while (at-- > 0) {
		depth += text->data[at] == ')';
		depth -= text->data[at] == '(';
		if (!depth)
			break;
	}
	if (depth || (at && text->data[at - 1] != ' '))
		return place;
	place = (struct json_text){ text->data + at + 1, text->len - at - 2 };
	text->len = at;
	*text = import_trim(*text);
	return place;
}

static bool is_kernel(struct json_text place)
{
	return import_starts(place, "[kernel") || import_starts(place, "[guest.kernel") ||
	       (place.len > 3 && memcmp(place.data + place.len - 3, ".ko", 3) == 0) ||
	       (place.len > 1 && *place.data == '[' && !import_starts(place, "[unknown") &&
		!import_starts(place, "[vdso") && !import_starts(place, "[heap") &&
		!import_starts(place, "[stack") && !import_starts(place, "[anon"));
}

static struct profile_line line_of(struct perf_script *in)
{
	struct profile_function function = { .module = in->module, .file = in->file };

	function.name = import_text(in->p, in->name);
	if (!in->name.len || json_is(in->name, "[unknown]")) {
		char text[4096];
		const char *where = in->module == PROFILE_NONE
					    ? "unknown"
					    : profile_text(in->p, in->p->modules.items[in->module].name);

		snprintf(text, sizeof(text), *where == '[' ? "%s" : "[%s]", where);
		function.name = profile_string(in->p, text);
		function.unnamed = true;
	}
	return (struct profile_line){ .function = profile_add_function(in->p, &function),
				      .file = in->file, .line = in->line };
}

/* The frame that was read last is complete. */
static void finish_frame(struct perf_script *in)
{
	enum profile_frame_kind kind = in->kernel ? PROFILE_FRAME_KERNEL : PROFILE_FRAME_NATIVE;

	if (!in->has_frame)
		return;
	in->has_frame = false;
	vec_push(&in->lines, line_of(in));
	if (in->inlined)
		return;
	vec_push(&in->path, profile_add_named_location(in->p, kind, in->module, in->lines.items,
						       (uint32_t)in->lines.len));
	in->lines.len = 0;
}

/* "main.c:12", "main.c:12 (inlined)" */
static bool take_srcline(struct perf_script *in, struct json_text text)
{
	const char *colon;
	uint64_t line;

	take_place(&text);
	colon = text.len ? memrchr(text.data, ':', text.len) : NULL;
	if (!in->has_frame || !colon || colon == text.data || memchr(text.data, ' ', text.len))
		return false;
	if (!import_number((struct json_text){ colon + 1, text.len - (size_t)(colon + 1 - text.data) }, &line))
		return false;
	in->file = strtab_add_len(&in->p->strings, text.data, (size_t)(colon - text.data));
	in->line = (uint32_t)MIN(line, (uint64_t)UINT32_MAX - 1);
	return true;
}

static void add_frame(struct perf_script *in, struct json_text text)
{
	struct json_text rest = text, word, place;
	uint64_t address;

	text = import_trim(text);
	rest = text;
	word = import_take(&rest, ' ');
	if (!parse_address(word, &address) && take_srcline(in, text))
		return;
	finish_frame(in);
	if (parse_address(word, &address))
		text = import_trim(rest);
	place = take_place(&text);
	in->inlined = json_is(place, "inlined");
	if (in->inlined || json_is(place, "[unknown]"))
		place.len = 0;
	in->kernel = is_kernel(place);
	in->name = without_offset(text);
	in->module = import_module(in->p, place, in->kernel ? PROFILE_KERNEL : PROFILE_USER);
	in->file = in->line = 0;
	in->has_frame = true;
}

/* ---- samples ---- */

static bool same_text(struct json_text a, struct json_text b)
{
	return a.len == b.len && (!a.len || memcmp(a.data, b.data, a.len) == 0);
}

/* Most samples are of the event of the one before. */
static uint32_t type_of(struct perf_script *in)
{
	const struct header *h = &in->header, *before = &in->before;
	char name[256];

	if (in->type != PROFILE_NONE && same_text(h->event, before->event) && h->has_period == before->has_period)
		return in->type;
	snprintf(name, sizeof(name), "%.*s", (int)MIN(h->event.len, (size_t)200), h->event.data ? h->event.data : "");
	in->type = import_type(in->p, *name ? name : "samples",
			       strstr(name, "clock") && h->has_period ? "ns" : "events");
	return in->type;
}

static uint32_t thread_of(struct perf_script *in)
{
	const struct header *h = &in->header, *before = &in->before;

	if (in->thread == PROFILE_NONE || h->pid != before->pid || h->tid != before->tid ||
	    !same_text(h->comm, before->comm))
		in->thread = import_thread(in->p, h->pid, h->tid, 0, json_is(h->comm, "_") ? 0 : import_text(in->p, h->comm));
	return in->thread;
}

static void finish_sample(struct perf_script *in)
{
	const struct header *h = &in->header;
	struct import_sample sample = { .count = 1, .weight = 1 };

	if (!in->open)
		return;
	finish_frame(in);
	in->open = false;
	if (in->loose && !in->path.len) {
		in->left_out++;
		return;
	}
	if (in->lines.len) /* inlined into what is not shown */
		vec_push(&in->path, profile_add_named_location(in->p, PROFILE_FRAME_NATIVE, PROFILE_NONE,
							       in->lines.items, (uint32_t)in->lines.len));
	in->lines.len = 0;
	sample.type = type_of(in);
	if (sample.type == PROFILE_NONE) {
		in->too_many = true;
		return;
	}
	sample.thread = thread_of(in);
	for (size_t i = in->path.len; i-- > 0;)
		sample.stack = import_stack(in->p, sample.stack, in->path.items[i]);
	if (h->has_period)
		sample.weight = (int64_t)MIN(h->period, (uint64_t)INT64_MAX >> 8);
	sample.has_cpu = h->cpu != PROFILE_NONE;
	sample.cpu = h->cpu;
	sample.has_time = h->has_time;
	sample.time_ns = h->time_ns;
	import_sample(in->p, &sample);
	in->before = *h;
}

static void open_sample(struct perf_script *in, const struct header *header, bool loose)
{
	finish_sample(in);
	in->header = *header;
	in->open = true;
	in->loose = loose;
	in->path.len = in->lines.len = 0;
	in->has_frame = false;
}

/* A chain of one frame stands in the same line where -F has no callchain: "... cycles:  55d0 main (/bin/x)". */
static void take_only_frame(struct perf_script *in, struct json_text line)
{
	const char *end = line.data + line.len, *at = in->header.event.data + in->header.event.len;
	struct json_text rest, word;
	uint64_t address;

	if (!at)
		return;
	while (at < end && *at == ':')
		at++;
	rest = import_trim((struct json_text){ at, (size_t)(end - at) });
	word = rest;
	if (parse_address(import_take(&word, ' '), &address))
		add_frame(in, rest);
}

/* "cmd 4242", "cmd": nothing says that it is a header but that frames follow. */
static void open_loose(struct perf_script *in, struct json_text line)
{
	struct header header = no_header;
	const char *blank = memrchr(line.data, ' ', line.len);
	struct json_text last;

	header.comm = import_trim(line);
	if (blank) {
		last = (struct json_text){ blank + 1, line.len - (size_t)(blank + 1 - line.data) };
		if (parse_ids(last, &header.pid, &header.tid))
			header.comm = import_trim((struct json_text){ line.data, (size_t)(blank - line.data) });
	}
	open_sample(in, &header, /* loose= */ true);
}

/* Frames begin with a tab, but not in all texts that were copied; padded headers with a blank. */
static bool is_header(const struct perf_script *in, struct json_text line, struct header *ret)
{
	if (*line.data == '\t' || !parse_header(line, in->ids, ret))
		return false;
	return *line.data != ' ' || !in->open || ret->has_time || in->padded;
}

static void add_line(struct perf_script *in, struct json_text line)
{
	struct header header;

	if (!line.len) {
		finish_sample(in);
	} else if (*line.data == '#') {
		read_fields(line, &in->ids);
	} else if (is_header(in, line, &header)) {
		if (import_starts(header.event, "PERF_RECORD_")) {
			finish_sample(in);
			return;
		}
		in->padded |= *line.data == ' ';
		open_sample(in, &header, /* loose= */ false);
		take_only_frame(in, line);
	} else if (*line.data == '\t' || *line.data == ' ') {
		if (in->open)
			add_frame(in, line);
		else
			in->left_out++;
	} else {
		open_loose(in, line);
	}
}

/* An address and a name. */
static bool is_frame(struct json_text text)
{
	uint64_t address;

	text = import_trim(text);
	return parse_address(import_take(&text, ' '), &address) && text.len;
}

/* A tab, blanks, an address and a name: so only perf's frames begin. */
static bool is_tab_frame(struct json_text line)
{
	return line.len && *line.data == '\t' && is_frame(line);
}

/* "cycles:      55d0c8 main": a frame in the line of a header without an event or a time. */
static bool has_only_frame(const struct header *header, struct json_text line)
{
	const char *at = header->event.data + header->event.len, *end = line.data + line.len;

	at += at < end && *at == ':';
	while (at < end && *at == ' ')
		at++;
	return at - line.data > 4 && memcmp(at - 4, "    ", 4) == 0 && is_frame((struct json_text){ at, (size_t)(end - at) });
}

static unsigned recognise(const uint8_t *start, size_t len)
{
	struct import_lines lines;
	struct json_text line;
	struct header header;
	unsigned tried = 0;
	enum header_ids ids = IDS_ANY;
	bool in_sample = false, behind = false; /* the line before is no frame */

	if (memchr(start, 0, len))
		return 0;
	import_lines_init(&lines, start, len);
	while (tried < 20 && import_lines_next(&lines, &line)) {
		if (!line.len || *line.data == '#') {
			behind = false;
			read_fields(line, &ids);
			continue;
		}
		if (behind && is_tab_frame(line))
			return 70;
		behind = *line.data != '\t' && *line.data != ' ';
		if (in_sample && (*line.data == '\t' || *line.data == ' ')) /* a frame, below a header without a time */
			return 75;
		in_sample = parse_header(line, ids, &header);
		if (in_sample && header.event.len && header.has_time)
			return 80;
		if (in_sample && has_only_frame(&header, line))
			return 70;
		in_sample = in_sample && header.event.len && header.comm.len;
		tried++;
	}
	return 0;
}

static struct err *read_perf_script(const struct import_input *input, struct profile *p,
				    struct profile_facts *facts, struct diag *diag)
{
	struct perf_script in = { .p = p, .type = PROFILE_NONE, .thread = PROFILE_NONE };
	struct import_lines lines;
	struct json_text line;

	(void)facts;
	import_lines_init(&lines, input->data, input->len);
	while (!in.too_many && import_lines_next(&lines, &line))
		add_line(&in, line);
	finish_sample(&in);
	if (in.left_out)
		diag_warn(diag, "%" PRIu64 " lines that are neither samples nor frames are left out", in.left_out);
	vec_deinit(&in.lines);
	vec_deinit(&in.path);
	if (in.too_many)
		return err_new(ERR_UNSUPPORTED, "it has more than %d events", IMPORT_TYPES_MAX);
	return NULL;
}

const struct importer import_perf_script = {
	.name = "perf-script",
	.what = "text of perf script",
	.extensions = ".perf .script .txt",
	.carries = IMPORT_TIMES | IMPORT_THREADS | IMPORT_LINES | IMPORT_INLINED | IMPORT_TYPES,
	.recognise = recognise,
	.read = read_perf_script,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_rbspy.c - what rbspy keeps of Ruby processes with --raw-file (and by itself, in its cache).
 *
 *	rbspy02						the version
 *	{"sample_rate": 100, "start_time": …, …}	from version 1 on; the time may be missing
 *	{"trace": [frame, …], "pid": 1, "thread_id": 2, "time": …}	a sample a line, leaf first; of version 0 the array alone
 *
 * Whether a thread was on a CPU ("on_cpu") is left out: it is looked up while rbspy has stopped the process, and then says that none was.
 */
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/import_text.h"

#include <inttypes.h>
#include <stdio.h>

#define MAGIC	  "rbspy0"
#define NS_PER_S  1000000000ull
#define S_MAX	  (UINT64_MAX / 2 / NS_PER_S)

struct rbspy {
	struct profile *p;
	VEC(uint32_t) path; /* locations, leaf first */
	uint32_t type;
	uint64_t rate, start_ns; /* since 1970; 0: not known */
	uint32_t pid, tid, thread; /* of the sample that is read; a name where the number is none of the kernel's */
	uint64_t time_ns;	 /* the same; 0: not known */
};

static unsigned recognise(const uint8_t *start, size_t len)
{
	return len > 8 && memcmp(start, MAGIC, 6) == 0 && start[7] == '\n' ? 100 : 0;
}

/* {"secs_since_epoch": 1, "nanos_since_epoch": 2} */
static uint64_t read_time(struct json_reader *r)
{
	uint64_t seconds = 0, ns = 0;
	struct json_text key;

	if (!json_read_object(r))
		return 0;
	while (json_read_key(r, &key)) {
		if (json_is(key, "secs_since_epoch"))
			seconds = json_read_count(r);
		else if (json_is(key, "nanos_since_epoch"))
			ns = json_read_count(r);
		else
			json_read_skip(r);
	}
	return MIN(seconds, S_MAX) * NS_PER_S + MIN(ns, NS_PER_S - 1);
}

static void read_header(struct rbspy *in, struct json_reader *r)
{
	struct json_text key;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (json_is(key, "sample_rate"))
			in->rate = json_read_count(r);
		else if (json_is(key, "start_time"))
			in->start_ns = read_time(r);
		else
			json_read_skip(r);
	}
}

/* Of functions in C the file is "(unknown)" and the name ends in a mark. */
static void finish_frame(struct rbspy *in, struct import_frame *frame, uint32_t relative)
{
	static const char mark[] = " [c function]";
	const char *name = profile_text(in->p, frame->name);
	size_t len = strlen(name);

	frame->file = frame->file ? frame->file : relative;
	if (len > strlen(mark) && strcmp(name + len - strlen(mark), mark) == 0) {
		frame->kind = PROFILE_FRAME_NATIVE;
		frame->name = import_text(in->p, (struct json_text){ name, len - strlen(mark) });
	}
	if (strcmp(profile_text(in->p, frame->file), "(unknown)") == 0)
		frame->file = 0;
	vec_push(&in->path, import_frame(in->p, frame));
}

static void read_frame(struct rbspy *in, struct json_reader *r)
{
	struct import_frame frame = { .module = PROFILE_NONE, .kind = PROFILE_FRAME_INTERPRETED };
	struct json_text key;
	uint32_t relative = 0;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (json_is(key, "name"))
			frame.name = import_text(in->p, json_read_text(r));
		else if (json_is(key, "absolute_path"))
			frame.file = import_text(in->p, json_read_text(r));
		else if (json_is(key, "relative_path"))
			relative = import_text(in->p, json_read_text(r));
		else if (json_is(key, "lineno"))
			frame.line = json_read_small(r);
		else
			json_read_skip(r);
	}
	finish_frame(in, &frame, relative);
}

static void read_frames(struct rbspy *in, struct json_reader *r)
{
	if (!json_read_array(r))
		return;
	while (json_read_more(r))
		read_frame(in, r);
}

/* Ruby's threads have the numbers of pthreads, which are addresses: names, since the kernel has others. */
static void read_thread(struct rbspy *in, struct json_reader *r)
{
	uint64_t tid = json_read_count(r);
	char name[32];

	snprintf(name, sizeof(name), "thread %" PRIu64, tid);
	in->tid = tid < UINT32_MAX ? (uint32_t)tid : PROFILE_NONE;
	in->thread = in->tid == PROFILE_NONE ? profile_string(in->p, name) : 0;
}

static void read_trace(struct rbspy *in, struct json_reader *r)
{
	struct json_text key;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (json_is(key, "trace"))
			read_frames(in, r);
		else if (json_is(key, "pid") && json_read_peek(r) == JSON_NUMBER)
			in->pid = json_read_small(r);
		else if (json_is(key, "thread_id") && json_read_peek(r) == JSON_NUMBER)
			read_thread(in, r);
		else if (json_is(key, "time"))
			in->time_ns = read_time(r);
		else
			json_read_skip(r);
	}
}

static void add_sample(struct rbspy *in)
{
	struct import_sample sample = { .type = in->type, .count = 1, .weight = 1 };

	for (size_t i = in->path.len; i > 0; i--)
		sample.stack = import_stack(in->p, sample.stack, in->path.items[i - 1]);
	sample.thread = import_thread(in->p, in->pid, in->tid, 0, in->thread);
	if (in->time_ns && !in->start_ns)
		in->start_ns = in->time_ns;
	sample.has_time = in->time_ns != 0;
	sample.time_ns = in->time_ns > in->start_ns ? in->time_ns - in->start_ns : 0;
	import_sample(in->p, &sample);
}

static void read_samples(struct rbspy *in, struct json_reader *r, bool bare)
{
	while (json_read_peek(r) != JSON_NONE) {
		in->path.len = 0;
		in->pid = in->tid = PROFILE_NONE;
		in->thread = 0;
		in->time_ns = 0;
		if (bare)
			read_frames(in, r);
		else
			read_trace(in, r);
		if (!r->failed)
			add_sample(in);
	}
	if (r->pos < r->end)
		json_read_fail(r, "a sample");
}

static struct err *read_rbspy(const struct import_input *input, struct profile *p, struct profile_facts *facts, struct diag *diag)
{
	struct rbspy in = { .p = p };
	char version = (char)input->data[6];
	struct json_reader r;
	struct err *err;

	(void)diag;
	if (version < '0' || version > '2')
		return err_new(ERR_UNSUPPORTED, "version %c of rbspy's files is not known", version);
	json_reader_init(&r, input->data, input->len);
	r.pos += 8;
	if (version > '0')
		read_header(&in, &r);
	in.type = import_type(p, "samples", "events");
	p->types.items[in.type].rate = in.rate;
	p->types.items[in.type].is_freq = true;
	read_samples(&in, &r, version == '0');
	err = json_read_check(&r);
	facts->has_wall = in.start_ns != 0;
	facts->wall_ns = in.start_ns;
	json_reader_deinit(&r);
	vec_deinit(&in.path);
	return err;
}

const struct importer import_rbspy = {
	.name = "rbspy",
	.what = "raw file of rbspy, the Ruby sampler",
	.extensions = ".raw",
	.carries = IMPORT_TIMES | IMPORT_THREADS | IMPORT_LINES,
	.recognise = recognise,
	.read = read_rbspy,
};

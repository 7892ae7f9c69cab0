/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_mojo.c - MOJO, the binary file of Austin, versions 1 to 4.
 *
 *	"MOJ" version, then events: a byte that says which, and its data
 *	 1 metadata: key, value			 2 sample: process, interpreter (from 3 on), thread
 *	 3 frame: key, file, scope, line (from 2 on: last line, first and last column)
 *	 4 a frame that could not be read	 5 frame: its key		 6 kernel's frame: its name
 *	 7 in the garbage collector		 8 idle
 *	 9 time, us	10 bytes		11 text: key, text		12 text: key
 *	13 the frames of the thread's last sample; from 4 on, as are tasks of asyncio, which are passed over:
 *	14 task, name, number of frames that follow	15 task, task	16 task
 *
 * Texts end in a 0 byte. Numbers: a byte of 6 bits, the sign (0x40) and whether more follow (0x80), then 7 bits a byte. Keys
 * are a process's own. Frames stand root first. Source: Austin's page on the format.
 */
#include "formats/base/map.h"
#include "formats/base/reader.h"
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/import_text.h"

#include <inttypes.h>
#include <string.h>

#define VERSION_LAST 4
#define KEY_UNKNOWN  1 /* of the text "<unknown>" */

enum mojo_event {
	MOJO_METADATA = 1, MOJO_STACK, MOJO_FRAME, MOJO_FRAME_INVALID, MOJO_FRAME_REF, MOJO_FRAME_KERNEL, MOJO_GC,
	MOJO_IDLE, MOJO_TIME, MOJO_MEMORY, MOJO_STRING, MOJO_STRING_REF, MOJO_REPEAT, MOJO_TASK_STACK,
	MOJO_TASK_WAITER, MOJO_TASK_RUNNING,
};

enum { TYPE_WALL, TYPE_CPU, TYPE_MEMORY, TYPES };

struct mojo {
	struct profile *p;
	struct profile_facts *facts;
	struct reader r;
	uint64_t version;
	struct map texts, frames; /* (process, key) -> string; location, + 1 */
	struct map last;	  /* thread -> the stack of its last sample */
	uint32_t types[TYPES];	  /* PROFILE_NONE until one is there */
	bool cpu_mode, full_mode;
	bool open; /* a sample is */
	uint32_t pid, thread, stack;
	bool idle;
	uint64_t task_frames; /* that are no part of the sample */
	int64_t time_us, bytes;
	bool has_time, has_bytes;
};

static unsigned recognise(const uint8_t *start, size_t len)
{
	return len > 4 && memcmp(start, "MOJ", 3) == 0 && start[3] && start[3] < 0x40 ? 95 : 0;
}

static int64_t number(struct mojo *in, const char *what)
{
	uint8_t byte = reader_u8(&in->r, what);
	bool negative = byte & 0x40;
	uint64_t value = byte & 0x3f;

	for (unsigned shift = 6; byte & 0x80 && !in->r.failed; shift += 7) {
		byte = reader_u8(&in->r, what);
		if (shift > 55)
			reader_fail(&in->r, what);
		else
			value |= (uint64_t)(byte & 0x7f) << shift;
	}
	return negative ? -(int64_t)value : (int64_t)value;
}

static uint32_t text(struct mojo *in, const char *what)
{
	const char *data = reader_string(&in->r, what);

	return data ? profile_string(in->p, data) : 0;
}

/* Processes and keys are small; what is not shares a slot with others. */
static uint64_t key_of(const struct mojo *in, int64_t key)
{
	return (uint64_t)in->pid << 40 ^ (uint64_t)key;
}

static uint32_t text_of(const struct mojo *in, int64_t key)
{
	const uint64_t *known = map_get(&in->texts, key_of(in, key));

	return known ? (uint32_t)*known : profile_string(in->p, key == KEY_UNKNOWN ? "<unknown>" : "");
}

static uint32_t type_of(struct mojo *in, unsigned which)
{
	static const char *const names[] = { "wall", "cpu", "memory" }, *const units[] = { "ns", "ns", "bytes" };

	if (in->types[which] == PROFILE_NONE)
		in->types[which] = import_type(in->p, names[which], units[which]);
	return in->types[which];
}

static void add(struct mojo *in, unsigned which, int64_t value)
{
	struct import_sample sample = { .stack = in->stack, .thread = in->thread, .count = 1, .weight = value };

	if (!value || value == INT64_MIN)
		return;
	sample.type = type_of(in, which);
	import_sample(in->p, &sample);
}

static void finish_sample(struct mojo *in)
{
	int64_t ns = in->time_us > INT64_MAX / 1000 || in->time_us < 0 ? 0 : in->time_us * 1000;

	if (!in->open)
		return;
	*map_put(&in->last, in->thread, NULL) = in->stack;
	if (in->has_time)
		add(in, in->cpu_mode ? TYPE_CPU : TYPE_WALL, ns);
	if (in->has_time && in->full_mode && !in->idle)
		add(in, TYPE_CPU, ns);
	if (in->has_bytes)
		add(in, TYPE_MEMORY, in->bytes);
	in->open = false;
}

static void begin_sample(struct mojo *in)
{
	struct json_text name = { "", 0 };
	const char *thread;
	uint64_t tid;
	int64_t pid;

	finish_sample(in);
	pid = number(in, "a process");
	if (in->version >= 3)
		number(in, "an interpreter");
	thread = reader_string(&in->r, "a thread");
	if (thread)
		name = (struct json_text){ thread, strlen(thread) };
	if (!import_hex(name, &tid) || tid >= UINT32_MAX) /* the kernel's number, or a pthread's address */
		tid = PROFILE_NONE;
	in->pid = pid >= 0 && pid < UINT32_MAX ? (uint32_t)pid : PROFILE_NONE;
	in->thread = import_thread(in->p, in->pid, (uint32_t)tid, 0, tid == PROFILE_NONE ? import_text(in->p, name) : 0);
	in->open = true;
	in->stack = 0;
	in->idle = in->has_time = in->has_bytes = false;
	in->task_frames = 0;
}

static void push(struct mojo *in, uint32_t location)
{
	if (in->task_frames)
		in->task_frames--;
	else if (in->open)
		in->stack = import_stack(in->p, in->stack, location);
}

static void push_named(struct mojo *in, const char *name, enum profile_frame_kind kind)
{
	struct import_frame frame = { .name = profile_string(in->p, name), .module = PROFILE_NONE, .kind = kind };

	push(in, import_frame(in->p, &frame));
}

/* "main.py", "<frozen importlib>"; others are libraries. */
static bool is_script(const char *file)
{
	size_t len = strlen(file);

	return (len > 3 && strcmp(file + len - 3, ".py") == 0) || (len > 2 && *file == '<' && file[len - 1] == '>');
}

static void define_frame(struct mojo *in)
{
	struct import_frame frame = { .module = PROFILE_NONE, .kind = PROFILE_FRAME_INTERPRETED };
	int64_t key = number(in, "a frame's key"), line;

	frame.file = text_of(in, number(in, "a frame's file"));
	frame.name = text_of(in, number(in, "a frame's scope"));
	line = number(in, "a frame's line");
	for (unsigned i = 0; in->version >= 2 && i < 3; i++)
		number(in, "a frame's place");
	if (in->r.failed)
		return;
	if (!is_script(profile_text(in->p, frame.file)))
		frame.kind = PROFILE_FRAME_NATIVE;
	frame.line = line > 0 && line < UINT32_MAX ? (uint32_t)line : 0;
	*map_put(&in->frames, key_of(in, key), NULL) = (uint64_t)import_frame(in->p, &frame) + 1;
}

static struct err *use_frame(struct mojo *in)
{
	uint64_t offset = in->r.offset;
	int64_t key = number(in, "a frame's key");
	const uint64_t *location = map_get(&in->frames, key_of(in, key));

	if (in->r.failed)
		return NULL; /* said at the end */
	if (!location)
		return err_new(ERR_CORRUPT, "frame %" PRId64 " at offset %" PRIu64 " was not described before", key, offset);
	push(in, (uint32_t)(*location - 1));
	return NULL;
}

/* What the thread had last, in front of what follows; but not the native frames at its end, which are others now. */
static void repeat(struct mojo *in)
{
	const uint64_t *last = map_get(&in->last, in->thread);
	const struct profile *p = in->p;
	uint32_t stack = last ? (uint32_t)*last : 0;

	while (stack && p->locations.items[p->stacks.items[stack].location].kind != PROFILE_FRAME_INTERPRETED)
		stack = p->stacks.items[stack].parent;
	if (in->open && !in->stack)
		in->stack = stack;
}

static void take_metadata(struct mojo *in)
{
	const char *key = reader_string(&in->r, "a key"), *value = reader_string(&in->r, "a value");
	uint64_t us;

	if (!key || !value)
		return;
	if (strcmp(key, "mode") == 0) {
		in->cpu_mode = strcmp(value, "cpu") == 0;
		in->full_mode = strcmp(value, "full") == 0;
	} else if (strcmp(key, "duration") == 0 && import_number((struct json_text){ value, strlen(value) }, &us) &&
		   us < INT64_MAX / 1000) {
		in->facts->has_duration = true;
		in->facts->duration_ns = us * 1000;
	}
}

static void take_task(struct mojo *in, enum mojo_event event)
{
	number(in, "a task");
	if (event != MOJO_TASK_RUNNING)
		number(in, event == MOJO_TASK_STACK ? "a task's name" : "a task");
	if (event == MOJO_TASK_STACK) {
		int64_t frames = number(in, "a task's frames");

		in->task_frames = frames > 0 ? (uint64_t)frames : 0;
	}
}

static struct err *take_event(struct mojo *in)
{
	uint64_t offset = in->r.offset;
	enum mojo_event event = (enum mojo_event)reader_u8(&in->r, "an event");
	int64_t key;

	switch (event) {
	case MOJO_METADATA:
		take_metadata(in);
		return NULL;
	case MOJO_STACK:
		begin_sample(in);
		return NULL;
	case MOJO_FRAME:
		define_frame(in);
		return NULL;
	case MOJO_FRAME_INVALID:
		push_named(in, ":INVALID:", PROFILE_FRAME_MARKER);
		return NULL;
	case MOJO_FRAME_REF:
		return use_frame(in);
	case MOJO_FRAME_KERNEL: {
		const char *name = reader_string(&in->r, "a kernel's frame");

		push_named(in, name ? name : "", PROFILE_FRAME_KERNEL);
		return NULL;
	}
	case MOJO_GC:
		push_named(in, ":GC:", PROFILE_FRAME_RUNTIME);
		return NULL;
	case MOJO_IDLE:
		in->idle = true;
		return NULL;
	case MOJO_TIME:
		in->time_us = number(in, "a time");
		in->has_time = true;
		return NULL;
	case MOJO_MEMORY:
		in->bytes = number(in, "a size");
		in->has_bytes = true;
		return NULL;
	case MOJO_STRING:
		key = number(in, "a text's key");
		*map_put(&in->texts, key_of(in, key), NULL) = text(in, "a text");
		return NULL;
	case MOJO_STRING_REF:
		number(in, "a text's key");
		return NULL;
	case MOJO_REPEAT:
		repeat(in);
		return NULL;
	case MOJO_TASK_STACK:
	case MOJO_TASK_WAITER:
	case MOJO_TASK_RUNNING:
		take_task(in, event);
		return NULL;
	}
	return err_new(ERR_CORRUPT, "event %u at offset %" PRIu64 " is not known", event, offset);
}

static struct err *read_events(struct mojo *in)
{
	struct err *err = NULL;

	while (!err && !in->r.failed && reader_left(&in->r))
		err = take_event(in);
	if (!err)
		err = reader_check(&in->r);
	if (!err)
		finish_sample(in);
	return err;
}

static struct err *read_mojo(const struct import_input *input, struct profile *p, struct profile_facts *facts,
			     struct diag *diag)
{
	struct mojo in = { .p = p, .facts = facts, .types = { PROFILE_NONE, PROFILE_NONE, PROFILE_NONE } };
	struct err *err;
	int64_t version;

	(void)diag;
	reader_init(&in.r, input->data, input->len, /* big_endian= */ false);
	reader_skip(&in.r, 3, "the name of the format");
	version = number(&in, "the version");
	in.version = (uint64_t)version;
	if (!in.r.failed && (version < 1 || version > VERSION_LAST))
		err = err_new(ERR_UNSUPPORTED, "version %" PRId64 " of the format is not read, only 1 to %d", version, VERSION_LAST);
	else
		err = read_events(&in);
	map_deinit(&in.texts);
	map_deinit(&in.frames);
	map_deinit(&in.last);
	return err;
}

const struct importer import_mojo = {
	.name = "mojo",
	.what = "binary file of Austin, the Python sampler",
	.extensions = ".mojo",
	.carries = IMPORT_THREADS | IMPORT_LINES | IMPORT_TYPES,
	.recognise = recognise,
	.read = read_mojo,
};

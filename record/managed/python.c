/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python.c - CPython 3.6 to 3.13 and, by the offsets that it publishes, later ones.
 *
 *	_PyRuntime ─► interpreters ─► threads ─► frame ─► frame ─► … , each with its code object and the place in it
 *
 * Where the fields are differs from version to version, and is a table up to 3.12; from 3.13 on _PyRuntime begins with
 * _Py_DebugOffsets, which says it. A thread is found by its kernel id, which CPython keeps since 3.11; before, by its
 * pthread_t, in which the C library keeps that id.
 */
#include "record/managed/managed.h"

#include "formats/base/compiler.h"
#include "formats/base/memory.h"
#include "record/managed/managed_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INTERPRETERS_MAX 64
#define THREADS_MAX      4096
#define TEXT_MAX         512	    /* bytes of a name that are read */
#define TABLE_MAX        (64u << 10) /* bytes of a line table */
#define CODES_MAX        65536	    /* code objects that are remembered */
#define CHECK_NS         50000000   /* after which a code object is looked at again though nothing has changed */

enum symbol {
	SYMBOL_RUNTIME,	 /* 3.7 and on */
	SYMBOL_HEAD,	 /* 3.6 */
	SYMBOL_VERSION,	 /* 3.11 and on */
};

static const char *const symbols[] = { "_PyRuntime", "interp_head", "Py_Version", NULL };
static const char *const loops[] = { "_PyEval_EvalFrameDefault", NULL };

/* How the outermost frame that one call of the loop runs is marked. */
enum entry_mark {
	ENTRY_EACH,  /* each frame has a call of its own */
	ENTRY_FLAG,  /* by a flag in it */
	ENTRY_OWNER, /* by a frame behind it that belongs to the C stack */
};

/* Offsets in bytes. */
struct python_layout {
	uint16_t head;				   /* in _PyRuntime: the first interpreter */
	uint16_t interp_next, interp_threads;
	uint16_t thread_next, thread_id, native_id; /* native_id is 0 where there is none */
	uint16_t thread_frame;
	int16_t cframe_frame; /* in what thread_frame points to; -1: that is the frame */
	uint16_t frame_previous, frame_code, frame_ip, frame_cookie, frame_mark;
	uint8_t mark;	   /* enum entry_mark */
	uint8_t owner;	   /* of ENTRY_OWNER */
	uint8_t form;	   /* enum managed_lines_form */
	uint8_t unit;	   /* frame_ip is a number of so many bytes; 0: an address */
	uint16_t code_file, code_name, code_first_line, code_lines, code_start;
	uint16_t text_len, text_state, ascii_len, compact_len;
	uint16_t bytes_len, bytes_data;
};

#define OLD_COMMON                                                                              \
	.interp_next = 0, .interp_threads = 8, .thread_next = 8, .thread_frame = 24,            \
	.cframe_frame = -1, .frame_previous = 24, .frame_code = 32, .frame_cookie = 48,         \
	.mark = ENTRY_EACH, .text_len = 16, .text_state = 32, .ascii_len = 48, .compact_len = 72, \
	.bytes_len = 16, .bytes_data = 32

static const struct python_layout layouts[] = {
	[6] = { OLD_COMMON, .thread_id = 152, .frame_ip = 120, .unit = 1, .code_file = 96,
		.code_name = 104, .code_first_line = 36, .code_lines = 112 },
	[7] = { OLD_COMMON, .head = 24, .thread_id = 176, .frame_ip = 104, .unit = 1, .code_file = 96,
		.code_name = 104, .code_first_line = 36, .code_lines = 112 },
	[8] = { OLD_COMMON, .head = 32, .thread_id = 176, .frame_ip = 104, .unit = 1,
		.code_file = 104, .code_name = 112, .code_first_line = 40, .code_lines = 120 },
	[9] = { OLD_COMMON, .head = 32, .thread_id = 176, .frame_ip = 104, .unit = 1,
		.code_file = 104, .code_name = 112, .code_first_line = 40, .code_lines = 120 },
	[10] = { OLD_COMMON, .head = 32, .thread_id = 176, .frame_ip = 96, .unit = 2,
		 .form = MANAGED_LINES_LINETABLE, .code_file = 104, .code_name = 112,
		 .code_first_line = 40, .code_lines = 120 },
	[11] = { .head = 40, .interp_next = 0, .interp_threads = 16, .thread_next = 8,
		 .thread_id = 152, .native_id = 160, .thread_frame = 56, .cframe_frame = 8,
		 .frame_previous = 48, .frame_code = 32, .frame_ip = 56, .frame_cookie = 0,
		 .frame_mark = 68, .mark = ENTRY_FLAG, .form = MANAGED_LINES_LOCATIONS,
		 .code_file = 112, .code_name = 128, .code_first_line = 72, .code_lines = 136,
		 .code_start = 184, .text_len = 16, .text_state = 32, .ascii_len = 48,
		 .compact_len = 72, .bytes_len = 16, .bytes_data = 32 },
	[12] = { .head = 40, .interp_next = 0, .interp_threads = 72, .thread_next = 8,
		 .thread_id = 136, .native_id = 144, .thread_frame = 56, .cframe_frame = 0,
		 .frame_previous = 8, .frame_code = 0, .frame_ip = 56, .frame_cookie = 16,
		 .frame_mark = 70, .mark = ENTRY_OWNER, .owner = 3, .form = MANAGED_LINES_LOCATIONS,
		 .code_file = 112, .code_name = 128, .code_first_line = 68, .code_lines = 136,
		 .code_start = 192, .text_len = 16, .text_state = 32, .ascii_len = 40,
		 .compact_len = 56, .bytes_len = 16, .bytes_data = 32 },
};

#define FIRST_WITH_OFFSETS 13

/* A code object that was read. */
struct code {
	uint64_t addr;
	uint64_t cookie;       /* of what its fields held */
	uint64_t frame_cookie; /* what the last frame that ran it held beside it */
	uint64_t checked_ns;
	const char *name, *file;
	uint32_t first_line;
	struct managed_lines lines;
};

struct python {
	struct managed_host host;
	unsigned minor; /* of the version; FIRST_WITH_OFFSETS or more: layout comes from memory */
	bool has_layout;
	struct python_layout layout;
	uint64_t head_addr;	 /* of the pointer to the first interpreter */
	struct map threads;	 /* tid -> address of its thread state */
	struct map codes;	 /* address -> struct code * */
	uint16_t pthread_tid;	 /* offset of the kernel's id in a pthread_t's structure; 0: not known yet */
	uint64_t now_ns;	 /* of this reading */
	uint8_t table[TABLE_MAX]; /* the line table that is being read */
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool is_file(const char *name)
{
	return strncmp(name, "python", 6) == 0 || strncmp(name, "libpython", 9) == 0 ||
	       strncmp(name, "uwsgi", 5) == 0;
}

/* 11 of "libpython3.11.so.1.0"; 0 if the name does not say. */
static unsigned minor_in(const char *name)
{
	const char *version = strstr(name, "python3.");
	unsigned minor = 0;

	if (version)
		sscanf(version + 8, "%2u", &minor);
	return minor;
}

static void *python_open(const struct managed_host *host)
{
	const struct managed_symbol *found = host->binary->symbols;
	unsigned minor = minor_in(host->binary->name);
	bool old;

	if (found[SYMBOL_VERSION].word >> 24 == 3)
		minor = found[SYMBOL_VERSION].word >> 16 & 0xff;
	old = minor == 6;
	if (minor < 6 || !found[old ? SYMBOL_HEAD : SYMBOL_RUNTIME].found)
		return NULL;

	struct python *py = memory_zeroed(1, sizeof(*py));

	py->host = *host;
	py->minor = minor;
	py->head_addr = found[old ? SYMBOL_HEAD : SYMBOL_RUNTIME].vaddr + host->bias;
	if (minor < FIRST_WITH_OFFSETS) {
		py->layout = layouts[minor];
		py->has_layout = true;
		py->head_addr += py->layout.head;
	}
	return py;
}

static void code_free(struct code *code)
{
	managed_lines_deinit(&code->lines);
	free(code);
}

static void forget_codes(struct python *py)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&py->codes, &pos));)
		code_free((struct code *)(uintptr_t)slot->value);
	map_clear(&py->codes);
}

static void python_close(void *state)
{
	struct python *py = state;

	forget_codes(py);
	map_deinit(&py->codes);
	map_deinit(&py->threads);
	free(py);
}

/* ---- _Py_DebugOffsets ------------------------------------------------------------------------------ */

/* Where in it an offset stands, in words of eight bytes from its beginning. */
enum published {
	PUBLISHED_COOKIE,
	PUBLISHED_VERSION,
	PUBLISHED_FREE_THREADED,
	PUBLISHED_HEAD = 5,
	PUBLISHED_INTERP_NEXT = 8,
	PUBLISHED_INTERP_THREADS,
	PUBLISHED_WORDS = 96, /* that are read: more than any version's part that is of use here */
};

/* What differs between versions is the number of fields of a group. */
struct published_groups {
	uint8_t thread, frame, code, bytes, text; /* first word of each: its size */
	uint8_t native_id;			  /* word of the thread group */
	uint8_t code_start;			  /* word of the code group */
};

static const struct published_groups groups_13 = {
	.thread = 19, .frame = 28, .code = 34, .bytes = 64, .text = 67, .native_id = 6, .code_start = 9
};

static bool read_layout(struct python *py, struct managed_view *view)
{
	const struct published_groups *g = &groups_13;
	uint64_t w[PUBLISHED_WORDS];
	struct python_layout *l = &py->layout;

	if (!managed_view_copy(view, py->head_addr, w, sizeof(w)) ||
	    memcmp(w, "xdebugpy", 8) != 0 || w[PUBLISHED_VERSION] >> 16 != (0x300u | py->minor))
		return false;
	/* Free-threaded builds move objects' headers, and run each thread on bytecode of its own from 3.14 on. */
	if (w[PUBLISHED_FREE_THREADED] && py->minor > 13)
		return false;
	for (size_t i = PUBLISHED_HEAD; i < g->text + 5u; i++) {
		if (w[i] > UINT32_MAX)
			return false;
	}
	*l = (struct python_layout){
		.interp_next = (uint16_t)w[PUBLISHED_INTERP_NEXT],
		.interp_threads = (uint16_t)w[PUBLISHED_INTERP_THREADS],
		.thread_next = (uint16_t)w[g->thread + 2],
		.thread_frame = (uint16_t)w[g->thread + 4],
		.thread_id = (uint16_t)w[g->thread + 5],
		.native_id = (uint16_t)w[g->thread + g->native_id],
		.cframe_frame = -1,
		.frame_previous = (uint16_t)w[g->frame + 1],
		.frame_code = (uint16_t)w[g->frame + 2],
		.frame_ip = (uint16_t)w[g->frame + 3],
		.frame_cookie = 16,
		.frame_mark = (uint16_t)w[g->frame + 5],
		.mark = ENTRY_OWNER,
		.owner = 3,
		.form = MANAGED_LINES_LOCATIONS,
		.code_file = (uint16_t)w[g->code + 1],
		.code_name = (uint16_t)w[g->code + 3],
		.code_lines = (uint16_t)w[g->code + 4],
		.code_first_line = (uint16_t)w[g->code + 5],
		.code_start = (uint16_t)w[g->code + g->code_start],
		.bytes_len = (uint16_t)w[g->bytes + 1],
		.bytes_data = (uint16_t)w[g->bytes + 2],
		.text_state = (uint16_t)w[g->text + 1],
		.text_len = (uint16_t)w[g->text + 2],
		.ascii_len = (uint16_t)w[g->text + 3],
		.compact_len = (uint16_t)(w[g->text + 3] + 16),
	};
	py->head_addr += w[PUBLISHED_HEAD];
	py->has_layout = true;
	return true;
}

/* ---- names ----------------------------------------------------------------------------------------- */

#define STATE_KIND(state)    ((state) >> 2 & 7)
#define STATE_COMPACT(state) ((state) >> 5 & 1)
#define STATE_ASCII(state)   ((state) >> 6 & 1)

/* Append the character as UTF-8; false if there is no room. */
static bool put_char(char *out, size_t cap, size_t *len, uint32_t c)
{
	unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const uint8_t heads[] = { 0, 0xc0, 0xe0, 0xf0 };

	if (*len + more + 1 > cap)
		return false;
	out[(*len)++] = (char)(heads[more] | (more ? c >> 6 * more : c));
	while (more-- > 0)
		out[(*len)++] = (char)(0x80 | (c >> 6 * more & 0x3f));
	return true;
}

/* The text of the str object at @addr, cut at TEXT_MAX; "" if it cannot be read. */
static const char *read_text(struct python *py, struct managed_view *view, uint64_t addr)
{
	const struct python_layout *l = &py->layout;
	uint64_t len;
	uint32_t state;
	uint8_t raw[TEXT_MAX];
	char text[TEXT_MAX];
	size_t out = 0;

	if (!managed_view_try(view, addr + l->text_len, &len, sizeof(len)) ||
	    !managed_view_try(view, addr + l->text_state, &state, sizeof(state)))
		return "";
	uint32_t width = STATE_KIND(state);

	if (!STATE_COMPACT(state) || (width != 1 && width != 2 && width != 4))
		return "";
	size_t count = (size_t)MIN(len, (uint64_t)(TEXT_MAX / width));

	if (!managed_view_try(view, addr + (STATE_ASCII(state) ? l->ascii_len : l->compact_len), raw,
			      count * width))
		return "";
	for (size_t i = 0; i < count; i++) {
		uint32_t c = 0;

		memcpy(&c, raw + i * width, width);
		if (c > 0x10ffff || !put_char(text, sizeof(text), &out, c))
			break;
	}
	return managed_names_keep(py->host.names, text, out);
}

/* What tells this code object from one that lies there later. */
static uint64_t cookie_of(struct python *py, struct managed_view *view, uint64_t addr)
{
	const struct python_layout *l = &py->layout;
	uint64_t name = managed_view_u64(view, addr + l->code_name);
	uint64_t file = managed_view_u64(view, addr + l->code_file);
	uint64_t lines = managed_view_u64(view, addr + l->code_lines);
	uint32_t first_line = managed_view_u32(view, addr + l->code_first_line);

	return map_hash(name ^ map_hash(file ^ map_hash(lines ^ first_line)));
}

static void read_lines(struct python *py, struct managed_view *view, struct code *code)
{
	const struct python_layout *l = &py->layout;
	uint64_t table = managed_view_u64(view, code->addr + l->code_lines);
	uint64_t len;

	if (managed_view_try(view, table + l->bytes_len, &len, sizeof(len)) &&
	    len <= sizeof(py->table) &&
	    managed_view_try(view, table + l->bytes_data, py->table, (size_t)len))
		managed_lines_decode(&code->lines, (enum managed_lines_form)l->form, py->table,
				     (size_t)len, code->first_line);
}

static struct code *read_code(struct python *py, struct managed_view *view, uint64_t addr)
{
	const struct python_layout *l = &py->layout;
	struct code *code = memory_zeroed(1, sizeof(*code));

	code->addr = addr;
	code->cookie = cookie_of(py, view, addr);
	code->first_line = managed_view_u32(view, addr + l->code_first_line);
	code->name = read_text(py, view, managed_view_u64(view, addr + l->code_name));
	code->file = read_text(py, view, managed_view_u64(view, addr + l->code_file));
	read_lines(py, view, code);
	return code;
}

/* What runs in the frame at @frame; NULL if the view failed. */
static struct code *find_code(struct python *py, struct managed_view *view, uint64_t addr,
			      uint64_t frame_cookie)
{
	uint64_t *slot = map_get(&py->codes, addr);
	struct code *code = slot ? (struct code *)(uintptr_t)*slot : NULL;

	if (code && code->frame_cookie == frame_cookie && py->now_ns - code->checked_ns < CHECK_NS)
		return code;
	if (code && cookie_of(py, view, addr) != code->cookie) {
		map_remove(&py->codes, addr);
		code_free(code);
		code = NULL;
	}
	if (!code) {
		if (py->codes.len >= CODES_MAX)
			forget_codes(py);
		code = read_code(py, view, addr);
		*map_put(&py->codes, addr, NULL) = (uintptr_t)code;
		/* What could not be read this time is tried again. */
		if (!*code->name)
			code->cookie = ~code->cookie;
	}
	code->frame_cookie = frame_cookie;
	code->checked_ns = py->now_ns;
	return view->failed ? NULL : code;
}

/* ---- threads --------------------------------------------------------------------------------------- */

/* Where C libraries keep the kernel's id in the structure behind a pthread_t: glibc on x86-64, aarch64; musl. */
static const uint16_t pthread_tids[] = { 720, 208, 48, 56 };

static bool pthread_is(struct python *py, struct managed_view *view, uint64_t pthread, uint32_t tid)
{
	uint32_t found;

	if (py->pthread_tid)
		return managed_view_try(view, pthread + py->pthread_tid, &found, sizeof(found)) &&
		       found == tid;
	for (size_t i = 0; i < ARRAY_LEN(pthread_tids); i++) {
		if (!managed_view_try(view, pthread + pthread_tids[i], &found, sizeof(found)) ||
		    found != tid)
			continue;
		py->pthread_tid = pthread_tids[i];
		return true;
	}
	return false;
}

static bool thread_is(struct python *py, struct managed_view *view, uint64_t thread, uint32_t tid)
{
	const struct python_layout *l = &py->layout;
	uint64_t id;

	if (!managed_view_try(view, thread + (l->native_id ? l->native_id : l->thread_id), &id,
			      sizeof(id)))
		return false;
	return l->native_id ? id == tid : pthread_is(py, view, id, tid);
}

/* The state of thread @tid among those of one interpreter; 0 if it is not there. */
static uint64_t search_threads(struct python *py, struct managed_view *view, uint64_t interp,
			       uint32_t tid)
{
	uint64_t thread = managed_view_u64(view, interp + py->layout.interp_threads);

	for (unsigned i = 0; thread && i < THREADS_MAX && !view->failed; i++) {
		if (thread_is(py, view, thread, tid))
			return thread;
		thread = managed_view_u64(view, thread + py->layout.thread_next);
	}
	return 0;
}

static uint64_t find_thread(struct python *py, struct managed_view *view, uint32_t tid)
{
	const uint64_t *known = map_get(&py->threads, tid);

	if (known && thread_is(py, view, *known, tid))
		return *known;
	map_remove(&py->threads, tid);

	uint64_t interp = managed_view_u64(view, py->head_addr);

	for (unsigned i = 0; interp && i < INTERPRETERS_MAX && !view->failed; i++) {
		uint64_t thread = search_threads(py, view, interp, tid);

		if (thread) {
			*map_put(&py->threads, tid, NULL) = thread;
			return thread;
		}
		interp = managed_view_u64(view, interp + py->layout.interp_next);
	}
	return 0;
}

/* ---- frames ---------------------------------------------------------------------------------------- */

/* How far into its code, in bytes, the frame at @frame is. */
static uint32_t offset_of(struct python *py, struct managed_view *view, uint64_t frame,
			  const struct code *code)
{
	const struct python_layout *l = &py->layout;
	int64_t offset;

	if (l->unit)
		offset = (int64_t)(int32_t)managed_view_u32(view, frame + l->frame_ip) * l->unit;
	else
		offset = (int64_t)(managed_view_u64(view, frame + l->frame_ip) - code->addr -
				   l->code_start);
	return offset < 0 || offset > INT32_MAX ? 0 : (uint32_t)offset;
}

/* Is the frame one that belongs to the C stack, where a call of the loop began? */
static bool is_mark(struct python *py, struct managed_view *view, uint64_t frame)
{
	return py->layout.mark == ENTRY_OWNER &&
	       managed_view_u8(view, frame + py->layout.frame_mark) >= py->layout.owner;
}

static void add_frame(struct python *py, struct managed_view *view, uint64_t frame,
		      struct managed_stack *ret)
{
	const struct python_layout *l = &py->layout;
	uint64_t addr = managed_view_u64(view, frame + l->frame_code) & ~(uint64_t)1;
	const struct code *code =
		find_code(py, view, addr, managed_view_u64(view, frame + l->frame_cookie));

	if (!code)
		return;
	ret->frames[ret->nframes++] = (struct event_managed_frame){
		.name = code->name,
		.file = code->file,
		.first_line = code->first_line,
		.line = managed_lines_find(&code->lines, offset_of(py, view, frame, code)),
		.entry = l->mark == ENTRY_EACH ||
			 (l->mark == ENTRY_FLAG && managed_view_u8(view, frame + l->frame_mark)),
	};
}

static void read_frames(struct python *py, struct managed_view *view, uint64_t frame,
			struct managed_stack *ret)
{
	while (frame && !view->failed) {
		if (ret->nframes == EVENT_MANAGED_FRAMES_MAX) {
			ret->state = EVENT_MANAGED_CUT;
			return;
		}
		if (!is_mark(py, view, frame))
			add_frame(py, view, frame, ret);
		else if (ret->nframes)
			ret->frames[ret->nframes - 1].entry = true;
		uint64_t previous = managed_view_u64(view, frame + py->layout.frame_previous);

		if (previous == frame)
			view->failed = true;
		frame = previous;
	}
}

static void python_read(void *state, uint32_t tid, struct managed_view *view,
			struct managed_stack *ret)
{
	struct python *py = state;

	ret->nframes = 0;
	ret->state = EVENT_MANAGED_FAILED;
	if (!py->has_layout && !read_layout(py, view))
		return;
	py->now_ns = now_ns();

	uint64_t thread = find_thread(py, view, tid);
	uint64_t frame = thread ? managed_view_u64(view, thread + py->layout.thread_frame) : 0;

	if (frame && py->layout.cframe_frame >= 0)
		frame = managed_view_u64(view, frame + (uint64_t)py->layout.cframe_frame);
	if (view->failed)
		return;
	ret->state = EVENT_MANAGED_WHOLE;
	read_frames(py, view, frame, ret);
	if (view->failed) {
		ret->state = EVENT_MANAGED_FAILED;
		ret->nframes = 0;
	} else if (!ret->nframes) {
		ret->state = EVENT_MANAGED_NO_FRAMES;
	}
}

const struct managed_runtime managed_python = {
	.id = EVENT_MANAGED_PYTHON,
	.symbols = symbols,
	.loops = loops,
	.is_file = is_file,
	.open = python_open,
	.close = python_close,
	.read = python_read,
};

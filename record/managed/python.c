/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python.c - CPython 3.6 to 3.15.
 *
 *	_PyRuntime ─► interpreters ─► threads ─► frame ─► frame ─► … , each with its code object and the place in it
 *
 * Where the fields are differs from version to version, and is a table up to 3.12; from 3.13 on _PyRuntime begins with
 * _Py_DebugOffsets, which says it. The layout of _Py_DebugOffsets itself is the same only within a version, so
 * unknown later versions are refused. A thread is found by its kernel id, which CPython keeps since 3.11; before, by its
 * pthread_t, in which the C library keeps that id.
 */
#include "record/managed/managed.h"

#include "formats/base/clock.h"
#include "formats/base/compiler.h"
#include "formats/base/memory.h"
#include "record/managed/managed_lines.h"
#include "record/managed/pthread_tid.h"
#include "record/managed/python_task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTERPRETERS_MAX 64
#define THREADS_MAX      4096
#define TABLE_MAX        (64u << 10) /* bytes of a line table */
#define LOCALS_MAX	 32	    /* variables of a frame that are looked at */
#define LOCALS_TEXT	 1024
#define CODES_MAX        65536	    /* code objects that are remembered */
#define CHECK_NS         50000000   /* a code object is verified again after this time even without signs of change */

enum symbol {
	SYMBOL_RUNTIME,	 /* 3.7 and on */
	SYMBOL_HEAD,	 /* 3.6 */
	SYMBOL_VERSION,	 /* 3.11 and on */
};

static const char *const symbols[] = { "_PyRuntime", "interp_head", "Py_Version", NULL };
static const char *const loops[] = { "_PyEval_EvalFrameDefault", NULL };

#define SAME_OBJECTS .tuple_len = 16, .tuple_items = 24, .object_type = 8, .type_name = 24

#define OLD_COMMON                                                                              \
	.interp_next = 0, .interp_threads = 8, .thread_next = 8, .thread_frame = 24,            \
	.cframe_frame = -1, .frame_previous = 24, .frame_code = 32, .frame_cookie = 48,         \
	.mark = ENTRY_EACH, .text_len = 16, .text_state = 32, .ascii_len = 48, .compact_len = 72, \
	.bytes_len = 16, .bytes_data = 32, SAME_OBJECTS

static const struct python_layout layouts[] = {
	[6] = { OLD_COMMON, .thread_id = 152, .frame_ip = 120, .unit = 1, .code_file = 96,
		.code_name = 104, .code_first_line = 36, .code_lines = 112, .frame_locals = 376,
		.code_locals = 64 },
	[7] = { OLD_COMMON, .head = 24, .thread_id = 176, .frame_ip = 104, .unit = 1, .code_file = 96,
		.code_name = 104, .code_first_line = 36, .code_lines = 112, .frame_locals = 360,
		.code_locals = 64 },
	[8] = { OLD_COMMON, .current = 1368, .collecting = 544, .head = 32, .thread_id = 176, .frame_ip = 104, .unit = 1,
		.code_file = 104, .code_name = 112, .code_first_line = 40, .code_lines = 120,
		.frame_locals = 360, .code_locals = 72 },
	[9] = { OLD_COMMON, .current = 568, .thread_interp = 16, .collecting = 816, .head = 32, .thread_id = 176, .frame_ip = 104, .unit = 1,
		.code_file = 104, .code_name = 112, .code_first_line = 40, .code_lines = 120,
		.frame_locals = 360, .code_locals = 72 },
	[10] = { OLD_COMMON, .current = 568, .thread_interp = 16, .collecting = 816, .head = 32, .thread_id = 176, .frame_ip = 96, .unit = 2,
		 .form = MANAGED_LINES_LINETABLE, .code_file = 104, .code_name = 112,
		 .code_first_line = 40, .code_lines = 120, .frame_locals = 352, .code_locals = 72 },
	[11] = { .head = 40, .current = 576, .thread_interp = 16, .collecting = 848, .interp_next = 0, .interp_threads = 16, .thread_next = 8,
		 .thread_id = 152, .native_id = 160, .thread_frame = 56, .cframe_frame = 8,
		 .frame_previous = 48, .frame_code = 32, .frame_ip = 56, .frame_cookie = 0,
		 .frame_mark = 68, .mark = ENTRY_FLAG, .form = MANAGED_LINES_LOCATIONS,
		 .code_file = 112, .code_name = 128, .code_first_line = 72, .code_lines = 136,
		 .code_start = 184, .text_len = 16, .text_state = 32, .ascii_len = 48,
		 .compact_len = 72, .bytes_len = 16, .bytes_data = 32, .frame_locals = 72,
		 .code_locals = 96, SAME_OBJECTS },
	[12] = { .head = 40, .thread_interp = 16, .collecting = 312, .gil = 384, .gil_holder = 8, .gil_locked = 16,
		 .interp_next = 0, .interp_threads = 72, .thread_next = 8,
		 .thread_id = 136, .native_id = 144, .thread_frame = 56, .cframe_frame = 0,
		 .frame_previous = 8, .frame_code = 0, .frame_ip = 56, .frame_cookie = 16,
		 .frame_mark = 70, .mark = ENTRY_OWNER, .owner = 3, .form = MANAGED_LINES_LOCATIONS,
		 .code_file = 112, .code_name = 128, .code_first_line = 68, .code_lines = 136,
		 .code_start = 192, .text_len = 16, .text_state = 32, .ascii_len = 40,
		 .compact_len = 56, .bytes_len = 16, .bytes_data = 32, .frame_locals = 72,
		 .code_locals = 96, SAME_OBJECTS },
};

#define FIRST_WITH_OFFSETS 13
#define LAST_KNOWN	   15

/* A code object that was read. */
struct code {
	uint64_t addr;
	uint64_t cookie;       /* of what its fields held */
	uint64_t frame_cookie; /* what the last frame that ran it held beside it */
	uint64_t checked_ns;
	const char *name, *file;
	uint32_t first_line;
	bool runs_task; /* of asyncio, above it */
	struct managed_lines lines;
};

/* A frame as it was found; its code is looked up when all are there. */
struct python_frame {
	uint64_t addr;
	uint64_t code;
	uint64_t cookie;
	uint64_t ip;
	uint32_t tlbc;
	bool entry;
	const struct code *fresh; /* what it runs, if that needs no other look */
};

struct python {
	struct managed_host host;
	unsigned minor; /* of the version; FIRST_WITH_OFFSETS or more: layout comes from memory */
	bool has_layout;
	struct python_layout layout;
	uint64_t head_addr;	 /* of the pointer to the first interpreter */
	uint64_t runtime_addr;	 /* of _PyRuntime, up to 3.12 */
	struct map threads;	 /* tid -> address of its thread state */
	struct map codes;	 /* address -> struct code * */
	struct python_tasks tasks;
	uint16_t pthread_tid;	 /* offset of the kernel's id in a pthread_t's structure; 0: not known yet */
	uint64_t now_ns;	 /* of this reading */
	uint8_t table[TABLE_MAX]; /* the line table that is being read */
	size_t frame_len;	 /* bytes of a frame that have all of its fields */
	struct python_frame frames[EVENT_MANAGED_FRAMES_MAX]; /* innermost first */
};

static bool is_file(const char *name)
{
	return strncmp(name, "python", 6) == 0 || strncmp(name, "libpython", 9) == 0 ||
	       strncmp(name, "uwsgi", 5) == 0;
}

/* 11 of "libpython3.11.so.1.0", or of a program with another name what it says in itself; 0 if neither does. */
static unsigned minor_of(const struct managed_binary *binary)
{
	const char *version = strstr(binary->name, "python3.");
	unsigned minor = 0;

	sscanf(version ? version + strlen("python3.") : binary->banner, "%2u", &minor);
	return minor;
}

/* How much of a frame has all fields that are read. */
static size_t frame_len(const struct python_layout *l)
{
	size_t len = MAX(l->frame_previous, l->frame_code);

	len = MAX(len, (size_t)MAX(l->frame_ip, l->frame_cookie)) + 8;
	len = MAX(len, (size_t)l->frame_mark + 1);
	return MAX(len, (size_t)l->frame_tlbc + 4);
}

static void *python_open(const struct managed_host *host, const char **ret_why)
{
	const struct managed_symbol *found = host->binary->symbols;
	unsigned minor = minor_of(host->binary);
	bool old;

	if (found[SYMBOL_VERSION].word >> 24 == 3)
		minor = found[SYMBOL_VERSION].word >> 16 & 0xff;
	old = minor == 6;
	if (minor < 6 || minor > LAST_KNOWN)
		*ret_why = "the version of CPython is not known; 3.6 to 3.15 are";
	else if (!found[old ? SYMBOL_HEAD : SYMBOL_RUNTIME].found)
		*ret_why = "its symbols do not say where CPython keeps its state";
	if (*ret_why)
		return NULL;

	struct python *py = memory_zeroed(1, sizeof(*py));

	py->host = *host;
	py->minor = minor;
	py->head_addr = found[old ? SYMBOL_HEAD : SYMBOL_RUNTIME].vaddr + host->bias;
	if (minor < FIRST_WITH_OFFSETS) {
		py->layout = layouts[minor];
		py->has_layout = true;
		py->frame_len = frame_len(&py->layout);
		py->runtime_addr = py->head_addr;
		py->head_addr += py->layout.head;
	}
	return py;
}

static void code_free(struct code *code)
{
	managed_lines_deinit(&code->lines);
	free(code);
}

static size_t code_len(const struct code *code)
{
	return sizeof(*code) + MANAGED_SLOT_LEN + code->lines.ranges.cap * sizeof(*code->lines.ranges.items);
}

static void forget_code(struct python *py, struct code *code)
{
	managed_names_give(py->host.names, code_len(code));
	code_free(code);
}

static void forget_codes(struct python *py)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&py->codes, &pos));)
		forget_code(py, (struct code *)(uintptr_t)slot->value);
	map_deinit(&py->codes);
	py->codes = (struct map){ 0 };
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
	PUBLISHED_WORDS = 104, /* that are read: more than any version's part that is of use here */
};

/* What differs between versions is the number of fields of a group. */
struct published_groups {
	uint8_t thread, frame, code, bytes, text; /* first word of each: its size */
	uint8_t thread_id;			  /* the word of a thread's pthread_t, before that of its kernel id */
	uint8_t frame_tlbc, code_tlbc;		  /* words, 0 if there are none */
	uint8_t object, type, tuple;
	uint8_t gil; /* three words: whether there is one, is it locked, who had it last */
	uint8_t gc, collecting; /* words: in the interpreter, and in that */
};

static const struct published_groups groups[] = {
	[13] = { .thread = 19, .thread_id = 24, .frame = 28, .code = 34, .bytes = 64, .text = 67, .object = 44, .type = 46,
		 .tuple = 50, .gil = 16, .gc = 10,
		 .collecting = 72 },
	[14] = { .thread = 22, .thread_id = 27, .frame = 31, .code = 39, .bytes = 74, .text = 77, .frame_tlbc = 38,
		 .code_tlbc = 49, .object = 50, .type = 52, .tuple = 56, .gil = 17, .gc = 11,
		 .collecting = 82 },
	[15] = { .thread = 22, .thread_id = 30, .frame = 39, .code = 47, .bytes = 86, .text = 89,
		 .frame_tlbc = 46, .code_tlbc = 57, .object = 58, .type = 60, .tuple = 68, .gil = 17, .gc = 11,
		 .collecting = 95 },
};

#define FRAME_LEN_MAX 256

/* The words of _Py_DebugOffsets; each is used only if it is plausible as an offset. */
struct published_words {
	uint64_t words[PUBLISHED_WORDS];
	bool bad;
};

static uint16_t offset_in(struct published_words *w, size_t i)
{
	w->bad |= w->words[i] > UINT16_MAX;
	return (uint16_t)w->words[i];
}

static struct python_layout layout_in(struct published_words *w, const struct published_groups *g)
{
	const uint16_t previous = offset_in(w, g->frame + 1u);
	const uint16_t text = offset_in(w, g->text + 3u);

	return (struct python_layout){
		.head = offset_in(w, PUBLISHED_HEAD),
		.interp_next = offset_in(w, PUBLISHED_INTERP_NEXT),
		.interp_threads = offset_in(w, PUBLISHED_INTERP_THREADS),
		.thread_next = offset_in(w, g->thread + 2u),
		.thread_frame = offset_in(w, g->thread + 4u),
		.thread_id = offset_in(w, g->thread_id),
		.native_id = offset_in(w, g->thread_id + 1u),
		.cframe_frame = -1,
		.frame_previous = previous,
		.frame_code = offset_in(w, g->frame + 2u),
		.frame_ip = offset_in(w, g->frame + 3u),
		.frame_cookie = (uint16_t)(previous + 8), /* f_funcobj */
		.frame_mark = offset_in(w, g->frame + 5u),
		.frame_tlbc = g->frame_tlbc ? offset_in(w, g->frame_tlbc) : 0,
		.mark = ENTRY_OWNER,
		.owner = 3, /* 3.13: FRAME_OWNED_BY_CSTACK; 3.14: that is 4, and 3 _BY_INTERPRETER, a trampoline below it; 3.15: only the latter */
		.form = MANAGED_LINES_LOCATIONS,
		.code_file = offset_in(w, g->code + 1u),
		.code_name = offset_in(w, g->code + 3u),
		.code_lines = offset_in(w, g->code + 4u),
		.code_first_line = offset_in(w, g->code + 5u),
		.code_start = offset_in(w, g->code + 9u),
		.code_tlbc = g->code_tlbc ? offset_in(w, g->code_tlbc) : 0,
		.bytes_len = offset_in(w, g->bytes + 1u),
		.bytes_data = offset_in(w, g->bytes + 2u),
		.text_state = offset_in(w, g->text + 1u),
		.text_len = offset_in(w, g->text + 2u),
		.ascii_len = text,
		.compact_len = (uint16_t)(text + 16),
		.frame_locals = offset_in(w, g->frame + 4u),
		.code_locals = offset_in(w, g->code + 7u),
		.object_type = offset_in(w, g->object + 1u),
		.type_name = offset_in(w, g->type + 1u),
		.tuple_items = offset_in(w, g->tuple + 1u),
		.tuple_len = offset_in(w, g->tuple + 2u),
		.thread_interp = offset_in(w, g->thread + 3u),
		/* Unlike the others it is published as one in the lock, which the word before says where it is. */
		.gil_enabled = w->words[PUBLISHED_FREE_THREADED] ?
				       (uint16_t)(offset_in(w, g->gil - 1u) + offset_in(w, g->gil)) :
				       0,
		.gil_locked = offset_in(w, g->gil + 1u),
		.gil_holder = offset_in(w, g->gil + 2u),
		.collecting = (uint16_t)(offset_in(w, g->gc) + offset_in(w, g->collecting)),
	};
}

static bool read_layout(struct python *py, struct managed_view *view)
{
	struct published_words w = { .bad = false };

	if (!managed_view_copy(view, py->head_addr, w.words, sizeof(w.words)) ||
	    memcmp(w.words, "xdebugpy", 8) != 0 ||
	    w.words[PUBLISHED_VERSION] >> 16 != (0x300u | py->minor))
		return false;
	struct python_layout layout = layout_in(&w, &groups[py->minor]);

	/* No structure begins with these fields. */
	if (w.bad || !layout.head || !layout.thread_frame || !layout.code_file || !layout.code_name ||
	    !layout.frame_previous || frame_len(&layout) > FRAME_LEN_MAX)
		return false;
	py->layout = layout;
	py->frame_len = frame_len(&layout);
	py->head_addr += layout.head;
	py->has_layout = true;
	return true;
}

/* ---- names ----------------------------------------------------------------------------------------- */

/* Distinguishes this code object from a later one at its address. */
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

/* The code object at @addr, as far as it could be read; NULL, and not cached, if the view failed. */
static struct code *read_code(struct python *py, struct managed_view *view, uint64_t addr)
{
	const struct python_layout *l = &py->layout;
	struct code *code = memory_zeroed(1, sizeof(*code));

	code->addr = addr;
	code->cookie = cookie_of(py, view, addr);
	code->first_line = managed_view_u32(view, addr + l->code_first_line);
	code->name = python_text(&py->layout, py->host.names, view, managed_view_u64(view, addr + l->code_name));
	code->file = python_text(&py->layout, py->host.names, view, managed_view_u64(view, addr + l->code_file));
	code->runs_task = python_task_is_run(code->name, code->file);
	read_lines(py, view, code);
	if (view->failed) {
		code_free(code);
		return NULL;
	}
	/* What lay in pages that were not in memory is tried again. */
	if (!*code->name || !*code->file || !code->lines.ranges.len)
		code->cookie = ~code->cookie;
	return code;
}

static struct code *known_code(const struct python *py, uint64_t addr)
{
	const uint64_t *slot = map_get(&py->codes, addr);

	return slot ? (struct code *)(uintptr_t)*slot : NULL;
}

/* Is the cached code object valid for this frame without verification? */
static bool is_fresh(const struct python *py, const struct code *code, uint64_t frame_cookie)
{
	return code && code->frame_cookie == frame_cookie && py->now_ns - code->checked_ns < CHECK_NS;
}

static void remember_code(struct python *py, struct code *code)
{
	managed_names_take(py->host.names, code_len(code));
	*map_put(&py->codes, code->addr, NULL) = (uintptr_t)code;
}

/* The code that @frame runs; NULL if the view failed. */
static struct code *find_code(struct python *py, struct managed_view *view,
			      const struct python_frame *frame)
{
	struct code *code = known_code(py, frame->code);

	if (is_fresh(py, code, frame->cookie))
		return code;
	if (code && cookie_of(py, view, frame->code) != code->cookie) {
		map_remove(&py->codes, frame->code);
		forget_code(py, code);
		code = NULL;
	}
	if (!code && !view->failed) {
		if (py->codes.len >= CODES_MAX || managed_names_full(py->host.names))
			forget_codes(py);
		code = read_code(py, view, frame->code);
		if (code)
			remember_code(py, code);
	}
	if (!code || view->failed)
		return NULL;
	code->frame_cookie = frame->cookie;
	code->checked_ns = py->now_ns;
	return code;
}

/* ---- threads --------------------------------------------------------------------------------------- */

static bool pthread_is(struct python *py, struct managed_view *view, uint64_t pthread, uint32_t tid)
{
	uint32_t found;

	if (py->pthread_tid)
		return managed_view_try(view, pthread + py->pthread_tid, &found, sizeof(found)) &&
		       found == tid;
	py->pthread_tid = pthread_tid_find(view, pthread, tid);
	return py->pthread_tid;
}

/* How a thread's state is identified. */
enum thread_key {
	KEY_OWN,     /* the kernel's number, which CPython keeps there from 3.11 on; before, as KEY_PTHREAD */
	KEY_PTHREAD, /* the pthread_t, in which the C library has that number */
};

static bool thread_is(struct python *py, struct managed_view *view, uint64_t thread, uint32_t tid, enum thread_key key)
{
	const struct python_layout *l = &py->layout;
	bool native = l->native_id && key == KEY_OWN;
	uint64_t id;

	if (!managed_view_try(view, thread + (native ? l->native_id : l->thread_id), &id, sizeof(id)))
		return false;
	return native ? id == tid : pthread_is(py, view, id, tid);
}

/* The state of thread @tid among those of one interpreter; 0 if it is not there. */
static uint64_t search_threads(struct python *py, struct managed_view *view, uint64_t interp, uint32_t tid,
			       enum thread_key key)
{
	uint64_t thread = managed_view_u64(view, interp + py->layout.interp_threads);

	for (unsigned i = 0; thread && i < THREADS_MAX && !view->failed; i++) {
		if (thread_is(py, view, thread, tid, key))
			return thread;
		thread = managed_view_u64(view, thread + py->layout.thread_next);
	}
	return 0;
}

static uint64_t search_interpreters(struct python *py, struct managed_view *view, uint32_t tid, enum thread_key key)
{
	uint64_t interp = managed_view_u64(view, py->head_addr), thread = 0;

	for (unsigned i = 0; interp && !thread && i < INTERPRETERS_MAX && !view->failed; i++) {
		thread = search_threads(py, view, interp, tid, key);
		interp = managed_view_u64(view, interp + py->layout.interp_next);
	}
	return thread;
}

/* In a process forked by C code, such as a uWSGI worker, the first thread state has the number of the parent's thread. */
static bool may_be_forked(const struct python *py, uint32_t tid)
{
	return py->layout.native_id && tid == py->host.pid;
}

/* Then a thread may have a state in each. */
static bool has_several_interpreters(struct python *py, struct managed_view *view)
{
	uint64_t newest = managed_view_u64(view, py->head_addr), older = 0;

	return newest && managed_view_try(view, newest + py->layout.interp_next, &older, sizeof(older)) && older;
}

/* Of several, that in the newest interpreter. */
static uint64_t find_thread(struct python *py, struct managed_view *view, uint32_t tid)
{
	const uint64_t *known = map_get(&py->threads, tid);

	if (known && !has_several_interpreters(py, view) &&
	    (thread_is(py, view, *known, tid, KEY_OWN) ||
		      (may_be_forked(py, tid) && thread_is(py, view, *known, tid, KEY_PTHREAD))))
		return *known;
	map_remove(&py->threads, tid);
	uint64_t thread = search_interpreters(py, view, tid, KEY_OWN);

	if (!thread && may_be_forked(py, tid))
		thread = search_interpreters(py, view, tid, KEY_PTHREAD);
	if (thread)
		*map_put(&py->threads, tid, NULL) = thread;
	return thread;
}

/* ---- frames ---------------------------------------------------------------------------------------- */

/* Where the instructions begin that the frame runs: in the code object, or in the thread's copy of them; 0 if that is not there. */
static uint64_t start_of(struct python *py, struct managed_view *view,
			 const struct python_frame *frame)
{
	const struct python_layout *l = &py->layout;
	uint64_t copies, word;

	if (!frame->tlbc)
		return frame->code + l->code_start;
	/* The number of copies, then their addresses. */
	if (!managed_view_try(view, frame->code + l->code_tlbc, &copies, sizeof(copies)) ||
	    !managed_view_try(view, copies, &word, sizeof(word)) || frame->tlbc >= word ||
	    !managed_view_try(view, copies + 8 + 8ull * frame->tlbc, &word, sizeof(word)))
		return 0;
	return word;
}

static uint32_t line_of(struct python *py, struct managed_view *view,
			const struct python_frame *frame, const struct code *code)
{
	const struct python_layout *l = &py->layout;
	uint64_t start = l->unit ? 0 : start_of(py, view, frame);
	int64_t offset;

	if (l->unit)
		offset = (int64_t)(int32_t)frame->ip * l->unit;
	else
		offset = start ? (int64_t)(frame->ip - start) : -1;
	if (!l->unit && !start)
		return 0;
	return managed_lines_find(&code->lines,
				  offset < 0 || offset > INT32_MAX ? 0 : (uint32_t)offset);
}

/* Take the frame down, unless it is one that belongs to the C stack, where a call of the loop began. */
static void take_frame(struct python *py, uint64_t addr, const uint8_t *bytes, size_t *count)
{
	const struct python_layout *l = &py->layout;
	struct python_frame *frame = &py->frames[*count];

	if (l->mark == ENTRY_OWNER && bytes[l->frame_mark] >= l->owner) {
		if (*count)
			frame[-1].entry = true;
		return;
	}
	*frame = (struct python_frame){
		.addr = addr,
		.code = managed_word(bytes, l->frame_code) & ~(uint64_t)3, /* 3.14 has tags there */
		.cookie = managed_word(bytes, l->frame_cookie),
		.ip = l->unit ? (uint32_t)managed_word(bytes, l->frame_ip) : managed_word(bytes, l->frame_ip),
		.entry = l->mark == ENTRY_EACH || (l->mark == ENTRY_FLAG && bytes[l->frame_mark]),
	};
	if (l->frame_tlbc)
		memcpy(&frame->tlbc, bytes + l->frame_tlbc, sizeof(frame->tlbc));
	++*count;
}

/* The frames from the one at @frame on; how many. */
static size_t walk(struct python *py, struct managed_view *view, uint64_t frame,
		   enum event_managed_state *ret_state)
{
	uint8_t bytes[FRAME_LEN_MAX];
	size_t count = 0;

	*ret_state = EVENT_MANAGED_WHOLE;
	for (size_t steps = 0; frame && managed_view_copy(view, frame, bytes, py->frame_len); steps++) {
		uint64_t previous = managed_word(bytes, py->layout.frame_previous);

		/* Entry marks alone may form a cycle, too. */
		if (count == EVENT_MANAGED_FRAMES_MAX || steps == 2 * EVENT_MANAGED_FRAMES_MAX) {
			*ret_state = EVENT_MANAGED_CUT;
			break;
		}
		take_frame(py, frame, bytes, &count);
		if (previous == frame)
			view->failed = true;
		frame = previous;
	}
	return count;
}

/* Look up what the frames run, and read with one call what has to be looked at again; false: something has. */
static bool look_up_codes(struct python *py, struct managed_view *view, size_t count)
{
	bool fresh = true;

	for (size_t i = 0; i < count; i++) {
		struct python_frame *frame = &py->frames[i];

		frame->fresh = known_code(py, frame->code);
		if (is_fresh(py, frame->fresh, frame->cookie))
			continue;
		managed_view_want(view, frame->code + py->layout.code_name);
		fresh = false;
	}
	managed_view_fetch(view);
	return fresh;
}

/* "self: Job, n: int": those that have a value, and of what type; never the value. */
static const char *locals_of(struct python *py, struct managed_view *view, const struct python_frame *frame)
{
	const struct python_layout *l = &py->layout;
	uint64_t names, count, values[LOCALS_MAX], items[LOCALS_MAX];
	char text[LOCALS_TEXT];
	size_t len = 0;

	if (!managed_view_try(view, frame->code + l->code_locals, &names, sizeof(names)) ||
	    !managed_view_try(view, names + l->tuple_len, &count, sizeof(count)))
		return "";
	count = MIN(count, (uint64_t)LOCALS_MAX);
	if (!managed_view_try(view, names + l->tuple_items, items, (size_t)count * 8) ||
	    !managed_view_try(view, frame->addr + l->frame_locals, values, (size_t)count * 8))
		return "";
	for (size_t i = 0; i < count; i++) {
		uint64_t object = values[i] & ~(uint64_t)7;
		const char *type = object ? python_type(&py->layout, py->host.names, view, object) : "";
		int put = *type ? snprintf(text + len, sizeof(text) - len, "%s%s: %s", len ? ", " : "",
					   python_text(&py->layout, py->host.names, view, items[i]), type) :
				  0;

		if (put < 0 || (size_t)put >= sizeof(text) - len)
			break;
		len += (size_t)put;
	}
	return managed_names_keep(py->host.names, text, len);
}

/* *@ret_task is the number of the frame that runs asyncio's task, EVENT_MANAGED_FRAMES_MAX if there is none. */
static void name_frames(struct python *py, struct managed_view *view, size_t count, struct managed_stack *ret,
			size_t *ret_task)
{
	bool fresh = look_up_codes(py, view, count);

	*ret_task = EVENT_MANAGED_FRAMES_MAX;
	for (size_t i = 0; i < count; i++) {
		const struct python_frame *frame = &py->frames[i];
		/* Reading new code objects may evict cached ones. */
		const struct code *code = fresh ? frame->fresh : find_code(py, view, frame);

		if (!code)
			return;
		if (code->runs_task && *ret_task == EVENT_MANAGED_FRAMES_MAX)
			*ret_task = i;
		ret->frames[ret->nframes++] = (struct event_managed_frame){
			.name = code->name,
			.file = code->file,
			.first_line = code->first_line,
			.line = line_of(py, view, frame, code),
			.entry = frame->entry,
		};
	}
}

/* Of whole frames only, so that those stay what they are if there is no time left. */
static void name_locals(struct python *py, struct managed_view *view, struct managed_stack *ret)
{
	for (size_t i = 0; i < ret->nframes && !view->failed; i++)
		ret->frames[i].locals = locals_of(py, view, &py->frames[i]);
}

/* The thread state that has the interpreter's lock, 0 if none has; false if that is not known, or there is no such lock. */
static bool read_holder(struct python *py, struct managed_view *view, uint64_t thread, uint64_t *ret)
{
	const struct python_layout *l = &py->layout;
	uint64_t gil;
	uint32_t locked;

	if (l->current)
		return managed_view_try(view, py->runtime_addr + l->current, ret, sizeof(*ret));
	if (!l->gil_holder || !managed_view_try(view, thread + l->thread_interp, &gil, sizeof(gil)))
		return false;
	if (l->gil && !managed_view_try(view, gil + l->gil, &gil, sizeof(gil)))
		return false;
	/* Free-threaded: 0 until it is switched on. */
	if (l->gil_enabled &&
	    (!managed_view_try(view, gil + l->gil_enabled, &locked, sizeof(locked)) || !locked))
		return false;
	if (!managed_view_try(view, gil + l->gil_locked, &locked, sizeof(locked)) ||
	    !managed_view_try(view, gil + l->gil_holder, ret, sizeof(*ret)))
		return false;
	*ret = locked == 1 ? *ret : 0;
	return true;
}

/* Does another thread have it? */
static bool label_lock(struct python *py, struct managed_view *view, uint64_t thread, struct managed_stack *ret)
{
	uint64_t holder;

	if (!read_holder(py, view, thread, &holder))
		return false;
	ret->labels[ret->nlabels++] = (struct event_managed_label){
		.key = "gil",
		.text = !holder ? "free" : holder == thread ? "held" : "held by another thread",
	};
	return holder && holder != thread;
}

/* The handle whose method runs in @frame is its first variable. */
static void label_task(struct python *py, struct managed_view *view, const struct python_frame *frame,
		       struct managed_stack *ret)
{
	struct python_task_names names;
	uint64_t self;

	if (!managed_view_try(view, frame->addr + py->layout.frame_locals, &self, sizeof(self)) ||
	    !python_task_of(&py->tasks, &py->layout, py->minor, py->host.names, view, self & ~(uint64_t)7, &names))
		return;
	ret->labels[ret->nlabels++] = (struct event_managed_label){ .key = "task", .text = names.name };
	if (names.awaiters)
		ret->labels[ret->nlabels++] =
			(struct event_managed_label){ .key = "awaiters", .text = names.awaiters };
}

/*
 * From 3.8 on: a collection of garbage goes on in the thread's interpreter, or (3.8) in the process, and so in the thread that has the lock;
 * those that wait for it do not collect.
 */
static void label_collection(struct python *py, struct managed_view *view, uint64_t thread,
			     struct managed_stack *ret)
{
	const struct python_layout *l = &py->layout;
	uint64_t home = py->runtime_addr;
	uint32_t collecting = 0;

	if (!l->collecting || (l->thread_interp && !managed_view_try(view, thread + l->thread_interp, &home, sizeof(home))))
		return;
	if (managed_view_try(view, home + l->collecting, &collecting, sizeof(collecting)) && collecting == 1)
		ret->labels[ret->nlabels++] = (struct event_managed_label){ .key = "gc", .text = "collecting" };
}

/* Its frames from @frame on, and what they run. *@ret_task as of name_frames(). */
static void read_frames(struct python *py, struct managed_view *view, uint64_t frame, struct managed_stack *ret, size_t *ret_task)
{
	ret->nframes = 0;
	size_t count = walk(py, view, frame, &ret->state);

	name_frames(py, view, count, ret, ret_task);
}

/*
 * 3.11 and 3.12 note the frame in a structure of each call of the loop, and that in the thread's state, which for some instructions
 * has one in which nothing is noted yet: what runs then is what the call before it noted.
 */
static void read_cframe(struct python *py, struct managed_view *view, uint64_t cframe, struct managed_stack *ret, size_t *ret_task)
{
	uint64_t at = cframe + (uint64_t)py->layout.cframe_frame;
	uint64_t frame = managed_view_u64(view, at), previous = managed_view_u64(view, at + 8);

	if (view->failed)
		return;
	read_frames(py, view, frame, ret, ret_task);
	if (!previous || (ret->nframes && !view->failed))
		return;
	/* If it was for time that it failed, it does so again. */
	view->failed = false;
	read_frames(py, view, managed_view_u64(view, previous + (uint64_t)py->layout.cframe_frame), ret, ret_task);
}

/* Append the frames of @thread. */
static void append_frames(struct python *py, struct managed_view *view, uint64_t thread, struct managed_stack *ret)
{
	uint64_t frame = managed_view_u64(view, thread + py->layout.thread_frame);
	enum event_managed_state state;
	size_t task;

	if (frame && py->layout.cframe_frame >= 0)
		frame = managed_view_u64(view, frame + (uint64_t)py->layout.cframe_frame);
	size_t count = walk(py, view, frame, &state), room = EVENT_MANAGED_FRAMES_MAX - ret->nframes;

	if (state == EVENT_MANAGED_CUT || count > room)
		ret->state = EVENT_MANAGED_CUT;
	name_frames(py, view, MIN(count, room), ret, &task);
}

/* What @newest, a thread's state in the newest of its interpreters, was called from: code of older ones (Py_NewInterpreter()). */
static void read_older(struct python *py, struct managed_view *view, uint32_t tid, uint64_t newest, struct managed_stack *ret)
{
	uint64_t interp = managed_view_u64(view, py->head_addr);
	bool is_older = false;

	for (unsigned i = 0; interp && i < INTERPRETERS_MAX && !view->failed; i++) {
		uint64_t thread = search_threads(py, view, interp, tid, KEY_OWN);

		if (is_older && thread)
			append_frames(py, view, thread, ret);
		is_older = is_older || thread == newest;
		interp = managed_view_u64(view, interp + py->layout.interp_next);
	}
}

static void label(struct python *py, struct managed_view *view, uint64_t thread, size_t task, struct managed_stack *ret)
{
	if (!label_lock(py, view, thread, ret))
		label_collection(py, view, thread, ret);
	if (task < EVENT_MANAGED_FRAMES_MAX)
		label_task(py, view, &py->frames[task], ret);
	if (py->host.locals)
		name_locals(py, view, ret);
}

static void python_read(void *state, const struct managed_thread *sampled, struct managed_view *view, struct managed_stack *ret)
{
	struct python *py = state;
	size_t task = EVENT_MANAGED_FRAMES_MAX;

	ret->nframes = ret->nlabels = 0;
	ret->state = EVENT_MANAGED_FAILED;
	if (!py->has_layout && !read_layout(py, view))
		return;
	py->now_ns = clock_now_ns(CLOCK_MONOTONIC_COARSE);

	uint64_t thread = find_thread(py, view, sampled->tid);
	uint64_t frame = thread ? managed_view_u64(view, thread + py->layout.thread_frame) : 0;

	if (frame && py->layout.cframe_frame >= 0)
		read_cframe(py, view, frame, ret, &task);
	else if (!view->failed)
		read_frames(py, view, frame, ret, &task);
	if (!view->failed && ret->nframes)
		label(py, view, thread, task, ret);
	if (!view->failed && thread && has_several_interpreters(py, view))
		read_older(py, view, sampled->tid, thread, ret);
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
	.section = ".PyRuntime", /* 3.10 and on */
	.banner = "cpython-3",	 /* of files with bytecode: cpython-311 */
	.loops = loops,
	.is_file = is_file,
	.open = python_open,
	.close = python_close,
	.read = python_read,
};

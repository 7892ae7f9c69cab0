/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_v8.c - a V8 heap of 256 KiB, made by hand as version 11.3 lays it out: what is read of it, and that nothing it can say does harm.
 *
 *	optimized code of outer(), which has inner() inlined; bytecode of outer(), and its baseline code; a script of five lines
 */
#include "record/runtime/v8.h"

#include "formats/base/clock.h"
#include "formats/perf/jitdump.h"
#include "record/runtime/v8_functions.h"
#include "record/runtime/v8_quiet.h"
#include "record/runtime/v8_tables.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BASE 0x40000000ULL
#define LEN  0x40000

enum { MAPS = 0x100, NAMES = 0x2000, SCRIPT = 0x3000, SOURCE = 0x3100, OUTER = 0x4000, INNER = 0x4100, CLOSURE = 0x4200,
       ARRAY = 0x5000, DEOPT = 0x6000, LITERALS = 0x6100, TABLE = 0x6200, INLININGS = 0x6300, CODE = 0x6400, BASELINE = 0x6500,
       STEPS = 0x6600, SCOPE = 0x6700, FEEDBACK = 0x6800, COUNTS = 0x8000, STREAM = 0x20000, BASELINE_STREAM = 0x21000, MANY = 0x22000, MANY_LEN = 0x8000 };

enum kind { A_MAP, A_CODE, A_STREAM, A_SHARED, A_BYTECODE, A_SCRIPT, A_SCOPE, A_STRING, A_CONS, AN_ARRAY, KINDS };

static const uint16_t types[KINDS] = { 255, 245, 252, 262, 191, 167, 261, 8, 41, 175 };

static const struct v8_version version = { 11, 3, 16, 24, 40, 0, 48, 56, 32, 0, false, 0, 16, 576 };

struct heap {
	uint8_t bytes[LEN];
	struct managed_view view;
	struct v8_layout layout;
	struct writer out;
	uint64_t absent; /* from there on its page is not in memory; 0: all is */
	uint64_t noise; /* not 0: every byte may be another one each time */
	unsigned pieces; /* that were read so far */
};

static size_t read_bytes(struct heap *h, uint64_t addr, uint8_t *ret, size_t len)
{
	uint64_t offset = addr - BASE;

	if (offset >= LEN)
		return 0;
	len = MIN(len, (size_t)(LEN - offset));
	if (h->absent / MANAGED_PAGE_LEN == addr / MANAGED_PAGE_LEN)
		len = h->absent > addr ? MIN(len, (size_t)(h->absent - addr)) : 0;
	if (!len)
		return 0;
	memcpy(ret, h->bytes + offset, len);
	if (h->noise) {
		h->noise = h->noise * 6364136223846793005ULL + 1442695040888963407ULL;
		ret[(h->noise >> 33) % len] = (uint8_t)(h->noise >> 21);
	}
	return len;
}

static void read_heap(void *context, struct task_memory_piece *pieces, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pieces[i].got = read_bytes(context, pieces[i].addr, pieces[i].to, pieces[i].len);
	((struct heap *)context)->pieces += (unsigned)count;
}

static void put(struct heap *h, uint64_t at, uint64_t value, size_t len)
{
	memcpy(h->bytes + at, &value, len);
}

static uint64_t tagged(uint64_t at)
{
	return BASE + at + 1;
}

static uint64_t small(uint64_t value)
{
	return value << 32;
}

static void put_object(struct heap *h, uint64_t at, enum kind kind)
{
	put(h, at, tagged(MAPS + 0x40ULL * kind), 8);
}

static void put_array(struct heap *h, uint64_t at, const uint64_t *words, size_t count)
{
	put_object(h, at, AN_ARRAY);
	put(h, at + 8, small(count), 8);
	for (size_t i = 0; i < count; i++)
		put(h, at + 16 + 8 * i, words[i], 8);
}

static void put_bytes(struct heap *h, uint64_t at, const void *bytes, size_t len)
{
	put_object(h, at, AN_ARRAY);
	put(h, at + 8, small(len), 8);
	memcpy(h->bytes + at + 16, bytes, len);
}

static uint64_t put_string(struct heap *h, uint64_t at, const char *text)
{
	put_object(h, at, A_STRING);
	put(h, at + 12, strlen(text), 4);
	memcpy(h->bytes + at + 16, text, strlen(text));
	return tagged(at);
}

static void make_layout(struct v8_layout *l)
{
	static const struct {
		enum v8_number number;
		uint16_t at;
	} numbers[] = {
		{ V8_MAP_TYPE, 12 }, { V8_FUNCTION_SHARED, 24 }, { V8_SHARED_DATA, 8 }, { V8_SHARED_NAME, 16 },
		{ V8_SHARED_SCRIPT, 32 }, { V8_BYTECODE_DATA, 54 }, { V8_SCRIPT_SOURCE, 8 }, { V8_SCRIPT_NAME, 16 },
		{ V8_SCRIPT_LINE_ENDS, 56 }, { V8_STRING_LENGTH, 12 }, { V8_SCOPE_NCONTEXT, 2 }, { V8_SCOPE_FIRST, 3 },
		{ V8_DEOPT_INLINED, 1 }, { V8_DEOPT_LITERALS, 2 }, { V8_DEOPT_SHARED, 6 }, { V8_DEOPT_POSITIONS, 7 },
		{ V8_TYPE_MAP, 255 }, { V8_TYPE_CODE, 245 }, { V8_TYPE_STREAM, 252 }, { V8_TYPE_SHARED, 262 },
		{ V8_TYPE_BYTECODE, 191 }, { V8_TYPE_SCRIPT, 167 }, { V8_TYPE_SCOPE, 261 }, { V8_TYPE_INTERPRETER_DATA, 159 },
		{ V8_TYPE_FIXED_ARRAY, 175 }, { V8_KIND_BASELINE, 11 },
	};

	l->version = &version;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		l->at[numbers[i].number] = numbers[i].at;
	memset(l->sizes, 1, 3 * 8); /* bytecodes 0 to 7, one byte each */
	l->nbytecodes = 8;
}

static void make_functions(struct heap *h)
{
	put_object(h, SCRIPT, A_SCRIPT);
	put(h, SCRIPT + 8, put_string(h, SOURCE, "one\ntwo\r\nthree\rfour\nfive"), 8);
	put(h, SCRIPT + 16, put_string(h, NAMES, "file:///srv/app.mjs"), 8);
	put_object(h, OUTER, A_SHARED);
	put(h, OUTER + 8, tagged(ARRAY), 8);
	put(h, OUTER + 16, tagged(SCOPE), 8);
	put(h, OUTER + 32, tagged(SCRIPT), 8);
	put_object(h, INNER, A_SHARED);
	put(h, INNER + 16, put_string(h, NAMES + 0x100, "inner"), 8);
	put(h, INNER + 32, tagged(SCRIPT), 8);
	/* One context variable, a name in two parts, positions. */
	put_object(h, SCOPE, A_SCOPE);
	put(h, SCOPE + 8 + 16, small(1), 8);
	put(h, SCOPE + 8 + 24, put_string(h, NAMES + 0x200, "variable"), 8);
	put(h, SCOPE + 8 + 40, tagged(NAMES + 0x300), 8);
	put_object(h, NAMES + 0x300, A_CONS);
	put(h, NAMES + 0x300 + 12, 5, 4);
	put(h, NAMES + 0x300 + 16, put_string(h, NAMES + 0x400, "out"), 8);
	put(h, NAMES + 0x300 + 24, put_string(h, NAMES + 0x500, "er"), 8);
	put_object(h, CLOSURE, AN_ARRAY); /* its type is not looked at */
	put(h, CLOSURE + 24, tagged(OUTER), 8);
}

/* Bytecodes 0 to 7: position 0 from the beginning on, 6 ("two") from the fourth. */
static void make_bytecode(struct heap *h)
{
	static const uint8_t table[] = { 0, 2 << 1, 4 << 1, 12 << 1 };

	put_object(h, ARRAY, A_BYTECODE);
	put(h, ARRAY + 8, small(8), 8);
	put(h, ARRAY + 32, tagged(STEPS + 0x80), 8);
	put_bytes(h, STEPS + 0x80, table, sizeof(table));
	memset(h->bytes + ARRAY + 54, 5, 8);
}

static void put_code(struct heap *h, uint64_t stream, uint64_t code, uint32_t kind, uint64_t deopt, uint64_t positions)
{
	put_object(h, stream, A_STREAM);
	put(h, stream + 8, tagged(code), 8);
	put_object(h, code, A_CODE);
	put(h, code + 16, tagged(deopt), 8);
	put(h, code + 24, tagged(positions), 8);
	put(h, code + 40, BASE + stream + 0x40, 8);
	put(h, code + 48, kind, 4);
	put(h, code + 56, 0x100, 4);
	memcpy(h->bytes + stream + 0x40, "\x90\x90\x55\x48\x89\xe5", 6);
}

/* From offset 0x10 on inner() at "three", called by outer() at "two". */
static void make_code(struct heap *h)
{
	static const uint8_t steps[] = { 4, 8, 8, 8, 8, 8, 8, 8, 8 };
	static const uint8_t table[] = { 0x20, 0xd4, 0x80, 0x80, 0x80, 0x10 }; /* 0x10, (1 << 31 | 21 << 1) */
	uint64_t inlining[] = { 6 << 1, 0 }, literals[] = { tagged(INNER) };
	uint64_t deopt[8] = { 0, small(1), tagged(LITERALS), 0, 0, 0, tagged(OUTER), tagged(INLININGS) };

	put_array(h, DEOPT, deopt, ARRAY_LEN(deopt));
	put_array(h, LITERALS, literals, 1);
	put_bytes(h, TABLE, table, sizeof(table));
	put_bytes(h, INLININGS, inlining, sizeof(inlining));
	put_code(h, STREAM, CODE, 13, DEOPT, TABLE);
	put_bytes(h, STEPS, steps, sizeof(steps));
	put_code(h, BASELINE_STREAM, BASELINE, 11, ARRAY, STEPS);
}

static struct heap *new_heap(void)
{
	struct heap *h = memory_zeroed(1, sizeof(*h));

	make_layout(&h->layout);
	for (size_t i = 0; i < KINDS; i++) {
		put_object(h, MAPS + 0x40 * i, A_MAP);
		put(h, MAPS + 0x40 * i + 12, types[i], 2);
	}
	make_functions(h);
	make_bytecode(h);
	make_code(h);
	jitdump_put_header(&h->out, 62, 1, 0);
	return h;
}

static void free_heap(struct heap *h)
{
	writer_deinit(&h->out);
	free(h);
}

static bool look(struct heap *h, struct v8 *v, uint64_t at, enum v8_use use)
{
	h->view.limit_ns = 100000000; /* an emulator's first look takes longer than a processor's */
	managed_view_begin(&h->view, read_heap, h, h->view.limit_ns);
	return v8_look(v, &h->view, BASE + at, use, &h->out);
}

static bool look_bytecode(struct heap *h, struct v8 *v, uint32_t offset)
{
	h->view.limit_ns = 100000000; /* an emulator's first look takes longer than a processor's */
	managed_view_begin(&h->view, read_heap, h, h->view.limit_ns);
	struct v8_bytecode_at at = { tagged(ARRAY), tagged(CLOSURE), tagged(FEEDBACK), offset };

	return v8_look_bytecode(v, &h->view, &at, &h->out);
}

/* The places that were written, each with its functions as "name:line" from the innermost on. */
static size_t read_back(const struct heap *h, struct jitdump_record *ret, char *text, size_t room)
{
	char names[8][80] = { "" };
	struct jitdump_record rec;
	struct jitdump_call call;
	struct jitdump dump;
	size_t count = 0;

	*text = '\0';
	CHECK(!jitdump_open(&dump, h->out.data, h->out.len));
	while (jitdump_next(&dump, &rec)) {
		if (rec.kind == JITDUMP_FUNCTION && rec.function < ARRAY_LEN(names))
			snprintf(names[rec.function], sizeof(names[0]), "%s %s", rec.file, rec.name);
		if (rec.kind != JITDUMP_PLACE)
			continue;
		count++;
		*ret = rec;
		while (jitdump_call_next(&rec, &call) && call.function < ARRAY_LEN(names))
			snprintf(text + strlen(text), room - strlen(text), "%s:%u, ", names[call.function], call.line);
	}
	return count;
}

TEST(v8_names_inlined_functions_and_lines_of_a_return_address)
{
	struct heap *h = new_heap();
	struct v8 *v = v8_new(&h->layout, 1, 0);
	struct jitdump_record place;
	char text[256];

	CHECK(look(h, v, STREAM + 0x40 + 0x21, V8_CALLER));
	CHECK_UINT(read_back(h, &place, text, sizeof(text)), 1);
	CHECK_STR(text, "/srv/app.mjs inner:5, /srv/app.mjs outer:2, ");
	CHECK_UINT(place.ip, BASE + STREAM + 0x60);
	CHECK_UINT(place.frame, JITDUMP_FRAME_UNKNOWN);
	CHECK(!look(h, v, STREAM + 0x40 + 0x101, V8_CALLER)); /* behind the code */
	CHECK(look(h, v, STREAM + 0x40 + 0x100, V8_CALLER));  /* of a call that is its last instruction */
	CHECK(!look(h, v, STREAM - 0x100, V8_LEAF));
	v8_free(v);
	free_heap(h);
}

/* From V8 12.8 on a scope's positions come first; two numbers that lie behind are something else. */
TEST(v8_says_in_which_line_a_function_without_a_name_begins)
{
	struct heap *h = new_heap();
	struct jitdump_record place;
	char text[256];

	h->layout.at[V8_SCOPE_FIRST] = 5;
	put(h, SCOPE + 8 + 16, small(0), 8);
	put(h, SCOPE + 8 + 24, small(6), 8); /* "two" */
	put(h, SCOPE + 8 + 32, small(12), 8);
	put(h, SCOPE + 8 + 40, small(1), 8);
	put(h, SCOPE + 8 + 48, small(3), 8);

	struct v8 *v = v8_new(&h->layout, 1, 0);

	CHECK(look(h, v, STREAM + 0x40 + 0x21, V8_CALLER));
	CHECK_UINT(read_back(h, &place, text, sizeof(text)), 1);
	CHECK_STR(text, "/srv/app.mjs inner:5, /srv/app.mjs (anonymous):2:2, ");
	v8_free(v);
	free_heap(h);
}

TEST(v8_takes_no_text_of_the_next_object_for_a_name)
{
	static const enum kind ends[] = { AN_ARRAY, A_SCOPE };
	struct jitdump_record place;
	char text[256];

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		struct heap *h = new_heap();

		h->layout.at[V8_SCOPE_FIRST] = 5;
		put(h, SCOPE + 8 + 16, small(0), 8);
		put(h, SCOPE + 8 + 24, small(6), 8); /* "two" */
		put(h, SCOPE + 8 + 32, small(12), 8);
		if (ends[i] == A_SCOPE)
			put(h, SCOPE + 8 + 40, tagged(SCOPE), 8); /* around it */
		else
			put_object(h, SCOPE + 8 + 40, ends[i]);
		put(h, SCOPE + 8 + 48, put_string(h, NAMES + 0x600, "another's"), 8);

		struct v8 *v = v8_new(&h->layout, 1, 0);

		CHECK(look(h, v, STREAM + 0x40 + 0x21, V8_CALLER));
		CHECK_UINT(read_back(h, &place, text, sizeof(text)), 1);
		CHECK_STR(text, "/srv/app.mjs inner:5, /srv/app.mjs (anonymous):2:2, ");
		v8_free(v);
		free_heap(h);
	}
}

TEST(v8_knows_what_of_a_frame_there_is_in_a_prologue)
{
	static const struct {
		uint64_t at;
		enum jitdump_frame frame;
		uint32_t len;
	} cases[] = { { 0, JITDUMP_FRAME_NOT_SAVED, 8 }, { 2, JITDUMP_FRAME_NOT_SAVED, 8 }, { 3, JITDUMP_FRAME_SAVED, 16 } };
	struct heap *h = new_heap();
	struct v8 *v = v8_new(&h->layout, 1, 0);
	struct jitdump_record place;
	char text[1024];

	if (arch_native() != &arch_x86_64)
		SKIP("prologues are x86-64's");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CHECK(look(h, v, STREAM + 0x40 + cases[i].at, V8_LEAF));
		read_back(h, &place, text, sizeof(text));
		CHECK_UINT(place.frame, cases[i].frame);
		CHECK_UINT(place.frame_len, cases[i].len);
	}
	v8_free(v);
	free_heap(h);
}

TEST(v8_finds_the_line_of_bytecode_and_of_baseline_code)
{
	struct heap *h = new_heap();
	struct v8 *v = v8_new(&h->layout, 1, 0);
	struct jitdump_record place;
	char text[256];

	/* Whose function it is nobody knows yet. */
	CHECK(look(h, v, BASELINE_STREAM + 0x40 + 4 + 8 * 5, V8_LEAF));
	CHECK_UINT(read_back(h, &place, text, sizeof(text)), 0);
	CHECK(look_bytecode(h, v, 0));
	CHECK_UINT(read_back(h, &place, text, sizeof(text)), 1);
	CHECK_STR(text, "/srv/app.mjs outer:2, ");
	CHECK_UINT(place.ip, BASE + BASELINE_STREAM + 0x40 + 4 + 8 * 5);
	CHECK(look_bytecode(h, v, 53 + 3));
	CHECK_UINT(read_back(h, &place, text, sizeof(text)), 2);
	CHECK_STR(text, "/srv/app.mjs outer:2, /srv/app.mjs outer:1, ");
	CHECK_UINT(place.ip, tagged(ARRAY) + 56);
	CHECK(look_bytecode(h, v, 53 + 8)); /* behind the bytecode */
	CHECK_UINT(read_back(h, &place, text, sizeof(text)), 2);
	v8_free(v);
	free_heap(h);
}

static void read_file(void *context, struct task_memory_piece *pieces, size_t count)
{
	struct heap *h = context;

	h->absent = 0;
	read_heap(context, pieces, count);
	h->absent = BASE + SOURCE + 16; /* behind its head */
}

/* What Node.js has built in is compiled from a cache, without reading its text. */
TEST(v8_reads_text_that_is_not_in_memory_from_the_file)
{
	for (int in_file = 0; in_file < 2; in_file++) {
		struct heap *h = new_heap();
		struct v8 *v = v8_new(&h->layout, 1, 0);
		struct jitdump_record place;
		char text[256];

		h->absent = BASE + SOURCE + 16; /* behind its head */
		h->view.read_file = in_file ? read_file : NULL;
		CHECK(look(h, v, STREAM + 0x40 + 0x21, V8_CALLER));
		CHECK_UINT(h->view.missed, !in_file);
		CHECK_UINT(read_back(h, &place, text, sizeof(text)), 1);
		CHECK_STR(text, in_file ? "/srv/app.mjs inner:5, /srv/app.mjs outer:2, " : "/srv/app.mjs inner:0, /srv/app.mjs outer:0, ");
		v8_free(v);
		free_heap(h);
	}
}

/* What could not be read is asked for again (runtime_process.c). */
TEST(v8_learns_bytecode_once_it_is_in_memory)
{
	struct heap *h = new_heap();
	struct v8 *v = v8_new(&h->layout, 1, 0);
	struct jitdump_record place;
	char text[256];

	h->absent = BASE + ARRAY + 16; /* behind its head */
	CHECK(!look_bytecode(h, v, 53 + 4));
	CHECK(h->view.missed);
	h->absent = 0;
	CHECK(look_bytecode(h, v, 53 + 4));
	CHECK(!h->view.missed);
	CHECK_UINT(read_back(h, &place, text, sizeof(text)), 1);
	v8_free(v);
	free_heap(h);
}

TEST(v8_follows_a_closure_that_was_moved_and_believes_no_other)
{
	struct heap *h = new_heap();
	struct v8 *v = v8_new(&h->layout, 1, 0);
	struct jitdump_record place;
	char text[256];

	put(h, CLOSURE, BASE + 0x7000, 8);
	CHECK(!look_bytecode(h, v, 53));
	put(h, 0x7000 + 24, tagged(INNER), 8); /* which has other bytecode */
	CHECK(!look_bytecode(h, v, 53));
	put(h, 0x7000 + 24, tagged(OUTER), 8);
	CHECK(look_bytecode(h, v, 0));
	/* What has waited is known now, and written once. */
	CHECK_UINT(read_back(h, &place, text, sizeof(text)), 1);
	CHECK_STR(text, "/srv/app.mjs outer:1, ");
	v8_free(v);
	free_heap(h);
}

TEST(v8_learns_from_the_feedback_what_a_closure_that_is_gone_executed)
{
	struct heap *h = new_heap();
	struct v8 *v = v8_new(&h->layout, 1, 0);
	struct jitdump_record place;
	char text[256];

	put(h, CLOSURE + 24, 0, 8);
	CHECK(!look_bytecode(h, v, 53));
	put(h, FEEDBACK + 24, tagged(INNER), 8); /* which has other bytecode */
	CHECK(!look_bytecode(h, v, 53));
	put(h, FEEDBACK + 24, tagged(OUTER), 8);
	CHECK(look_bytecode(h, v, 53));
	CHECK(read_back(h, &place, text, sizeof(text)) >= 1);
	CHECK(strstr(text, "/srv/app.mjs outer:1, "));
	v8_free(v);
	free_heap(h);
}

TEST(v8_reads_code_anew_when_other_code_lies_there)
{
	struct heap *h = new_heap();
	struct v8 *v = v8_new(&h->layout, 1, 0);
	struct jitdump_record place;
	char text[256];

	CHECK(look(h, v, STREAM + 0x40 + 8, V8_CALLER));
	put(h, DEOPT + 16 + 8 * 6, tagged(INNER), 8);
	CHECK(look(h, v, STREAM + 0x40 + 9, V8_CALLER));
	read_back(h, &place, text, sizeof(text));
	CHECK_STR(text, "/srv/app.mjs outer:0, /srv/app.mjs inner:0, ");
	put(h, CODE + 56, 4, 4); /* shorter */
	CHECK(!look(h, v, STREAM + 0x40 + 8, V8_CALLER));
	v8_free(v);
	free_heap(h);
}

static size_t compare(struct heap *h, struct v8 *v)
{
	size_t begin = h->out.len;

	h->view.limit_ns = 100000000; /* an emulator's first look takes longer than a processor's */
	managed_view_begin(&h->view, read_heap, h, h->view.limit_ns);
	CHECK(v8_compare(v, &h->view, &h->out));
	return h->out.len - begin;
}

/* The last record of code from @begin on, and whether code before it is gone. */
static struct jitdump_record last_code(const struct heap *h, bool *ret_gone)
{
	struct jitdump_record rec, last = { 0 };
	struct jitdump dump;

	*ret_gone = false;
	CHECK(!jitdump_open(&dump, h->out.data, h->out.len));
	while (jitdump_next(&dump, &rec)) {
		*ret_gone = *ret_gone || rec.kind == JITDUMP_GONE;
		if (rec.kind == JITDUMP_KNOWN)
			last = rec;
	}
	return last;
}

TEST(v8_says_since_when_code_was_there)
{
	struct heap *h = new_heap();
	struct v8 *v = v8_new(&h->layout, 1, 0);
	struct jitdump_record code;
	uint64_t before_ns;
	bool gone;

	put(h, 16, BASE + COUNTS - 576, 8); /* the page's heap */
	put(h, COUNTS + 16, 7ULL << 32, 8);
	CHECK(look(h, v, STREAM + 0x40 + 8, V8_CALLER));
	code = last_code(h, &gone);
	CHECK_STR(code.name, "outer");
	CHECK_UINT(code.time_ns, 1); /* nothing was ever collected */
	/* Garbage was collected, and other code, with the same words, has taken its place. */
	before_ns = clock_now_ns(CLOCK_MONOTONIC);
	put(h, COUNTS, 1ULL << 32 | 1, 8);
	put(h, DEOPT + 16 + 8 * 6, tagged(INNER), 8);
	CHECK(look(h, v, STREAM + 0x40 + 8, V8_CALLER));
	code = last_code(h, &gone);
	CHECK(gone);
	CHECK_STR(code.name, "inner");
	CHECK(code.time_ns >= before_ns);
	v8_free(v);
	free_heap(h);
}

static uint64_t watch(struct heap *h, struct v8 *v)
{
	managed_view_begin(&h->view, read_heap, h, h->view.limit_ns);
	v8_watch(v, &h->view);
	return clock_now_ns(CLOCK_MONOTONIC);
}

static uint64_t gone_ns(const struct heap *h)
{
	struct jitdump_record rec;
	struct jitdump dump;
	uint64_t time_ns = 0;

	CHECK(!jitdump_open(&dump, h->out.data, h->out.len));
	while (jitdump_next(&dump, &rec)) {
		if (rec.kind == JITDUMP_GONE)
			time_ns = rec.time_ns;
	}
	return time_ns;
}

TEST(v8_knows_that_code_stays_until_garbage_is_collected)
{
	struct heap *h = new_heap();
	struct v8 *v = v8_new(&h->layout, 1, 0);
	uint64_t looked_ns, watched_ns;

	put(h, 16, BASE + COUNTS - 576, 8);
	put(h, COUNTS + 16, 7ULL << 32, 8);
	CHECK(look(h, v, STREAM + 0x40 + 8, V8_CALLER));
	looked_ns = clock_now_ns(CLOCK_MONOTONIC);
	watched_ns = watch(h, v);
	put(h, COUNTS, 1ULL << 32 | 1, 8);
	watch(h, v);
	watch(h, v);
	put(h, COUNTS, 2ULL << 32 | 2, 8);
	put(h, DEOPT + 16 + 8 * 6, tagged(INNER), 8);
	CHECK(compare(h, v));
	CHECK(gone_ns(h) >= looked_ns);
	CHECK(gone_ns(h) <= watched_ns);
	v8_free(v);
	free_heap(h);
}

/* Another thread's heap may be where one was that has ended. */
TEST(v8_tells_heaps_apart_that_are_at_the_same_address)
{
	struct heap *h = new_heap();
	struct v8 *v = v8_new(&h->layout, 1, 0);
	uint64_t before_ns;
	bool gone;

	put(h, 16, BASE + COUNTS - 576, 8);
	put(h, COUNTS + 16, 7ULL << 32, 8);
	CHECK(look(h, v, STREAM + 0x40 + 8, V8_CALLER));
	before_ns = clock_now_ns(CLOCK_MONOTONIC);
	put(h, COUNTS + 16, 8ULL << 32, 8);
	put(h, DEOPT + 16 + 8 * 6, tagged(INNER), 8);
	CHECK(look(h, v, STREAM + 0x40 + 8, V8_CALLER));
	CHECK_STR(last_code(h, &gone).name, "inner");
	CHECK(last_code(h, &gone).time_ns >= before_ns);
	v8_free(v);
	free_heap(h);
}

TEST(v8_does_not_look_at_all_heaps_again_and_again_where_each_page_has_another)
{
	struct heap *h = new_heap();
	struct v8_quiet q = { .layout = &h->layout };
	unsigned before;

	managed_view_begin(&h->view, read_heap, h, h->view.limit_ns);
	for (uint64_t i = 0; i < V8_HEAPS_MAX; i++) {
		q.added_ns = 0;
		put(h, 16, BASE + COUNTS + 0x100 * i - 576, 8);
		put(h, COUNTS + 0x100 * i + 16, (7 + i) << 32, 8);
		CHECK(v8_quiet_look(&q, &h->view, BASE + STREAM));
	}
	CHECK_UINT(q.nheaps, V8_HEAPS_MAX);
	before = h->pieces;
	for (uint64_t i = 0; i < 100; i++) {
		q.added_ns = clock_now_ns(CLOCK_MONOTONIC);
		put(h, 16, BASE + COUNTS + 0x100 * (V8_HEAPS_MAX + i) - 576, 8);
		v8_quiet_look(&q, &h->view, BASE + STREAM);
	}
	CHECK(h->pieces - before <= 300);
	v8_quiet_look_at_all(&q, &h->view);
	free_heap(h);
}

TEST(v8_believes_no_code_that_is_read_while_garbage_is_collected)
{
	struct heap *h = new_heap();
	struct v8 *v = v8_new(&h->layout, 1, 0);
	bool gone;

	put(h, 16, BASE + COUNTS - 576, 8);
	put(h, COUNTS - 24, 2, 4); /* by marking */
	CHECK(look(h, v, STREAM + 0x40 + 8, V8_CALLER));
	CHECK_STR(last_code(h, &gone).name, "outer");
	CHECK(gone);
	v8_free(v);
	free_heap(h);
}

TEST(v8_does_not_take_the_head_of_code_whose_memory_is_used_again_for_code)
{
	struct heap *h = new_heap();
	struct v8 *v = v8_new(&h->layout, 1, 0);

	CHECK(look(h, v, STREAM + 0x40 + 8, V8_CALLER));
	put_object(h, STREAM + 0x80, A_STREAM);
	CHECK(!look(h, v, STREAM + 0x40 + 8, V8_CALLER));
	CHECK(compare(h, v));
	v8_free(v);
	free_heap(h);
}

TEST(v8_tells_functions_apart_that_have_all_their_parts_at_the_same_addresses)
{
	struct heap *h = new_heap();
	struct v8 *v = v8_new(&h->layout, 1, 0);

	CHECK(look(h, v, STREAM + 0x40 + 8, V8_CALLER));
	CHECK_UINT(compare(h, v), 0);
	put(h, SCRIPT + 64, small(2), 8); /* the script's number */
	CHECK(compare(h, v));
	CHECK(look(h, v, STREAM + 0x40 + 8, V8_CALLER));
	CHECK_UINT(compare(h, v), 0);
	put_string(h, NAMES + 0x400, "OUT"); /* its name */
	CHECK(compare(h, v));
	v8_free(v);
	free_heap(h);
}

TEST(v8_says_that_code_is_gone_where_other_functions_are_inlined)
{
	struct heap *h = new_heap();
	struct v8 *v = v8_new(&h->layout, 1, 0);
	struct jitdump_record place;
	char text[256];
	bool gone;

	CHECK(look(h, v, STREAM + 0x40 + 0x21, V8_CALLER));
	put_string(h, NAMES + 0x100, "INNER"); /* all the rest is as it was */
	CHECK(look(h, v, STREAM + 0x40 + 0x23, V8_CALLER));
	read_back(h, &place, text, sizeof(text));
	CHECK_STR(text, "/srv/app.mjs inner:5, /srv/app.mjs outer:2, /srv/app.mjs INNER:5, /srv/app.mjs outer:2, ");
	CHECK_STR(last_code(h, &gone).name, "outer");
	CHECK(gone);
	CHECK_UINT(compare(h, v), 0);
	h->bytes[INLININGS + 16] = 3 << 1; /* called elsewhere */
	CHECK(compare(h, v));
	v8_free(v);
	free_heap(h);
}

TEST(v8_says_which_code_is_gone)
{
	struct heap *h = new_heap();
	struct v8 *v = v8_new(&h->layout, 1, 0);

	CHECK(look(h, v, STREAM + 0x40 + 0x21, V8_CALLER));
	CHECK(look_bytecode(h, v, 53));
	CHECK_UINT(compare(h, v), 0);
	put(h, CODE + 56, 4, 4); /* shorter */
	CHECK(compare(h, v));
	CHECK_UINT(compare(h, v), 0); /* once */
	put(h, ARRAY, 0, 8);
	CHECK(compare(h, v));
	CHECK_UINT(compare(h, v), 0);
	CHECK(!look_bytecode(h, v, 53));
	v8_free(v);
	free_heap(h);
}

/* Any word of the heap may be any number, and change while it is read: looks end, within the view's bounds. */
TEST(v8_compares_what_is_used_more_often)
{
	struct heap *h = new_heap();
	struct v8 *v = v8_new(&h->layout, 1, 0);
	size_t begin;
	bool gone;

	CHECK(look(h, v, STREAM + 0x40 + 0x21, V8_CALLER));
	CHECK(look_bytecode(h, v, 53));
	begin = h->out.len;
	/* Asked again, what is the same is not written again. */
	CHECK(look(h, v, STREAM + 0x40 + 0x21, V8_CALLER));
	CHECK(look_bytecode(h, v, 53));
	CHECK_UINT(h->out.len, begin);
	managed_view_begin(&h->view, read_heap, h, h->view.limit_ns);
	CHECK(v8_compare_recent(v, &h->view, &h->out));
	CHECK_UINT(h->out.len, begin);
	put(h, CODE + 56, 4, 4); /* shorter */
	uint64_t before_ns = clock_now_ns(CLOCK_MONOTONIC);

	managed_view_begin(&h->view, read_heap, h, h->view.limit_ns);
	CHECK(v8_compare_recent(v, &h->view, &h->out));
	last_code(h, &gone);
	CHECK(gone);
	CHECK(v8_checked_ns(v) < before_ns);
	v8_free(v);
	free_heap(h);
}

TEST(v8_does_not_search_again_and_again_where_no_code_is)
{
	struct heap *h = new_heap();
	struct v8 *v = v8_new(&h->layout, 1, 0);

	CHECK(!look(h, v, STREAM - 0x100 + 1, V8_CALLER));
	unsigned reads = h->view.reads;

	CHECK(!look(h, v, STREAM - 0x100 + 1, V8_CALLER));
	CHECK(h->view.reads < reads);
	CHECK(!look(h, v, STREAM - 0x100, V8_LEAF)); /* what was executed was there */
	CHECK_UINT(h->view.reads, reads);
	v8_free(v);
	free_heap(h);
}

/* A table of 2,048 calls with a function each: a sample of such code may take a millisecond. */
TEST(v8_looks_at_so_many_inlined_calls_only)
{
	struct writer out = { 0 };
	struct heap *h = new_heap();
	struct v8_functions fs = { .layout = &h->layout };
	struct v8_inlinings in = { 0 };
	uint64_t deopt[8] = { [2] = tagged(LITERALS), [7] = tagged(MANY) };
	size_t kept = 0;

	put_array(h, DEOPT, deopt, ARRAY_LEN(deopt));
	put_object(h, MANY, AN_ARRAY);
	put(h, MANY + 8, small(MANY_LEN), 8);
	for (uint32_t i = 0; i < MANY_LEN / 16; i++)
		put(h, MANY + 16 + 16 * i + 8, i, 4);
	managed_view_begin(&h->view, read_heap, h, 100000000);
	v8_inlinings_read(&fs, &h->view, tagged(DEOPT), &out, &kept, &in);
	CHECK_UINT(in.calls.len, MANY_LEN);
	CHECK_UINT(in.functions.len, 256);
	v8_inlinings_drop(&in, &kept);
	CHECK_UINT(kept, 0);
	v8_functions_deinit(&fs);
	writer_deinit(&out);
	free_heap(h);
}

TEST(v8_survives_a_heap_that_lies)
{
	static const uint64_t evil[] = { 0, 1, 0xff, 0x7fffffff, 0xffffffff, 1ULL << 63, UINT64_MAX, 0x7fffffffULL << 32,
					 BASE + CODE + 1, BASE + SCOPE + 1, BASE + NAMES + 0x301, BASE + ARRAY + 1 };
	uint64_t seed = 1;

	for (unsigned round = 0; round < 3000; round++) {
		struct heap *h = new_heap();
		struct v8 *v = v8_new(&h->layout, 1, 0);

		for (unsigned i = 0; i < 1 + round % 5; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			put(h, (seed >> 20) % 0x7000 / 8 * 8, evil[(seed >> 50) % ARRAY_LEN(evil)], 8);
		}
		h->noise = round % 2 ? seed : 0;
		for (unsigned i = 0; i < 4; i++) {
			look(h, v, STREAM + 0x5c + i, i % 2 ? V8_LEAF : V8_CALLER);
			look(h, v, BASELINE_STREAM + 0x5c + i, i % 2 ? V8_LEAF : V8_CALLER);
			look_bytecode(h, v, 53 + i);
			CHECK(h->view.reads <= MANAGED_READS_MAX + 8);
			h->view.limit_ns = 100000000; /* an emulator's first look takes longer than a processor's */
	managed_view_begin(&h->view, read_heap, h, h->view.limit_ns);
			v8_compare(v, &h->view, &h->out);
			CHECK(h->view.reads <= MANAGED_READS_MAX + 8);
			managed_view_begin(&h->view, read_heap, h, h->view.limit_ns);
			v8_compare_recent(v, &h->view, &h->out);
			CHECK(h->view.reads <= MANAGED_READS_MAX + 8);
		}
		CHECK(h->out.len < 1 << 20);
		v8_free(v);
		free_heap(h);
	}
}

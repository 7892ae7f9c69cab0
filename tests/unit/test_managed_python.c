/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_managed_python.c - stacks of a CPython 3.11 that a test made up, byte by byte, honest and hostile.
 */
#include "record/managed/managed.h"

#include "formats/base/memory.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#define BASE	 0x7f0000000000ULL
#define LEN	 (64u << 10)
#define TID	 4711
#define RUNTIME	 0x0
#define INTERP	 0x1000
#define THREAD	 0x1800
#define CFRAME	 0x1c00
#define FRAMES	 0x2000 /* 128 bytes each */
#define CODES	 0x8000 /* 1 KiB each, with all that belongs to one */

/* A process's memory, and how it changes. */
struct fake {
	uint8_t *bytes;
	size_t reads;
	void (*change)(struct fake *fake); /* before each read; NULL: nothing changes */
	unsigned seed;
	struct managed_names names;
	struct managed_binary binary;
	void *state;
	struct managed_view *view;
	struct managed_stack *stack;
};

static size_t fake_read(void *context, uint64_t addr, void *ret, size_t len)
{
	struct fake *fake = context;

	fake->reads++;
	if (fake->change)
		fake->change(fake);
	if (addr < BASE || addr - BASE >= LEN)
		return 0;
	len = MIN(len, (size_t)(LEN - (addr - BASE)));
	memcpy(ret, fake->bytes + (addr - BASE), len);
	return len;
}

static void put(struct fake *fake, size_t at, uint64_t value)
{
	memcpy(fake->bytes + at, &value, sizeof(value));
}

static void put32(struct fake *fake, size_t at, uint32_t value)
{
	memcpy(fake->bytes + at, &value, sizeof(value));
}

/* A compact ASCII str object. */
static uint64_t put_text(struct fake *fake, size_t at, const char *text)
{
	put(fake, at + 16, strlen(text));
	put32(fake, at + 32, 1u << 2 | 1u << 5 | 1u << 6);
	memcpy(fake->bytes + at + 48, text, strlen(text));
	return BASE + at;
}

/* Code object number @n: instructions 0 and 1 on its first line, those from 2 on one below. */
static uint64_t put_code(struct fake *fake, size_t n, const char *name, uint32_t first_line)
{
	static const uint8_t table[] = { 0xd1, 0x00, 0x00, 0xd8, 0x00, 0x00 };
	size_t at = CODES + n * 1024;

	put(fake, at + 112, put_text(fake, at + 400, "/srv/app.py"));
	put(fake, at + 128, put_text(fake, at + 500, name));
	put32(fake, at + 72, first_line);
	put(fake, at + 136, BASE + at + 700);
	put(fake, at + 700 + 16, sizeof(table));
	memcpy(fake->bytes + at + 700 + 32, table, sizeof(table));
	return BASE + at;
}

static uint64_t frame_addr(size_t n)
{
	return BASE + FRAMES + n * 128;
}

static void put_frame(struct fake *fake, size_t n, uint64_t code, uint32_t unit, bool entry,
		      uint64_t previous)
{
	size_t at = FRAMES + n * 128;

	put(fake, at + 32, code);
	put(fake, at + 48, previous);
	put(fake, at + 56, code + 184 + 2 * unit);
	fake->bytes[at + 68] = entry;
}

/* main() of line 10 runs handler() of line 20. */
static void make_honest(struct fake *fake)
{
	memset(fake->bytes, 0, LEN);
	put(fake, RUNTIME + 40, BASE + INTERP);
	put(fake, INTERP + 16, BASE + THREAD);
	put(fake, THREAD + 160, TID);
	put(fake, THREAD + 56, BASE + CFRAME);
	put(fake, CFRAME + 8, frame_addr(0));
	put_frame(fake, 0, put_code(fake, 0, "handler", 20), 2, false, frame_addr(1));
	put_frame(fake, 1, put_code(fake, 1, "main", 10), 1, true, 0);
}

static void fake_init(struct fake *fake)
{
	*fake = (struct fake){ .bytes = memory_zeroed(1, LEN), .seed = 3 };
	managed_names_init(&fake->names);
	fake->binary = (struct managed_binary){ .path = "/usr/lib/libpython3.11.so.1.0",
						.name = "libpython3.11.so.1.0",
						.symbols = { { .vaddr = RUNTIME, .found = true } } };
	const struct managed_host host = {
		.binary = &fake->binary, .bias = BASE, .pid = 1, .names = &fake->names
	};

	fake->state = managed_python.open(&host);
	fake->view = memory_zeroed(1, sizeof(*fake->view));
	fake->stack = memory_zeroed(1, sizeof(*fake->stack));
	make_honest(fake);
}

static void fake_deinit(struct fake *fake)
{
	managed_python.close(fake->state);
	managed_names_deinit(&fake->names);
	free(fake->view);
	free(fake->stack);
	free(fake->bytes);
}

#define FAKE(fake)                               \
	CLEANUP(fake_deinit) struct fake fake;   \
	fake_init(&fake)

static void read_stack(struct fake *fake, uint32_t tid)
{
	managed_view_begin(fake->view, fake_read, fake);
	managed_python.read(fake->state, tid, fake->view, fake->stack);
	CHECK(fake->view->reads <= MANAGED_READS_MAX + 1);
	CHECK(fake->stack->nframes <= EVENT_MANAGED_FRAMES_MAX);
}

TEST(managed_python_reads_functions_lines_and_entries)
{
	FAKE(fake);
	read_stack(&fake, TID);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_WHOLE);
	CHECK_UINT(fake.stack->nframes, 2);
	CHECK_STR(fake.stack->frames[0].name, "handler");
	CHECK_STR(fake.stack->frames[0].file, "/srv/app.py");
	CHECK_UINT(fake.stack->frames[0].line, 21);
	CHECK_UINT(fake.stack->frames[0].first_line, 20);
	CHECK(!fake.stack->frames[0].entry);
	CHECK_STR(fake.stack->frames[1].name, "main");
	CHECK_UINT(fake.stack->frames[1].line, 10);
	CHECK(fake.stack->frames[1].entry);
}

TEST(managed_python_reads_names_only_once)
{
	FAKE(fake);
	read_stack(&fake, TID);
	size_t first = fake.reads;

	read_stack(&fake, TID);
	CHECK(fake.reads - first < first);
	CHECK_STR(fake.stack->frames[0].name, "handler");
}

TEST(managed_python_notices_a_new_function_at_the_same_address)
{
	FAKE(fake);
	read_stack(&fake, TID);
	put_code(&fake, 0, "another", 30);
	put(&fake, FRAMES + 0, 77); /* the function object beside it is another, too */
	read_stack(&fake, TID);
	CHECK_STR(fake.stack->frames[0].name, "another");
	CHECK_UINT(fake.stack->frames[0].first_line, 30);
}

TEST(managed_python_has_no_frames_for_a_thread_that_it_does_not_know)
{
	FAKE(fake);
	read_stack(&fake, TID + 1);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_NO_FRAMES);
	CHECK_UINT(fake.stack->nframes, 0);
}

TEST(managed_python_cuts_frames_that_go_in_a_circle)
{
	FAKE(fake);
	put(&fake, FRAMES + 128 + 48, frame_addr(0));
	read_stack(&fake, TID);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_CUT);
	put(&fake, FRAMES + 128 + 48, frame_addr(1));
	read_stack(&fake, TID);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_FAILED);
	CHECK_UINT(fake.stack->nframes, 0);
}

TEST(managed_python_ends_lists_of_threads_that_go_in_a_circle)
{
	FAKE(fake);
	put(&fake, THREAD + 8, BASE + THREAD);
	put(&fake, INTERP + 0, BASE + INTERP);
	read_stack(&fake, TID + 1);
	CHECK_UINT(fake.stack->nframes, 0);
}

TEST(managed_python_believes_no_length)
{
	FAKE(fake);
	put(&fake, CODES + 500 + 16, 1ULL << 63);
	put(&fake, CODES + 700 + 16, 1ULL << 63);
	read_stack(&fake, TID);
	CHECK_UINT(fake.stack->nframes, 2);
	CHECK_UINT(fake.stack->frames[0].line, 0);
	CHECK(strlen(fake.stack->frames[0].name) <= 512);
}

TEST(managed_python_fails_where_memory_is_not_there)
{
	static const size_t pointers[] = { RUNTIME + 40, INTERP + 16, THREAD + 56, CFRAME + 8,
					   FRAMES + 32,  FRAMES + 48 };
	static const uint64_t values[] = { 1, 0xfff, UINT64_MAX, UINT64_MAX - 4096, BASE + LEN - 4, 1ULL << 63 };

	for (size_t i = 0; i < ARRAY_LEN(pointers); i++) {
		for (size_t v = 0; v < ARRAY_LEN(values); v++) {
			FAKE(fake);
			put(&fake, pointers[i], values[v]);
			read_stack(&fake, TID);
			CHECK_UINT(fake.stack->state, EVENT_MANAGED_FAILED);
			CHECK_UINT(fake.stack->nframes, 0);
		}
	}
}

static void scribble(struct fake *fake)
{
	for (int i = 0; i < 4; i++) {
		size_t at = (size_t)rand_r(&fake->seed) % (LEN / 8) * 8;

		put(fake, at, BASE + (size_t)rand_r(&fake->seed) % LEN);
	}
}

TEST(managed_python_survives_memory_that_changes_while_it_is_read)
{
	FAKE(fake);
	fake.change = scribble;
	for (int round = 0; round < 500; round++) {
		if (round % 10 == 0)
			make_honest(&fake);
		read_stack(&fake, TID);
	}
}

TEST(managed_python_survives_memory_of_random_pointers)
{
	FAKE(fake);
	for (int round = 0; round < 200; round++) {
		for (size_t at = 0; at < LEN; at += 8) {
			if (rand_r(&fake.seed) % 2)
				put(&fake, at, BASE + (size_t)rand_r(&fake.seed) % LEN);
		}
		put(&fake, RUNTIME + 40, BASE + INTERP);
		put(&fake, THREAD + 160, TID);
		read_stack(&fake, TID);
	}
}

TEST(managed_python_knows_versions_by_word_and_by_name)
{
	struct managed_binary binary = { .name = "python", .symbols = { { .found = true } } };
	struct managed_host host = { .binary = &binary };
	void *state;

	CHECK(!managed_python.open(&host));
	binary.name = "python3.8";
	state = managed_python.open(&host);
	CHECK(state);
	managed_python.close(state);
	binary.name = "uwsgi";
	binary.symbols[2] = (struct managed_symbol){ .word = 0x030c01f0, .found = true };
	state = managed_python.open(&host);
	CHECK(state);
	managed_python.close(state);
	binary.name = "python3.5";
	binary.symbols[2].word = 0;
	CHECK(!managed_python.open(&host));
}

TEST(managed_view_reads_each_page_once)
{
	FAKE(fake);
	managed_view_begin(fake.view, fake_read, &fake);
	fake.reads = 0;
	for (size_t i = 0; i < 512; i++)
		managed_view_u64(fake.view, BASE + FRAMES + 8 * i);
	CHECK_UINT(fake.reads, 1);
	managed_view_u64(fake.view, BASE + FRAMES + 4092);
	CHECK_UINT(fake.reads, 2);
	CHECK(!fake.view->failed);
	CHECK_UINT(managed_view_u64(fake.view, 8), 0);
	CHECK(fake.view->failed);
	CHECK_UINT(managed_view_u64(fake.view, BASE + RUNTIME + 40), 0); /* failure is sticky */
}

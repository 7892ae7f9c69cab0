/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_managed_python.c - stacks of a CPython 3.11 that a test made up, byte by byte, honest and hostile.
 */
#include "tests/unit/managed_fake.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#define RUNTIME	 0x0
#define INTERP	 0x1000
#define THREAD	 0x1800
#define CFRAME	 0x1c00
#define FRAMES	 0x2000 /* 128 bytes each */
#define CODES	 0x8000 /* 1 KiB each, with all that belongs to one */

/* A compact ASCII str object. */
static uint64_t put_text(struct managed_fake *fake, size_t at, const char *text)
{
	managed_fake_put(fake, at + 16, strlen(text));
	managed_fake_put32(fake, at + 32, 1u << 2 | 1u << 5 | 1u << 6);
	memcpy(fake->bytes + at + 48, text, strlen(text));
	return FAKE_BASE + at;
}

/* Code object number @n: instructions 0 and 1 on its first line, those from 2 on one below. */
static uint64_t put_code(struct managed_fake *fake, size_t n, const char *name, uint32_t first_line)
{
	static const uint8_t table[] = { 0xd1, 0x00, 0x00, 0xd8, 0x00, 0x00 };
	size_t at = CODES + n * 1024;

	managed_fake_put(fake, at + 112, put_text(fake, at + 400, "/srv/app.py"));
	managed_fake_put(fake, at + 128, put_text(fake, at + 500, name));
	managed_fake_put32(fake, at + 72, first_line);
	managed_fake_put(fake, at + 136, FAKE_BASE + at + 700);
	managed_fake_put(fake, at + 700 + 16, sizeof(table));
	memcpy(fake->bytes + at + 700 + 32, table, sizeof(table));
	return FAKE_BASE + at;
}

static uint64_t frame_addr(size_t n)
{
	return FAKE_BASE + FRAMES + n * 128;
}

static void put_frame(struct managed_fake *fake, size_t n, uint64_t code, uint32_t unit, bool entry,
		      uint64_t previous)
{
	size_t at = FRAMES + n * 128;

	managed_fake_put(fake, at + 32, code);
	managed_fake_put(fake, at + 48, previous);
	managed_fake_put(fake, at + 56, code + 184 + 2 * unit);
	fake->bytes[at + 68] = entry;
}

/* main() of line 10 runs handler() of line 20. */
static void make_honest(struct managed_fake *fake)
{
	memset(fake->bytes, 0, FAKE_LEN);
	managed_fake_put(fake, RUNTIME + 40, FAKE_BASE + INTERP);
	managed_fake_put(fake, INTERP + 16, FAKE_BASE + THREAD);
	managed_fake_put(fake, THREAD + 160, FAKE_PID);
	managed_fake_put(fake, THREAD + 56, FAKE_BASE + CFRAME);
	managed_fake_put(fake, CFRAME + 8, frame_addr(0));
	put_frame(fake, 0, put_code(fake, 0, "handler", 20), 2, false, frame_addr(1));
	put_frame(fake, 1, put_code(fake, 1, "main", 10), 1, true, 0);
}

static void fake_init(struct managed_fake *fake)
{
	managed_fake_init(fake, &managed_python,
			  &(struct managed_binary){ .path = "/usr/lib/libpython3.11.so.1.0",
						    .name = "libpython3.11.so.1.0",
						    .symbols = { { .vaddr = RUNTIME, .found = true } } });
	make_honest(fake);
}

#define FAKE(fake)                                              \
	CLEANUP(managed_fake_deinit) struct managed_fake fake; \
	fake_init(&fake)

TEST(managed_python_reads_functions_lines_and_entries)
{
	FAKE(fake);
	managed_fake_stack(&fake, FAKE_PID);
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

/* The thread has the structure of a call that has not noted its frame yet: what lies there is of another time. */
TEST(managed_python_reads_the_caller_of_a_call_that_is_being_made)
{
	static const uint64_t noted[] = { 0, 0x10, FAKE_BASE + FAKE_LEN + 8, 0x8000000000000000, FAKE_BASE + CODES };

	for (size_t i = 0; i < sizeof(noted) / sizeof(*noted); i++) {
		FAKE(fake);
		managed_fake_put(&fake, THREAD + 56, FAKE_BASE + CFRAME + 64);
		managed_fake_put(&fake, CFRAME + 64 + 8, noted[i]);
		managed_fake_put(&fake, CFRAME + 64 + 16, FAKE_BASE + CFRAME);
		managed_fake_stack(&fake, FAKE_PID);
		CHECK_UINT(fake.stack->state, EVENT_MANAGED_WHOLE);
		CHECK_UINT(fake.stack->nframes, 2);
		CHECK_STR(fake.stack->frames[0].name, "handler");
	}
}

TEST(managed_python_reads_names_only_once)
{
	FAKE(fake);
	managed_fake_stack(&fake, FAKE_PID);
	size_t first = fake.reads;

	managed_fake_stack(&fake, FAKE_PID);
	CHECK(fake.reads - first < first);
	CHECK_STR(fake.stack->frames[0].name, "handler");
}

/* Other processes have used up the room: what is known of each goes before something new is remembered. */
TEST(managed_python_remembers_one_function_where_there_is_no_room)
{
	FAKE(fake);
	managed_names_take(&fake.names, MANAGED_ROOM_MAX + 1);
	managed_fake_stack(&fake, FAKE_PID);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_WHOLE);
	CHECK_STR(fake.stack->frames[0].name, "handler");
	CHECK_STR(fake.stack->frames[1].name, "main");
	size_t once = fake.names.taken;

	for (int i = 0; i < 10; i++)
		managed_fake_stack(&fake, FAKE_PID);
	CHECK_UINT(fake.names.taken, once);
	managed_names_give(&fake.names, MANAGED_ROOM_MAX + 1);
}

TEST(managed_python_notices_a_new_function_at_the_same_address)
{
	FAKE(fake);
	managed_fake_stack(&fake, FAKE_PID);
	put_code(&fake, 0, "another", 30);
	managed_fake_put(&fake, FRAMES + 0, 77); /* the function object beside it is another, too */
	managed_fake_stack(&fake, FAKE_PID);
	CHECK_STR(fake.stack->frames[0].name, "another");
	CHECK_UINT(fake.stack->frames[0].first_line, 30);
}

TEST(managed_python_has_no_frames_for_a_thread_that_it_does_not_know)
{
	FAKE(fake);
	managed_fake_stack(&fake, FAKE_PID + 1);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_NO_FRAMES);
	CHECK_UINT(fake.stack->nframes, 0);
}

/* Nobody told the interpreter that the process was forked: the state has the number of the parent's thread. */
TEST(managed_python_finds_the_thread_of_a_process_that_c_code_forked)
{
	FAKE(fake);
	const size_t pthread = 0x7000;

	managed_fake_put(&fake, THREAD + 160, FAKE_PID - 1);
	managed_fake_put(&fake, THREAD + 152, FAKE_BASE + pthread);
	managed_fake_stack(&fake, FAKE_PID);
	CHECK_UINT(fake.stack->nframes, 0);
	managed_fake_put(&fake, pthread, FAKE_BASE + pthread);
	managed_fake_put32(&fake, pthread + 720, FAKE_PID);
	for (unsigned i = 0; i < 2; i++) {
		managed_fake_stack(&fake, FAKE_PID);
		CHECK_UINT(fake.stack->state, EVENT_MANAGED_WHOLE);
		CHECK_STR(fake.stack->frames[0].name, "handler");
	}
	/* Other threads have their own. */
	managed_fake_put32(&fake, pthread + 720, FAKE_PID + 1);
	managed_fake_stack(&fake, FAKE_PID + 1);
	CHECK_UINT(fake.stack->nframes, 0);
}

TEST(managed_python_cuts_frames_that_go_in_a_circle)
{
	FAKE(fake);
	managed_fake_put(&fake, FRAMES + 128 + 48, frame_addr(0));
	managed_fake_stack(&fake, FAKE_PID);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_CUT);
	managed_fake_put(&fake, FRAMES + 128 + 48, frame_addr(1));
	managed_fake_stack(&fake, FAKE_PID);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_FAILED);
	CHECK_UINT(fake.stack->nframes, 0);
}

TEST(managed_python_ends_lists_of_threads_that_go_in_a_circle)
{
	FAKE(fake);
	managed_fake_put(&fake, THREAD + 8, FAKE_BASE + THREAD);
	managed_fake_put(&fake, INTERP + 0, FAKE_BASE + INTERP);
	managed_fake_stack(&fake, FAKE_PID + 1);
	CHECK_UINT(fake.stack->nframes, 0);
}

TEST(managed_python_believes_no_length)
{
	FAKE(fake);
	managed_fake_put(&fake, CODES + 500 + 16, 1ULL << 63);
	managed_fake_put(&fake, CODES + 700 + 16, 1ULL << 63);
	managed_fake_stack(&fake, FAKE_PID);
	CHECK_UINT(fake.stack->nframes, 2);
	CHECK_UINT(fake.stack->frames[0].line, 0);
	CHECK(strlen(fake.stack->frames[0].name) <= 512);
}

TEST(managed_python_says_who_has_the_interpreters_lock)
{
	static const struct {
		uint64_t holder;
		const char *text;
	} cases[] = { { 0, "free" }, { FAKE_BASE + THREAD, "held" }, { FAKE_BASE + INTERP, "held by another thread" } };

	FAKE(fake);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		managed_fake_put(&fake, RUNTIME + 576, cases[i].holder);
		managed_fake_stack(&fake, FAKE_PID);
		CHECK_UINT(fake.stack->nlabels, 1);
		CHECK_STR(fake.stack->labels[0].key, "gil");
		CHECK_STR(fake.stack->labels[0].text, cases[i].text);
	}
}

TEST(managed_python_says_that_garbage_is_collected_by_the_thread_that_has_the_lock)
{
	static const struct {
		uint64_t holder;
		uint32_t collecting;
		size_t nlabels;
	} cases[] = { { FAKE_BASE + THREAD, 0, 1 }, { FAKE_BASE + THREAD, 1, 2 }, { FAKE_BASE + INTERP, 1, 1 }, { FAKE_BASE + THREAD, 2, 1 } };

	FAKE(fake);
	managed_fake_put(&fake, THREAD + 16, FAKE_BASE + INTERP);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		managed_fake_put(&fake, RUNTIME + 576, cases[i].holder);
		managed_fake_put32(&fake, INTERP + 848, cases[i].collecting);
		managed_fake_stack(&fake, FAKE_PID);
		CHECK_UINT(fake.stack->nlabels, cases[i].nlabels);
		if (cases[i].nlabels == 2)
			CHECK_STR(fake.stack->labels[1].key, "gc");
	}
}

TEST(managed_python_fails_where_memory_is_not_there)
{
	static const size_t pointers[] = { RUNTIME + 40, INTERP + 16, THREAD + 56, CFRAME + 8,
					   FRAMES + 32,  FRAMES + 48 };
	static const uint64_t values[] = { 1, 0xfff, UINT64_MAX, UINT64_MAX - 4096, FAKE_BASE + FAKE_LEN - 4, 1ULL << 63 };

	for (size_t i = 0; i < ARRAY_LEN(pointers); i++) {
		for (size_t v = 0; v < ARRAY_LEN(values); v++) {
			FAKE(fake);
			managed_fake_put(&fake, pointers[i], values[v]);
			managed_fake_stack(&fake, FAKE_PID);
			CHECK_UINT(fake.stack->state, EVENT_MANAGED_FAILED);
			CHECK_UINT(fake.stack->nframes, 0);
		}
	}
}

TEST(managed_python_survives_memory_that_changes_while_it_is_read)
{
	FAKE(fake);
	managed_fake_ask_locals(&fake);
	fake.changes = true;
	for (int round = 0; round < 500; round++) {
		if (round % 10 == 0)
			make_honest(&fake);
		managed_fake_stack(&fake, FAKE_PID);
	}
}

TEST(managed_python_survives_memory_of_random_pointers)
{
	FAKE(fake);
	managed_fake_ask_locals(&fake);
	for (int round = 0; round < 200; round++) {
		for (size_t at = 0; at < FAKE_LEN; at += 8) {
			if (rand_r(&fake.seed) % 2)
				managed_fake_put(&fake, at, FAKE_BASE + (size_t)rand_r(&fake.seed) % FAKE_LEN);
		}
		managed_fake_put(&fake, RUNTIME + 40, FAKE_BASE + INTERP);
		managed_fake_put(&fake, THREAD + 160, FAKE_PID);
		managed_fake_stack(&fake, FAKE_PID);
	}
}

/* What CPython 3.13 to 3.15 publish, word by word from the cookie on, of structures as put_code() and put_frame() make them. */
static void put_published(struct managed_fake *fake, unsigned minor)
{
	static const uint16_t words_13[] = {
		[5] = 1000, [8] = 0, [9] = 16, [21] = 8, [23] = 56, [24] = 152, [25] = 160, [29] = 48, [30] = 32,
		[31] = 56, [33] = 68, [35] = 112, [37] = 128, [38] = 136, [39] = 72, [43] = 184, [65] = 16,
		[66] = 32, [68] = 32, [69] = 16, [70] = 48,
	};
	static const uint16_t words_14[] = {
		[5] = 1000, [8] = 0, [9] = 16, [24] = 8, [26] = 56, [27] = 152, [28] = 160, [32] = 48, [33] = 32,
		[34] = 56, [36] = 68, [40] = 112, [42] = 128, [43] = 136, [44] = 72, [48] = 184, [75] = 16,
		[76] = 32, [78] = 32, [79] = 16, [80] = 48,
	};
	static const uint16_t words_15[] = {
		[5] = 1000, [8] = 0, [9] = 16, [24] = 8, [26] = 56, [30] = 152, [31] = 160, [40] = 48, [41] = 32,
		[42] = 56, [44] = 68, [48] = 112, [50] = 128, [51] = 136, [52] = 72, [56] = 184, [87] = 16,
		[88] = 32, [90] = 32, [91] = 16, [92] = 48,
	};
	static const struct {
		const uint16_t *words;
		size_t count;
	} versions[] = { { words_13, ARRAY_LEN(words_13) },
			 { words_14, ARRAY_LEN(words_14) },
			 { words_15, ARRAY_LEN(words_15) } };

	for (size_t i = 0; i < versions[minor - 13].count; i++)
		managed_fake_put(fake, RUNTIME + 8 * i, versions[minor - 13].words[i]);
	memcpy(fake->bytes + RUNTIME, "xdebugpy", 8);
	managed_fake_put(fake, RUNTIME + 8, (0x300u | minor) << 16 | 0x4f0);
	managed_fake_put(fake, RUNTIME + 1000, FAKE_BASE + INTERP);
	managed_fake_put(fake, THREAD + 56, frame_addr(0)); /* there is no cframe between them any more */
}

static void published_init(struct managed_fake *fake, unsigned minor)
{
	struct managed_binary binary = {
		.name = "python",
		.symbols = { { .vaddr = RUNTIME, .found = true },
			     [2] = { .word = (uint64_t)(0x300u | minor) << 16, .found = true } },
	};

	managed_fake_init(fake, &managed_python, &binary);
	make_honest(fake);
	put_published(fake, minor);
	/* A mark ends each call of the loop, and has no code. */
	managed_fake_put(fake, FRAMES + 128 + 48, frame_addr(2));
	fake->bytes[FRAMES + 68] = fake->bytes[FRAMES + 128 + 68] = 0;
	fake->bytes[FRAMES + 2 * 128 + 68] = 3;
}

TEST(managed_python_reads_the_offsets_that_3_13_to_3_15_publish)
{
	for (unsigned minor = 13; minor <= 15; minor++) {
		CLEANUP(managed_fake_deinit) struct managed_fake fake;

		published_init(&fake, minor);
		managed_fake_put(&fake, FRAMES + 32, (FAKE_BASE + CODES) | 1); /* a tag of 3.14 */
		managed_fake_stack(&fake, FAKE_PID);
		CHECK_UINT(fake.stack->state, EVENT_MANAGED_WHOLE);
		CHECK_UINT(fake.stack->nframes, 2);
		CHECK_STR(fake.stack->frames[0].name, "handler");
		CHECK_UINT(fake.stack->frames[0].line, 21);
		CHECK(!fake.stack->frames[0].entry);
		CHECK_STR(fake.stack->frames[1].name, "main");
		CHECK(fake.stack->frames[1].entry);
	}
}

TEST(managed_python_believes_no_published_offset)
{
	static const uint64_t values[] = { 0x10000, UINT32_MAX, UINT64_MAX, 1ULL << 63, 0xffff };

	for (size_t i = 5; i < 81; i++) {
		for (size_t v = 0; v < ARRAY_LEN(values); v++) {
			CLEANUP(managed_fake_deinit) struct managed_fake fake;

			published_init(&fake, 14);
			managed_fake_put(&fake, RUNTIME + 8 * i, values[v]);
			managed_fake_stack(&fake, FAKE_PID);
			/* 26: current_frame; what is no offset is not used at all. */
			CHECK(i != 26 || values[v] == 0xffff || fake.reads == 1);
		}
	}
}

/* As long as nobody switched it on: 3.13's words, 3.14's and 3.15's. */
TEST(managed_python_says_nothing_of_a_lock_that_free_threads_do_not_have)
{
	for (unsigned minor = 13; minor <= 15; minor++) {
		CLEANUP(managed_fake_deinit) struct managed_fake fake;
		const size_t gil = minor == 13 ? 16 : 17, thread = minor == 13 ? 19 : 22;

		published_init(&fake, minor);
		managed_fake_put(&fake, RUNTIME + 8 * 2, 1);
		managed_fake_put(&fake, RUNTIME + 8 * (thread + 3), 240); /* interp, in a thread */
		managed_fake_put(&fake, RUNTIME + 8 * (gil - 1), 296);
		managed_fake_put(&fake, RUNTIME + 8 * gil, 4); /* in what the word before says */
		managed_fake_put(&fake, RUNTIME + 8 * (gil + 1), 304);
		managed_fake_put(&fake, RUNTIME + 8 * (gil + 2), 312);
		managed_fake_put(&fake, THREAD + 240, FAKE_BASE + INTERP);
		managed_fake_stack(&fake, FAKE_PID);
		CHECK_UINT(fake.stack->nframes, 2);
		CHECK_UINT(fake.stack->nlabels, 0);
		managed_fake_put32(&fake, INTERP + 300, 1);
		managed_fake_stack(&fake, FAKE_PID);
		CHECK_STR(fake.stack->labels[0].text, "free");
	}
}

TEST(managed_python_reads_lines_of_a_threads_own_copy_of_the_code)
{
	CLEANUP(managed_fake_deinit) struct managed_fake fake;

	published_init(&fake, 14);
	managed_fake_put(&fake, RUNTIME + 8 * 2, 1);
	managed_fake_put(&fake, RUNTIME + 8 * 38, 72);	/* tlbc_index */
	managed_fake_put(&fake, RUNTIME + 8 * 49, 200); /* co_tlbc */
	managed_fake_put32(&fake, FRAMES + 72, 1);
	managed_fake_put(&fake, CODES + 200, FAKE_BASE + 0xf000);
	managed_fake_put(&fake, 0xf000, 2); /* copies */
	managed_fake_put(&fake, 0xf010, FAKE_BASE + 0xe000);
	managed_fake_put(&fake, FRAMES + 56, FAKE_BASE + 0xe000 + 2 * 2);
	/* "interned" has a byte of its own there. */
	managed_fake_put32(&fake, CODES + 500 + 32, 1u << 8 | 1u << 11 | 1u << 12 | 1);
	managed_fake_stack(&fake, FAKE_PID);
	CHECK_STR(fake.stack->frames[0].name, "handler");
	CHECK_UINT(fake.stack->frames[0].line, 21);
	managed_fake_put32(&fake, FRAMES + 72, 2);
	managed_fake_stack(&fake, FAKE_PID);
	CHECK_UINT(fake.stack->nframes, 2);
	CHECK_UINT(fake.stack->frames[0].line, 0);
}

TEST(managed_python_keeps_no_code_that_was_read_in_part)
{
	FAKE(fake);
	/* What belongs to a code object lies in three pages. */
	managed_fake_put(&fake, CODES + 112, put_text(&fake, 0xc000, "/srv/app.py"));
	managed_fake_put(&fake, CODES + 136, FAKE_BASE + 0xd000);
	memcpy(fake.bytes + 0xd000, fake.bytes + CODES + 700, 64);
	/* Time is up somewhere between the frames and the last name. */
	for (unsigned limit = 1; limit < 60; limit++) {
		managed_view_begin(fake.view, managed_fake_read, &fake, 3600ULL * 1000000000);
		fake.view->reads = MANAGED_READS_MAX - MIN(limit, MANAGED_READS_MAX);
		managed_python.read(fake.state, &(struct managed_thread){ .tid = FAKE_PID }, fake.view, fake.stack);
		if (fake.stack->nframes)
			break;
	}
	CHECK_UINT(fake.stack->nframes, 2);
	CHECK_STR(fake.stack->frames[0].name, "handler");
	CHECK_STR(fake.stack->frames[0].file, "/srv/app.py");
	CHECK_UINT(fake.stack->frames[0].line, 21);
	CHECK_STR(fake.stack->frames[1].name, "main");
}

TEST(managed_python_knows_versions_by_word_and_by_name)
{
	struct managed_binary binary = { .name = "python", .symbols = { { .found = true } } };
	struct managed_host host = { .binary = &binary };
	const char *why = NULL;
	void *state;

	CHECK(!managed_python.open(&host, &why) && why);
	why = NULL;
	binary.name = "python3.8";
	state = managed_python.open(&host, &why);
	CHECK(state);
	managed_python.close(state);
	binary.name = "uwsgi";
	binary.symbols[2] = (struct managed_symbol){ .word = 0x030c01f0, .found = true };
	state = managed_python.open(&host, &why);
	CHECK(state);
	managed_python.close(state);
	binary.symbols[2].word = 0x031000f0; /* 3.16 */
	CHECK(!managed_python.open(&host, &why) && strstr(why, "not known"));
	why = NULL;
	binary.name = "python3.5";
	binary.symbols[2].word = 0;
	CHECK(!managed_python.open(&host, &why) && why);
	why = NULL;
}

TEST(managed_view_reads_nothing_when_its_time_is_up)
{
	FAKE(fake);
	managed_view_begin(fake.view, managed_fake_read, &fake, 3600ULL * 1000000000);
	fake.view->deadline_ns = 0;
	CHECK_UINT(managed_view_u64(fake.view, FAKE_BASE + RUNTIME + 40), 0);
	CHECK(fake.view->failed);
	CHECK_UINT(fake.reads, 0);
}

TEST(managed_view_reads_each_page_once)
{
	FAKE(fake);
	managed_view_begin(fake.view, managed_fake_read, &fake, 3600ULL * 1000000000);
	fake.reads = 0;
	for (size_t i = 0; i < 512; i++)
		managed_view_u64(fake.view, FAKE_BASE + FRAMES + 8 * i);
	CHECK_UINT(fake.reads, 1);
	managed_view_u64(fake.view, FAKE_BASE + FRAMES + 4092);
	CHECK_UINT(fake.reads, 2);
	CHECK(!fake.view->failed);
	CHECK_UINT(managed_view_u64(fake.view, 8), 0);
	CHECK(fake.view->failed);
	CHECK_UINT(managed_view_u64(fake.view, FAKE_BASE + RUNTIME + 40), 0); /* failure is sticky */
}

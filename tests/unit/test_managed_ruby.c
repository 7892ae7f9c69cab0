/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_managed_ruby.c - stacks of a Ruby 3.1 that a test made up, byte by byte, honest and hostile.
 */
#include "tests/unit/managed_fake.h"
#include "formats/arch.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#define ROOT	0x0
#define RACTOR	0x100
#define CONTEXT 0x1000
#define THREAD	0x1100
#define PTHREAD 0x1400 /* 64-byte aligned, as the C library makes them */
#define NATIVE	0x1800 /* what Ruby has of the native thread, from 3.2 on */
#define DECOY	0x1900
#define STACK	0x2000
#define WORDS	128 /* of it */
#define FRAMES	(STACK + WORDS * 8 - 4 * 64)
#define EP(n)	(0x3010 + (n) * 32) /* the word of flags; two words before it the method */
#define ISEQS	0x4000 /* 4 KiB each, with all that belongs to one */
#define SYMBOLS 0x8000 /* the table of names, and below what methods and classes need */
#define UNIT	0x8100
#define NAMES	0x9000
#define CLASS	0xc000
#define METHOD	0xd000

static uint64_t put_text(struct managed_fake *fake, size_t at, const char *text)
{
	managed_fake_put(fake, at, 5 | (uint64_t)strlen(text) << 14);
	memcpy(fake->bytes + at + 16, text, strlen(text));
	return FAKE_BASE + at;
}

/* Iseq number @n, of 100 words of code: places 0 and 1 on @line, those from 2 to 60 on the next, the rest on the one after. */
static uint64_t put_iseq(struct managed_fake *fake, size_t n, const char *name, uint32_t line)
{
	static const uint64_t places[] = { 0, 2, 61 };
	size_t at = ISEQS + n * 4096, body = at + 64, index = at + 1024, entries = at + 2048;

	managed_fake_put(fake, at + 16, FAKE_BASE + body);
	managed_fake_put32(fake, body + 4, 100);
	managed_fake_put(fake, body + 8, FAKE_BASE + at + 3072);
	managed_fake_put(fake, body + 64, put_text(fake, at + 512, "/srv/app.rb"));
	managed_fake_put(fake, body + 80, put_text(fake, at + 576, name));
	managed_fake_put(fake, body + 88, (uint64_t)line << 1 | 1);
	managed_fake_put(fake, body + 120, FAKE_BASE + entries);
	managed_fake_put32(fake, body + 136, ARRAY_LEN(places));
	managed_fake_put(fake, body + 144, FAKE_BASE + index);
	for (size_t i = 0; i < 54; i++) {
		uint64_t rank = i < 2 ? 1 : 2, word;

		memcpy(&word, fake->bytes + index + i / 9 * 8, 8);
		managed_fake_put(fake, index + i / 9 * 8, word | rank << i % 9 * 7);
	}
	/* One block behind these, of place 54 and on: 2 entries before, a bit where one begins. */
	managed_fake_put(fake, index + 48, 2);
	managed_fake_put(fake, index + 48 + 16, 1ull << (places[2] - 54));
	for (uint32_t i = 0; i < ARRAY_LEN(places); i++)
		managed_fake_put32(fake, entries + i * 12, line + i);
	return FAKE_BASE + at;
}

/* Frame number @n, 0 innermost, behind place @place; without an iseq it is one of C. */
static void put_frame(struct managed_fake *fake, size_t n, uint64_t iseq, uint64_t place, bool finish)
{
	size_t at = FRAMES + n * 64;

	managed_fake_put(fake, at, iseq ? iseq + 3072 + 8 * (place + 1) : 0);
	managed_fake_put(fake, at + 16, iseq);
	managed_fake_put(fake, at + 32, FAKE_BASE + EP(n));
	managed_fake_put(fake, EP(n), finish ? 0x20 : 0);
}

/* The only thread of the list in its ractor. */
static void put_thread(struct managed_fake *fake)
{
	const size_t list[] = { RACTOR + 0x300, THREAD };

	for (size_t i = 0; i < 2; i++) {
		managed_fake_put(fake, list[i], FAKE_BASE + list[!i]);
		managed_fake_put(fake, list[i] + 8, FAKE_BASE + list[!i]);
	}
	managed_fake_put(fake, THREAD + 32, FAKE_BASE + CONTEXT);
	managed_fake_put(fake, THREAD + 40, FAKE_BASE + PTHREAD);
	managed_fake_put(fake, PTHREAD, FAKE_BASE + PTHREAD);
	managed_fake_put32(fake, PTHREAD + 720, FAKE_PID);
}

/* The file calls each(), in C, which calls a block; then there is the dummy. */
static void make_honest(struct managed_fake *fake)
{
	memset(fake->bytes, 0, FAKE_LEN);
	managed_fake_put(fake, ROOT, FAKE_BASE + RACTOR);
	managed_fake_put(fake, RACTOR + 0x208, FAKE_BASE + CONTEXT);
	managed_fake_put(fake, CONTEXT, FAKE_BASE + STACK);
	managed_fake_put(fake, CONTEXT + 8, WORDS);
	managed_fake_put(fake, CONTEXT + 16, FAKE_BASE + FRAMES);
	managed_fake_put(fake, CONTEXT + 48, FAKE_BASE + THREAD);
	put_thread(fake);
	put_frame(fake, 0, put_iseq(fake, 0, "block in handler", 20), 5, true);
	put_frame(fake, 1, 0, 0, false);
	put_frame(fake, 2, put_iseq(fake, 1, "handler", 10), 70, true);
	put_frame(fake, 3, put_iseq(fake, 2, "<main>", 1), 0, true);
}

static void fake_init(struct managed_fake *fake)
{
	struct managed_binary binary = { .name = "libruby-3.1.so.3.1",
					 .symbols = { { .found = true },
						      { .vaddr = ROOT, .found = true } } };

	if (strcmp(arch_native()->name, "x86_64") != 0)
		SKIP("the ractor is one of x86-64");
	memcpy(&binary.symbols[0].word, "3.1.7\0\0", 8);
	managed_fake_init(fake, &managed_ruby, &binary);
	make_honest(fake);
}

#define FAKE(fake)                                              \
	CLEANUP(managed_fake_deinit) struct managed_fake fake; \
	fake_init(&fake)

/* The file has no symbol of the ractor, and other variables before it. */
static void fake_init_stripped(struct managed_fake *fake)
{
	struct managed_binary binary = { .name = "libruby-3.1.so.3.1",
					 .zeroed_vaddr = ROOT,
					 .zeroed_len = 0x100,
					 .symbols = { { .found = true } } };

	if (strcmp(arch_native()->name, "x86_64") != 0)
		SKIP("the ractor is one of x86-64");
	memcpy(&binary.symbols[0].word, "3.1.7\0\0", 8);
	managed_fake_init(fake, &managed_ruby, &binary);
	make_honest(fake);
	managed_fake_put(fake, ROOT, 0);
	managed_fake_put(fake, ROOT + 0x20, FAKE_BASE + ISEQS);
	managed_fake_put(fake, ROOT + 0x28, FAKE_BASE + DECOY);
	managed_fake_put(fake, ROOT + 0x80, FAKE_BASE + RACTOR);
	/* Looks like a ractor, but its context has no thread. */
	managed_fake_put(fake, DECOY + 0x208, FAKE_BASE + DECOY + 0x300);
	managed_fake_put(fake, DECOY + 0x300, FAKE_BASE + STACK);
	managed_fake_put(fake, DECOY + 0x308, WORDS);
	managed_fake_put(fake, DECOY + 0x310, FAKE_BASE + FRAMES);
}

/* Name number @place of the table. */
static uint64_t put_name(struct managed_fake *fake, size_t place, const char *text)
{
	managed_fake_put(fake, NAMES + place * 16, put_text(fake, NAMES + 0x2000 + (place & 15) * 64, text));
	return place << 4;
}

/* each() is a method of Job, the block and handler() are in methods of it, or of the class itself with @self. */
static void make_methods(struct managed_fake *fake)
{
	size_t own = CLASS + 0x100, table = CLASS + 0x200, entries = CLASS + 0x300;

	managed_fake_put(fake, SYMBOLS, 2000);
	managed_fake_put(fake, SYMBOLS + 8, FAKE_BASE + NAMES);
	managed_fake_put(fake, SYMBOLS + 16, FAKE_BASE + SYMBOLS + 64);
	managed_fake_put(fake, SYMBOLS + 64, 7 | 1 << 13 | 1 << 15);
	managed_fake_put(fake, SYMBOLS + 64 + 16, FAKE_BASE + UNIT);
	managed_fake_put(fake, UNIT, 7);
	managed_fake_put(fake, UNIT + 16, 1024);
	managed_fake_put(fake, UNIT + 32, FAKE_BASE + NAMES);
	put_name(fake, '+', "+");

	managed_fake_put(fake, CLASS, 2);
	managed_fake_put(fake, CLASS + 24, FAKE_BASE + own);
	managed_fake_put(fake, own + 8, FAKE_BASE + table);
	managed_fake_put(fake, table + 40, 1);
	managed_fake_put(fake, table + 48, FAKE_BASE + entries);
	managed_fake_put(fake, entries + 8, put_name(fake, 100, "__classpath__"));
	managed_fake_put(fake, entries + 16, put_text(fake, CLASS + 0x400, "App::Job"));

	managed_fake_put(fake, METHOD, 0x1a | 6 << 12);
	managed_fake_put(fake, METHOD + 16, FAKE_BASE + METHOD + 64);
	managed_fake_put(fake, METHOD + 32, FAKE_BASE + CLASS);
	managed_fake_put(fake, METHOD + 64 + 32, put_name(fake, 101, "each"));
	managed_fake_put(fake, EP(1), 0x55550001 | 2);
	for (size_t n = 0; n < 3; n++)
		managed_fake_put(fake, EP(n) - 16, FAKE_BASE + METHOD);
	for (size_t n = 0; n < 2; n++)
		managed_fake_put(fake, ISEQS + n * 4096 + 64 + 72, put_text(fake, ISEQS + n * 4096 + 640, "handler"));
}

static void check_methods(struct managed_fake *fake, const char *block, const char *native, const char *method)
{
	managed_fake_stack(fake, FAKE_PID);
	CHECK_UINT(fake->stack->state, EVENT_MANAGED_WHOLE);
	CHECK_UINT(fake->stack->nframes, 3);
	CHECK_STR(fake->stack->frames[0].name, block);
	CHECK_STR(fake->stack->frames[1].name, native);
	CHECK_STR(fake->stack->frames[1].file, "[internal]");
	CHECK_STR(fake->stack->frames[2].name, method);
}

TEST(managed_ruby_names_classes_and_methods_in_c)
{
	FAKE(fake);

	make_methods(&fake);
	fake.binary.symbols[3] = (struct managed_symbol){ .vaddr = SYMBOLS, .found = true };
	managed_fake_open(&fake);
	check_methods(&fake, "block in App::Job#handler", "App::Job#each", "App::Job#handler");
}

TEST(managed_ruby_names_methods_of_a_class_itself)
{
	FAKE(fake);

	make_methods(&fake);
	fake.binary.symbols[3] = (struct managed_symbol){ .vaddr = SYMBOLS, .found = true };
	managed_fake_open(&fake);
	/* Another class is what the method belongs to: that of the class. */
	managed_fake_put(&fake, METHOD + 32, FAKE_BASE + CLASS + 0x800);
	managed_fake_put(&fake, CLASS + 0x800, 2);
	managed_fake_put(&fake, CLASS + 8, FAKE_BASE + CLASS + 0x800);
	for (size_t n = 0; n < 3; n++)
		managed_fake_put(&fake, FRAMES + n * 64 + 24, FAKE_BASE + CLASS);
	check_methods(&fake, "block in App::Job.handler", "App::Job.each", "App::Job.handler");
}

/* It is among the variables that have a value, before those that have none. */
TEST(managed_ruby_finds_its_names_without_a_symbol)
{
	FAKE(fake);

	make_methods(&fake);
	fake.binary.zeroed_vaddr = SYMBOLS + 0x80;
	managed_fake_open(&fake);
	for (unsigned i = 0; i < 4; i++)
		managed_fake_stack(&fake, FAKE_PID);
	CHECK_UINT(fake.stack->nframes, 3);
	CHECK_STR(fake.stack->frames[1].name, "App::Job#each");
	/* What was read before then has its class from then on, too. */
	CHECK_STR(fake.stack->frames[0].name, "block in App::Job#handler");
}

/* rb_during_gc() with @code at the beginning of @at, whose first instruction refers to @pointer. */
static void put_code(struct managed_fake *fake, size_t at, const char *code, size_t len, size_t pointer)
{
	bool branch = code[0] == '\xf3';

	memcpy(fake->bytes + at, code, len);
	managed_fake_put32(fake, at + (branch ? 7 : 3), (uint32_t)(pointer - at - (branch ? 11 : 7)));
}

static bool collects(struct managed_fake *fake)
{
	managed_fake_stack(fake, FAKE_PID);
	CHECK_UINT(fake->stack->nframes, 2);
	if (!fake->stack->nlabels)
		return false;
	CHECK_STR(fake->stack->labels[0].key, "gc");
	CHECK_STR(fake->stack->labels[0].text, "collecting");
	return true;
}

#define LOAD_FLAG "\x48\x8b\x80\x50\x04\0\0\x0f\xb6\x40\x10\xc0\xe8\x05\x83\xe0\x01\xc3"

TEST(managed_ruby_says_that_it_collects_as_its_own_function_finds_it_out)
{
	/* As Debian's 3.1 and 3.3 have it, and where the pointer is the program's own. */
	static const struct {
		const char *code;
		size_t len;
		bool indirect;
	} codes[] = {
		{ "\x48\x8b\x05....\x48\x8b\x00" LOAD_FLAG, 28, true },
		{ "\xf3\x0f\x1e\xfa\x48\x8d\x05....\x48\x8b\x00\x48\x85\xc0\x74\x15" LOAD_FLAG, 37, false },
		{ "\x48\x8b\x05...." LOAD_FLAG, 25, false },
	};
	const size_t code = 0xe000, pointer = 0xe100, machine = 0xe200, space = 0xe900;

	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		FAKE(fake);

		put_code(&fake, code, codes[i].code, codes[i].len, pointer);
		managed_fake_put(&fake, pointer, FAKE_BASE + (codes[i].indirect ? pointer + 8 : machine));
		managed_fake_put(&fake, pointer + 8, FAKE_BASE + machine);
		managed_fake_put(&fake, machine + 0x450, FAKE_BASE + space);
		fake.binary.symbols[4] = (struct managed_symbol){ .vaddr = code, .found = true };
		managed_fake_open(&fake);
		CHECK(!collects(&fake));
		managed_fake_put(&fake, space + 0x10, 1 << 5);
		CHECK(collects(&fake));
		managed_fake_put(&fake, machine + 0x450, ~0ull);
		CHECK(!collects(&fake));
		fake.bytes[code + codes[i].len - 4] = 0x90; /* another function */
		managed_fake_open(&fake);
		CHECK(!collects(&fake));
	}
}

TEST(managed_ruby_finds_its_ractor_without_a_symbol)
{
	CLEANUP(managed_fake_deinit) struct managed_fake fake;

	fake_init_stripped(&fake);
	managed_fake_stack(&fake, FAKE_PID);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_WHOLE);
	CHECK_UINT(fake.stack->nframes, 2);
	CHECK_STR(fake.stack->frames[0].name, "block in handler");
}

TEST(managed_ruby_finds_no_ractor_of_other_threads)
{
	CLEANUP(managed_fake_deinit) struct managed_fake fake;

	fake_init_stripped(&fake);
	/* What comes in place of the search's failure is no stack, ever. */
	for (unsigned i = 0; i < 200; i++) {
		managed_fake_stack(&fake, FAKE_PID + 1);
		CHECK_UINT(fake.stack->state, EVENT_MANAGED_FAILED);
		CHECK_UINT(fake.stack->nframes, 0);
	}
	size_t reads = fake.reads;

	managed_fake_stack(&fake, FAKE_PID + 1);
	CHECK_UINT(fake.reads, reads); /* it has given up */
}

TEST(managed_ruby_knows_the_native_thread_of_3_2_and_no_number_by_chance)
{
	FAKE(fake);

	/* 1 in a container, which other words are, too: where aarch64 has it, and in other structures. */
	managed_fake_put(&fake, THREAD + 48, FAKE_BASE + PTHREAD + 0x240);
	managed_fake_put32(&fake, PTHREAD + 0x240 + 208, 1);
	managed_fake_put32(&fake, PTHREAD + 0x240 + 720, 1);
	managed_fake_put(&fake, THREAD + 40, FAKE_BASE + NATIVE);
	managed_fake_put32(&fake, NATIVE + 0, 1);
	managed_fake_put(&fake, NATIVE + 16, FAKE_BASE + PTHREAD);
	managed_fake_put32(&fake, PTHREAD + 720, 1);
	managed_fake_stack(&fake, 1);
	CHECK_UINT(fake.stack->nframes, 2);
	managed_fake_put32(&fake, PTHREAD + 0x240 + 208, 7);
	managed_fake_put32(&fake, PTHREAD + 0x240 + 720, 7);
	managed_fake_put32(&fake, NATIVE + 0, 7);
	managed_fake_stack(&fake, 1);
	CHECK_UINT(fake.stack->nframes, 2);
	managed_fake_stack(&fake, 7);
	CHECK_UINT(fake.stack->nframes, 0);
}

/* On its C stack the context's thread has left where another one's pthread_t is, which it made. */
TEST(managed_ruby_takes_no_piece_of_a_stack_for_a_thread)
{
	enum { TAG = 0xe000, MADE = 0xe800, OTHER = 0xe840 };
	FAKE(fake);

	managed_fake_put(&fake, CONTEXT + 24, FAKE_BASE + TAG);
	managed_fake_put(&fake, TAG + 16, FAKE_BASE + CONTEXT);
	managed_fake_put(&fake, TAG + 64, FAKE_BASE + MADE);
	managed_fake_put(&fake, MADE, FAKE_BASE + OTHER);
	managed_fake_put(&fake, OTHER, FAKE_BASE + OTHER);
	managed_fake_put32(&fake, OTHER + 720, FAKE_PID + 1);
	managed_fake_stack(&fake, FAKE_PID + 1);
	CHECK_UINT(fake.stack->nframes, 0);
	managed_fake_stack(&fake, FAKE_PID);
	CHECK_UINT(fake.stack->nframes, 2);
}

TEST(managed_ruby_reads_methods_blocks_and_lines)
{
	FAKE(fake);
	managed_fake_stack(&fake, FAKE_PID);
	const struct event_managed_frame *frames = fake.stack->frames;

	CHECK_UINT(fake.stack->state, EVENT_MANAGED_WHOLE);
	CHECK_UINT(fake.stack->nframes, 2);
	CHECK_STR(frames[0].name, "block in handler");
	CHECK_STR(frames[0].file, "/srv/app.rb");
	CHECK_UINT(frames[0].line, 21);
	CHECK_UINT(frames[0].first_line, 20);
	CHECK(frames[0].entry);
	CHECK_STR(frames[1].name, "handler");
	CHECK_UINT(frames[1].line, 12);
}

TEST(managed_ruby_has_no_frames_for_a_thread_without_the_lock)
{
	FAKE(fake);
	managed_fake_stack(&fake, FAKE_PID + 1);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_NO_FRAMES);
	managed_fake_stack(&fake, FAKE_PID);
	CHECK_UINT(fake.stack->nframes, 2);
	managed_fake_stack(&fake, FAKE_PID + 1);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_NO_FRAMES);
}

TEST(managed_ruby_notices_a_new_method_at_the_same_address)
{
	FAKE(fake);
	managed_fake_stack(&fake, FAKE_PID);
	managed_fake_put(&fake, ISEQS + 64 + 80, put_text(&fake, ISEQS + 704, "another"));
	managed_fake_put(&fake, ISEQS + 64 + 8, FAKE_BASE + ISEQS + 4000); /* its code is elsewhere */
	managed_fake_put(&fake, FRAMES, FAKE_BASE + ISEQS + 4000 + 100 * 8);
	managed_fake_stack(&fake, FAKE_PID);
	CHECK_STR(fake.stack->frames[0].name, "another");
}

TEST(managed_ruby_believes_no_pointer_and_no_length)
{
	static const size_t places[] = { ROOT, RACTOR + 0x208, CONTEXT, CONTEXT + 8, CONTEXT + 16, CONTEXT + 48,
					 THREAD + 40, FRAMES, FRAMES + 16, FRAMES + 32, ISEQS + 16, ISEQS + 64,
					 ISEQS + 72, ISEQS + 128, ISEQS + 144, ISEQS + 184, ISEQS + 200,
					 ISEQS + 208, ISEQS + 512, ISEQS + 576 };
	static const uint64_t values[] = { 0, 1, 0xfff, UINT64_MAX, UINT64_MAX - 4096, 1ULL << 63,
					   FAKE_BASE + FAKE_LEN - 4 };

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		for (size_t v = 0; v < ARRAY_LEN(values); v++) {
			FAKE(fake);
			managed_fake_put(&fake, places[i], values[v]);
			managed_fake_stack(&fake, FAKE_PID);
			CHECK(fake.stack->nframes <= 3);
		}
	}
}

TEST(managed_ruby_survives_memory_that_changes_while_it_is_read)
{
	FAKE(fake);
	fake.changes = true;
	for (int round = 0; round < 500; round++) {
		if (round % 10 == 0)
			make_honest(&fake);
		managed_fake_stack(&fake, FAKE_PID);
	}
	fake.changes = false;
	for (int round = 0; round < 200; round++) {
		managed_fake_scribble(&fake, 2000);
		managed_fake_put(&fake, ROOT, FAKE_BASE + RACTOR);
		managed_fake_put(&fake, RACTOR + 0x208, FAKE_BASE + CONTEXT);
		managed_fake_stack(&fake, FAKE_PID);
	}
}

TEST(managed_ruby_reads_only_versions_that_it_knows)
{
	static const struct {
		const char *version;
		bool context, known;
	} cases[] = { { "2.4.10\0", true, false }, { "2.5.9\0\0", true, true }, { "2.7.8\0\0", false, false },
		      { "3.4.2\0\0", false, true }, { "3.5.0\0\0", false, false }, { "garbage", false, false } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct managed_binary binary = { .name = "ruby" };
		const struct managed_host host = { .binary = &binary };
		const char *why = NULL;

		memcpy(&binary.symbols[0].word, cases[i].version, 8);
		binary.symbols[cases[i].context ? 2 : 1].found = true;
		void *state = managed_ruby.open(&host, &why);

		CHECK(!state == !cases[i].known && !why == cases[i].known);
		if (state)
			managed_ruby.close(state);
	}
}

TEST(managed_ruby_finds_the_thread_among_several_ractors)
{
	enum { VM_POINTER = 0x20, VM = 0xe000, OTHER = 0xe800, LINK = 0x280, RUNNING = 0x208 };
	FAKE(fake);

	managed_fake_put(&fake, ROOT, 0);
	managed_fake_put(&fake, VM_POINTER, FAKE_BASE + VM);
	managed_fake_put(&fake, VM + 8, FAKE_BASE + RACTOR + LINK);
	managed_fake_put(&fake, VM + 32, FAKE_BASE + RACTOR);
	managed_fake_put(&fake, RACTOR + LINK, FAKE_BASE + OTHER + LINK);
	managed_fake_put(&fake, OTHER + LINK, FAKE_BASE + VM + 8);
	managed_fake_put(&fake, RACTOR + RUNNING, 0);
	managed_fake_put(&fake, OTHER + RUNNING, FAKE_BASE + CONTEXT);
	fake.binary.symbols[5] = (struct managed_symbol){ .vaddr = VM_POINTER, .found = true };
	managed_fake_open(&fake);
	managed_fake_stack(&fake, FAKE_PID);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_WHOLE);
	CHECK_UINT(fake.stack->nframes, 2);
	CHECK_STR(fake.stack->frames[0].name, "block in handler");

	/* A list without an end. */
	managed_fake_put(&fake, RACTOR + LINK, FAKE_BASE + RACTOR + LINK);
	managed_fake_stack(&fake, FAKE_PID);
	CHECK_UINT(fake.stack->nframes, 0);
	/* The main ractor is not where its link is. */
	managed_fake_put(&fake, VM + 32, FAKE_BASE + STACK);
	managed_fake_stack(&fake, FAKE_PID);
	CHECK_UINT(fake.stack->nframes, 0);
}

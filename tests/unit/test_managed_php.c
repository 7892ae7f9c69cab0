/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_managed_php.c - stacks of a PHP 8.2 that a test made up, byte by byte, honest and hostile.
 */
#include "tests/unit/managed_fake.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#define GLOBALS	  0x0
#define FRAMES	  0x1000 /* 128 bytes each */
#define OPLINES	  0x2000 /* 32 bytes each */
#define FUNCTIONS 0x3000 /* 1 KiB each, with all that belongs to one */
#define TOP	  (1u << 17)

static uint64_t put_text(struct managed_fake *fake, size_t at, const char *text)
{
	managed_fake_put(fake, at + 16, strlen(text));
	memcpy(fake->bytes + at + 24, text, strlen(text));
	return FAKE_BASE + at;
}

static uint64_t put_function(struct managed_fake *fake, size_t n, uint8_t type, const char *name,
			     const char *class)
{
	size_t at = FUNCTIONS + n * 1024;

	fake->bytes[at] = type;
	managed_fake_put(fake, at + 8, name ? put_text(fake, at + 300, name) : 0);
	managed_fake_put(fake, at + 16, class ? FAKE_BASE + at + 400 : 0);
	if (class)
		managed_fake_put(fake, at + 408, put_text(fake, at + 500, class));
	managed_fake_put(fake, at + 152, put_text(fake, at + 600, "/srv/index.php"));
	managed_fake_put32(fake, at + 160, (uint32_t)(10 * (n + 1)));
	managed_fake_put32(fake, at + 164, (uint32_t)(10 * (n + 1) + 9));
	return FAKE_BASE + at;
}

static void put_frame(struct managed_fake *fake, size_t n, uint64_t function, uint32_t line, uint32_t info,
		      bool last)
{
	size_t at = FRAMES + n * 128;

	managed_fake_put(fake, at, FAKE_BASE + OPLINES + n * 32);
	managed_fake_put(fake, OPLINES + n * 32 + 24, line);
	managed_fake_put(fake, at + 24, function);
	managed_fake_put(fake, at + 40, info);
	managed_fake_put(fake, at + 48, last ? 0 : FAKE_BASE + at + 128);
}

/* The file's code calls array_map(), which calls Item::price(). */
static void make_honest(struct managed_fake *fake)
{
	memset(fake->bytes, 0, FAKE_LEN);
	managed_fake_put(fake, GLOBALS + 488, FAKE_BASE + FRAMES);
	put_frame(fake, 0, put_function(fake, 0, 2, "price", "Item"), 14, TOP, false);
	put_frame(fake, 1, put_function(fake, 1, 1, "array_map", NULL), 0, 0, false);
	put_frame(fake, 2, put_function(fake, 2, 2, NULL, NULL), 33, TOP, true);
}

static void fake_init(struct managed_fake *fake)
{
	managed_fake_init(fake, &managed_php,
			  &(struct managed_binary){ .name = "php8.2",
						    .banner = "8.2.36",
						    .symbols = { { .vaddr = GLOBALS, .found = true } } });
	make_honest(fake);
}

#define FAKE(fake)                                              \
	CLEANUP(managed_fake_deinit) struct managed_fake fake; \
	fake_init(&fake)

static void read_stack(struct managed_fake *fake)
{
	managed_fake_stack(fake, FAKE_PID);
}

TEST(managed_php_reads_classes_files_and_the_line_that_runs)
{
	FAKE(fake);
	read_stack(&fake);
	const struct event_managed_frame *frames = fake.stack->frames;

	CHECK_UINT(fake.stack->state, EVENT_MANAGED_WHOLE);
	CHECK_UINT(fake.stack->nframes, 3);
	CHECK_STR(frames[0].name, "Item::price");
	CHECK_STR(frames[0].file, "/srv/index.php");
	CHECK_UINT(frames[0].line, 14);
	CHECK_UINT(frames[0].first_line, 10);
	CHECK(frames[0].entry);
	CHECK_STR(frames[1].name, "array_map");
	CHECK_UINT(frames[1].line, 0);
	CHECK(!frames[1].entry);
	CHECK_STR(frames[2].name, "<main>");
	CHECK_UINT(frames[2].line, 33);
	CHECK(frames[2].entry);
}

#if defined(__x86_64__)
#define FRAME_REG  14
#define OPLINE_REG 15
#define FRAME_REG_PRESERVED  12
#define OPLINE_REG_PRESERVED 13
#else
#define FRAME_REG  27
#define OPLINE_REG 28
#define FRAME_REG_PRESERVED  20
#define OPLINE_REG_PRESERVED 21
#endif

/* Function @n has its instructions 8 to 15 of the page. */
static void put_instructions(struct managed_fake *fake, size_t n, uint32_t line)
{
	managed_fake_put32(fake, FUNCTIONS + n * 1024 + 80, 8);
	managed_fake_put(fake, FUNCTIONS + n * 1024 + 88, FAKE_BASE + OPLINES + 8 * 32);
	for (size_t i = 0; i < 8; i++)
		managed_fake_put(fake, OPLINES + (8 + i) * 32 + 24, line);
}

static void check_line_with(struct managed_fake *fake, uint64_t frame, uint64_t opline, uint32_t expected)
{
	struct event_regs regs = { .mask = 1ULL << FRAME_REG | 1ULL << OPLINE_REG };

	regs.values[FRAME_REG] = frame;
	regs.values[OPLINE_REG] = opline;
	fake->regs = &regs;
	read_stack(fake);
	fake->regs = NULL;
	CHECK_UINT(fake->stack->state, EVENT_MANAGED_WHOLE);
	CHECK_UINT(fake->stack->frames[0].line, expected);
	CHECK_UINT(fake->stack->frames[2].line, 33);
}

/* The loop has its instruction in a register; what the frame has is the last that it wrote there. */
TEST(managed_php_takes_the_line_from_the_registers_of_the_sample)
{
	FAKE(fake);
	const uint64_t frame = FAKE_BASE + FRAMES, first = FAKE_BASE + OPLINES + 8 * 32;

	put_instructions(&fake, 0, 17);
	check_line_with(&fake, frame, first, 17);
	check_line_with(&fake, frame, first + 7 * 32, 17);
	/* Not one of its instructions. */
	check_line_with(&fake, frame, first + 8 * 32, 14);
	check_line_with(&fake, frame, first - 32, 14);
	check_line_with(&fake, frame, first + 8, 14);
	check_line_with(&fake, frame, 0, 14);
	/* Another frame than the innermost: the thread ran on, and called this. */
	put_instructions(&fake, 2, 39);
	check_line_with(&fake, frame + 2 * 128, first, 14);
	check_line_with(&fake, 0, first, 14);
}

TEST(managed_php_knows_the_registers_of_builds_by_clang)
{
	FAKE(fake);
	struct event_regs regs = { .mask = 1ULL << FRAME_REG_PRESERVED | 1ULL << OPLINE_REG_PRESERVED };

	put_instructions(&fake, 0, 17);
	regs.values[FRAME_REG_PRESERVED] = FAKE_BASE + FRAMES;
	regs.values[OPLINE_REG_PRESERVED] = FAKE_BASE + OPLINES + 9 * 32;
	fake.regs = &regs;
	read_stack(&fake);
	CHECK_UINT(fake.stack->frames[0].line, 17);
	regs.mask = 0; /* of a kernel thread, say */
	read_stack(&fake);
	CHECK_UINT(fake.stack->frames[0].line, 14);
	fake.regs = NULL;
}

/* Below a fiber's first function is an internal one without a name; PHP's own backtraces leave it out. */
TEST(managed_php_leaves_out_the_first_frame_of_a_fiber)
{
	FAKE(fake);
	put_frame(&fake, 1, put_function(&fake, 1, 1, NULL, NULL), 0, 0, false);
	read_stack(&fake);

	CHECK_UINT(fake.stack->state, EVENT_MANAGED_WHOLE);
	CHECK_UINT(fake.stack->nframes, 2);
	CHECK_STR(fake.stack->frames[0].name, "Item::price");
	CHECK_STR(fake.stack->frames[1].name, "<main>");
}

/* Its class is called "class@anonymous", NUL, and where it was declared. */
TEST(managed_php_names_methods_of_anonymous_classes)
{
	FAKE(fake);
	put_function(&fake, 0, 2, "__invoke", "class@anonymous /srv/index.php:14$0");
	fake.bytes[FUNCTIONS + 500 + 24 + strlen("class@anonymous")] = 0;
	read_stack(&fake);

	CHECK_STR(fake.stack->frames[0].name, "class@anonymous::__invoke");
}

/* With thread safety: two threads, the second of which runs what make_honest() makes. */
#define BLOCK	  0x8000 /* of the first thread: its entry, its globals behind it; then the second's */
#define BLOCK_LEN 0x1000
#define TABLE	  0xa000
#define PTHREADS  0xb000 /* 2 KiB each */
#define VARIABLES 0x0c00
#define OTHER_TID 4712

static void put_thread(struct managed_fake *fake, size_t n, uint32_t tid, bool last)
{
	size_t entry = BLOCK + n * BLOCK_LEN, pthread = PTHREADS + n * 2048;

	managed_fake_put(fake, entry + 16, FAKE_BASE + pthread);
	managed_fake_put(fake, entry + 24, last ? 0 : FAKE_BASE + entry + BLOCK_LEN);
	managed_fake_put(fake, pthread, FAKE_BASE + pthread);
	managed_fake_put32(fake, pthread + 720, tid);
}

static void threaded_init(struct managed_fake *fake, bool stripped)
{
	struct managed_binary binary = {
		.name = "php8.2",
		.banner = "8.2.36",
		.zeroed_vaddr = VARIABLES,
		.zeroed_len = 0x200,
		.symbols = { [3] = { .vaddr = VARIABLES + 0x100, .found = true },
			     [6] = { .vaddr = VARIABLES + 0x80, .found = !stripped },
			     [7] = { .vaddr = VARIABLES + 0x90, .found = !stripped },
			     [8] = { .vaddr = VARIABLES + 0x110, .found = true } },
	};

	managed_fake_init(fake, &managed_php, &binary);
	make_honest(fake);
	managed_fake_put(fake, GLOBALS + 488, 0);
	managed_fake_put(fake, VARIABLES + 0x40, FAKE_BASE + FUNCTIONS); /* another variable */
	managed_fake_put(fake, VARIABLES + 0x80, FAKE_BASE + TABLE);
	managed_fake_put32(fake, VARIABLES + 0x90, 1);
	managed_fake_put(fake, VARIABLES + 0x100, 64); /* where a thread's executor_globals are */
	managed_fake_put(fake, TABLE, FAKE_BASE + BLOCK);
	managed_fake_put(fake, TABLE + 8, 0x31); /* malloc()'s, of what is behind it */
	put_thread(fake, 0, OTHER_TID, false);
	put_thread(fake, 1, FAKE_PID, true);
	managed_fake_put(fake, BLOCK + BLOCK_LEN + 64 + 488, FAKE_BASE + FRAMES);
}

TEST(managed_php_with_thread_safety_reads_the_stack_of_each_thread)
{
	for (int stripped = 0; stripped < 2; stripped++) {
		CLEANUP(managed_fake_deinit) struct managed_fake fake;

		threaded_init(&fake, stripped);
		read_stack(&fake);
		CHECK_UINT(fake.stack->state, EVENT_MANAGED_WHOLE);
		CHECK_UINT(fake.stack->nframes, 3);
		CHECK_STR(fake.stack->frames[0].name, "Item::price");
		managed_fake_stack(&fake, OTHER_TID);
		CHECK_UINT(fake.stack->state, EVENT_MANAGED_NO_FRAMES);
		managed_fake_stack(&fake, 1);
		CHECK_UINT(fake.stack->state, EVENT_MANAGED_NO_FRAMES);
		read_stack(&fake);
		CHECK_UINT(fake.stack->nframes, 3);
	}
}

TEST(managed_php_does_not_guess_where_a_threads_globals_are)
{
	CLEANUP(managed_fake_deinit) struct managed_fake fake;
	static const uint64_t offsets[] = { 0, 8, UINT64_MAX, 1ull << 63, 1u << 20 };

	threaded_init(&fake, false);
	for (size_t i = 0; i < ARRAY_LEN(offsets); i++) {
		managed_fake_put(&fake, VARIABLES + 0x100, offsets[i]);
		read_stack(&fake);
		CHECK_UINT(fake.stack->state, EVENT_MANAGED_FAILED);
	}
}

TEST(managed_php_survives_a_table_of_threads_that_is_not_one)
{
	for (int stripped = 0; stripped < 2; stripped++) {
		CLEANUP(managed_fake_deinit) struct managed_fake fake;

		threaded_init(&fake, stripped);
		managed_fake_put(&fake, BLOCK + 24, FAKE_BASE + BLOCK); /* a list that goes in a circle */
		read_stack(&fake);
		CHECK_UINT(fake.stack->nframes, 0);
		for (unsigned i = 0; i < 200; i++) {
			managed_fake_scribble(&fake, 500);
			read_stack(&fake);
		}
	}
}

/* The instruction of a frame that has called nothing yet is in a register. */
TEST(managed_php_takes_no_line_from_what_another_frame_left)
{
	static const uint64_t oplines[] = { 0, 8, FAKE_BASE + FAKE_LEN, 1ull << 63, FAKE_BASE + OPLINES + 2 * 32 /* main()'s, of line 33 */,
					    FAKE_BASE + OPLINES + 3 * 32 };
	FAKE(fake);

	managed_fake_put(&fake, OPLINES + 3 * 32 + 24, 9); /* of a function before it */
	for (size_t i = 0; i < ARRAY_LEN(oplines); i++) {
		managed_fake_put(&fake, FRAMES, oplines[i]);
		read_stack(&fake);
		CHECK_UINT(fake.stack->state, EVENT_MANAGED_WHOLE);
		CHECK_UINT(fake.stack->nframes, 3);
		CHECK_UINT(fake.stack->frames[0].line, 0);
		CHECK_UINT(fake.stack->frames[2].line, 33);
	}
}

#define SAPI	0x800
#define CONTEXT 0xc000
#define URI	(CONTEXT + 8296 + 1955 % 128 * 8) /* of the server's parameters the chain that has its name */
#define ENTRIES 0xf000

static void put_parameter(struct managed_fake *fake, size_t n, uint32_t hash, const char *value, uint64_t next)
{
	const size_t at = ENTRIES + n * 256;

	managed_fake_put32(fake, at, hash);
	managed_fake_put32(fake, at + 4, 11);
	managed_fake_put(fake, at + 24, FAKE_BASE + at + 64);
	managed_fake_put(fake, at + 32, next);
	memcpy(fake->bytes + at + 64, value, strlen(value) + 1);
}

static const char *label_of(const struct managed_fake *fake, const char *key)
{
	for (size_t i = 0; i < fake->stack->nlabels; i++)
		if (strcmp(fake->stack->labels[i].key, key) == 0)
			return fake->stack->labels[i].text;
	return "";
}

/* One script answers all: what was asked for is the web server's to say. */
TEST(managed_php_names_the_request_as_the_web_server_does)
{
	CLEANUP(managed_fake_deinit) struct managed_fake fake;

	managed_fake_init(&fake, &managed_php,
			  &(struct managed_binary){ .name = "php-fpm8.2",
						    .banner = "8.2.36",
						    .symbols = { { .vaddr = GLOBALS, .found = true },
								 { .vaddr = SAPI, .found = true } } });
	make_honest(&fake);
	managed_fake_put(&fake, SAPI, FAKE_BASE + CONTEXT);
	managed_fake_put(&fake, SAPI + 48, FAKE_BASE + 0xe00);
	memcpy(fake.bytes + 0xe00, "/index.php", 11);
	managed_fake_put(&fake, URI, FAKE_BASE + ENTRIES);
	put_parameter(&fake, 0, 1955 + 128, "other", FAKE_BASE + ENTRIES + 256);
	put_parameter(&fake, 1, 1955, "/report?secret=1", 0);
	read_stack(&fake);
	CHECK_STR(label_of(&fake, "uri"), "/report");
	/* A chain that goes in a circle, and one that leads nowhere. */
	put_parameter(&fake, 0, 1955 + 128, "other", FAKE_BASE + ENTRIES);
	read_stack(&fake);
	CHECK_STR(label_of(&fake, "uri"), "/index.php");
	managed_fake_put(&fake, URI, UINT64_MAX - 7);
	read_stack(&fake);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_WHOLE);
	CHECK_STR(label_of(&fake, "uri"), "/index.php");
}

/* A generator of PHP before 8.0 has an iterator before its frame; what children there are takes more room in older ones. */
#define GENERATORS 0xd000 /* 1 KiB each */

static void put_generator(struct managed_fake *fake, size_t n, size_t frame_at, size_t to_parent, size_t frame, size_t parent)
{
	size_t at = GENERATORS + n * 1024;

	managed_fake_put(fake, at + frame_at, FAKE_BASE + FRAMES + frame * 128);
	managed_fake_put(fake, FRAMES + frame * 128 + 16, FAKE_BASE + at);
	managed_fake_put(fake, at + 256 - to_parent, parent ? FAKE_BASE + GENERATORS + parent * 1024 : 0);
}

/* main() asks generator 0, which delegates to 1, and that to 2, which runs. */
static void put_delegates(struct managed_fake *fake, size_t frame_at, size_t to_parent)
{
	size_t placeholder = GENERATORS + 256;

	make_honest(fake);
	put_frame(fake, 0, put_function(fake, 0, 2, "runs", NULL), 14, TOP, false);
	managed_fake_put(fake, FRAMES + 48, FAKE_BASE + placeholder);
	managed_fake_put(fake, placeholder + 32, FAKE_BASE + GENERATORS);
	managed_fake_put(fake, placeholder + 48, FAKE_BASE + FRAMES + 2 * 128);
	put_frame(fake, 3, put_function(fake, 3, 2, "asked", NULL), 44, TOP, true);
	put_frame(fake, 4, put_function(fake, 4, 2, "between", NULL), 55, TOP, true);
	put_generator(fake, 0, frame_at, to_parent, 3, 1);
	put_generator(fake, 1, frame_at, to_parent, 4, 2);
	put_generator(fake, 2, frame_at, to_parent, 0, 0);
}

TEST(managed_php_has_the_generators_that_delegate_to_the_one_that_runs)
{
	static const size_t layouts[][2] = { { 56, 32 }, { 64, 40 }, { 64, 88 } };
	static const char *const names[] = { "runs", "between", "asked", "<main>" };
	static const uint32_t lines[] = { 14, 55, 44, 33 };
	FAKE(fake);

	for (size_t i = 0; i < ARRAY_LEN(layouts); i++) {
		put_delegates(&fake, layouts[i][0], layouts[i][1]);
		read_stack(&fake);
		const struct event_managed_frame *frames = fake.stack->frames;

		CHECK_UINT(fake.stack->state, EVENT_MANAGED_WHOLE);
		CHECK_UINT(fake.stack->nframes, 4);
		for (size_t j = 0; j < 4; j++) {
			CHECK_STR(frames[j].name, names[j]);
			CHECK_UINT(frames[j].line, lines[j]);
			CHECK_UINT(frames[j].entry, j == 0 || j == 3); /* one call of the loop runs all three */
		}
	}
}

TEST(managed_php_shows_no_stack_without_generators_that_belong_to_it)
{
	FAKE(fake);

	put_delegates(&fake, 56, 32);
	managed_fake_put(&fake, GENERATORS + 1024 + 256 - 32, FAKE_BASE + GENERATORS); /* in a circle */
	read_stack(&fake);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_FAILED);
	CHECK_UINT(fake.stack->nframes, 0);
	put_delegates(&fake, 72, 32);
	read_stack(&fake);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_FAILED);
}

TEST(managed_php_notices_a_new_function_at_the_same_address)
{
	FAKE(fake);
	read_stack(&fake);
	managed_fake_put(&fake, FUNCTIONS + 8, put_text(&fake, FUNCTIONS + 800, "tax"));
	read_stack(&fake);
	CHECK_STR(fake.stack->frames[0].name, "Item::tax");
}

TEST(managed_php_cuts_frames_that_go_in_a_circle)
{
	FAKE(fake);
	managed_fake_put(&fake, FRAMES + 2 * 128 + 48, FAKE_BASE + FRAMES);
	read_stack(&fake);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_CUT);
	managed_fake_put(&fake, FRAMES + 48, FAKE_BASE + FRAMES);
	read_stack(&fake);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_FAILED);
}

TEST(managed_php_believes_no_length_and_no_kind)
{
	FAKE(fake);
	managed_fake_put(&fake, FUNCTIONS + 300 + 16, 1ULL << 63);
	read_stack(&fake);
	CHECK_UINT(fake.stack->nframes, 3);
	CHECK(strlen(fake.stack->frames[0].name) <= 256);
	fake.bytes[FUNCTIONS] = 77;
	read_stack(&fake);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_FAILED);
	CHECK_UINT(fake.stack->nframes, 0);
}

TEST(managed_php_survives_memory_that_changes_while_it_is_read)
{
	FAKE(fake);
	managed_fake_ask_locals(&fake);
	fake.changes = true;
	for (int round = 0; round < 500; round++) {
		if (round % 10 == 0)
			make_honest(&fake);
		read_stack(&fake);
	}
}

TEST(managed_php_reads_only_versions_that_it_knows)
{
	struct managed_binary binary = { .banner = "8.5.1", .symbols = { { .vaddr = 8, .found = true } } };
	const struct managed_host host = { .binary = &binary };
	const char *why = NULL;
	void *state = managed_php.open(&host, &why);

	CHECK(state);
	managed_php.close(state);
	strcpy(binary.banner, "8.6.0");
	CHECK(!managed_php.open(&host, &why) && why);
	why = NULL;
	strcpy(binary.banner, "5.6.40");
	CHECK(!managed_php.open(&host, &why) && why);
	why = NULL;
	strcpy(binary.banner, "8.2.0");
	binary.symbols[0].found = false;
	CHECK(!managed_php.open(&host, &why) && why);
	why = NULL;
	binary.symbols[8] = (struct managed_symbol){ .vaddr = 8, .found = true }; /* thread safety before 7.4 */
	CHECK(!managed_php.open(&host, &why) && strstr(why, "ZTS"));
	why = NULL;
}

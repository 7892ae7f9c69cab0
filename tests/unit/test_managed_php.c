/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_managed_php.c - stacks of a PHP 8.2 that a test made up, byte by byte, honest and hostile.
 */
#include "record/managed/managed.h"

#include "formats/base/memory.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#define BASE	  0x7f0000000000ULL
#define LEN	  (64u << 10)
#define PID	  4711
#define GLOBALS	  0x0
#define FRAMES	  0x1000 /* 128 bytes each */
#define OPLINES	  0x2000 /* 32 bytes each */
#define FUNCTIONS 0x3000 /* 1 KiB each, with all that belongs to one */
#define TOP	  (1u << 17)

struct fake {
	uint8_t *bytes;
	bool changes; /* while it is read */
	unsigned seed;
	struct managed_names names;
	struct managed_binary binary;
	void *state;
	struct managed_view *view;
	struct managed_stack *stack;
};

static void put(struct fake *fake, size_t at, uint64_t value)
{
	memcpy(fake->bytes + at, &value, sizeof(value));
}

static size_t fake_read(void *context, uint64_t addr, void *ret, size_t len)
{
	struct fake *fake = context;

	for (int i = 0; i < 4 && fake->changes; i++)
		put(fake, (size_t)rand_r(&fake->seed) % (LEN / 8) * 8,
		    BASE + (size_t)rand_r(&fake->seed) % LEN);
	if (addr < BASE || addr - BASE >= LEN)
		return 0;
	len = MIN(len, (size_t)(LEN - (addr - BASE)));
	memcpy(ret, fake->bytes + (addr - BASE), len);
	return len;
}

static uint64_t put_text(struct fake *fake, size_t at, const char *text)
{
	put(fake, at + 16, strlen(text));
	memcpy(fake->bytes + at + 24, text, strlen(text));
	return BASE + at;
}

static uint64_t put_function(struct fake *fake, size_t n, uint8_t type, const char *name,
			     const char *class)
{
	size_t at = FUNCTIONS + n * 1024;

	fake->bytes[at] = type;
	put(fake, at + 8, name ? put_text(fake, at + 300, name) : 0);
	put(fake, at + 16, class ? BASE + at + 400 : 0);
	if (class)
		put(fake, at + 408, put_text(fake, at + 500, class));
	put(fake, at + 152, put_text(fake, at + 600, "/srv/index.php"));
	put(fake, at + 160, 10 * (n + 1));
	return BASE + at;
}

static void put_frame(struct fake *fake, size_t n, uint64_t function, uint32_t line, uint32_t info,
		      bool last)
{
	size_t at = FRAMES + n * 128;

	put(fake, at, BASE + OPLINES + n * 32);
	put(fake, OPLINES + n * 32 + 24, line);
	put(fake, at + 24, function);
	put(fake, at + 40, info);
	put(fake, at + 48, last ? 0 : BASE + at + 128);
}

/* The file's code calls array_map(), which calls Item::price(). */
static void make_honest(struct fake *fake)
{
	memset(fake->bytes, 0, LEN);
	put(fake, GLOBALS + 488, BASE + FRAMES);
	put_frame(fake, 0, put_function(fake, 0, 2, "price", "Item"), 14, TOP, false);
	put_frame(fake, 1, put_function(fake, 1, 1, "array_map", NULL), 0, 0, false);
	put_frame(fake, 2, put_function(fake, 2, 2, NULL, NULL), 33, TOP, true);
}

static void fake_init(struct fake *fake)
{
	*fake = (struct fake){ .bytes = memory_zeroed(1, LEN), .seed = 5 };
	managed_names_init(&fake->names);
	fake->binary = (struct managed_binary){ .name = "php8.2",
						.banner = "8.2.36",
						.symbols = { { .vaddr = GLOBALS, .found = true } } };
	const struct managed_host host = {
		.binary = &fake->binary, .bias = BASE, .pid = PID, .names = &fake->names
	};

	fake->state = managed_php.open(&host);
	fake->view = memory_zeroed(1, sizeof(*fake->view));
	fake->stack = memory_zeroed(1, sizeof(*fake->stack));
	make_honest(fake);
}

static void fake_deinit(struct fake *fake)
{
	managed_php.close(fake->state);
	managed_names_deinit(&fake->names);
	free(fake->view);
	free(fake->stack);
	free(fake->bytes);
}

#define FAKE(fake)                             \
	CLEANUP(fake_deinit) struct fake fake; \
	fake_init(&fake)

static void read_stack(struct fake *fake)
{
	managed_view_begin(fake->view, fake_read, fake);
	managed_php.read(fake->state, PID, fake->view, fake->stack);
	CHECK(fake->view->reads <= MANAGED_READS_MAX + 1);
	CHECK(fake->stack->nframes <= EVENT_MANAGED_FRAMES_MAX);
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

TEST(managed_php_notices_a_new_function_at_the_same_address)
{
	FAKE(fake);
	read_stack(&fake);
	put(&fake, FUNCTIONS + 8, put_text(&fake, FUNCTIONS + 800, "tax"));
	read_stack(&fake);
	CHECK_STR(fake.stack->frames[0].name, "Item::tax");
}

TEST(managed_php_cuts_frames_that_go_in_a_circle)
{
	FAKE(fake);
	put(&fake, FRAMES + 2 * 128 + 48, BASE + FRAMES);
	read_stack(&fake);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_CUT);
	put(&fake, FRAMES + 48, BASE + FRAMES);
	read_stack(&fake);
	CHECK_UINT(fake.stack->state, EVENT_MANAGED_FAILED);
}

TEST(managed_php_believes_no_length_and_no_kind)
{
	FAKE(fake);
	put(&fake, FUNCTIONS + 300 + 16, 1ULL << 63);
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
	fake.changes = true;
	for (int round = 0; round < 500; round++) {
		if (round % 10 == 0)
			make_honest(&fake);
		read_stack(&fake);
	}
}

TEST(managed_php_reads_only_versions_that_it_knows)
{
	struct managed_binary binary = { .banner = "8.5.1", .symbols = { { .found = true } } };
	const struct managed_host host = { .binary = &binary };
	void *state = managed_php.open(&host);

	CHECK(state);
	managed_php.close(state);
	strcpy(binary.banner, "8.6.0");
	CHECK(!managed_php.open(&host));
	strcpy(binary.banner, "5.6.40");
	CHECK(!managed_php.open(&host));
	strcpy(binary.banner, "8.2.0");
	binary.symbols[0].found = false; /* thread safety */
	CHECK(!managed_php.open(&host));
}

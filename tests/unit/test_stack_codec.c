/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stack_codec.c - registers, stacks and chains there and back, and what little they take.
 */
#include "formats/trace/stack_codec.h"

#include "formats/base/memory.h"
#include "tests/unit/event_maker.h"
#include "tests/unit/test.h"

#include <string.h>

/* Both sides of the codec and the bytes between them. */
struct line {
	struct writer fresh, shapes, pointers, numbers;
	struct value_encoder enc;
	struct value_decoder dec;
	struct reader fresh_in, shapes_in, pointers_in, numbers_in;
};

static void line_init(struct line *line)
{
	*line = (struct line){ 0 };
	line->enc.fresh = &line->fresh;
	line->dec.fresh = &line->fresh_in;
}

static struct stack_writers line_writers(struct line *line)
{
	return (struct stack_writers){ &line->shapes, &line->pointers, &line->numbers };
}

static struct stack_readers line_readers(struct line *line)
{
	return (struct stack_readers){ &line->shapes_in, &line->pointers_in, &line->numbers_in };
}

/* Turn round: from here on what was written is read. */
static void line_turn(struct line *line)
{
	reader_init(&line->fresh_in, line->fresh.data, line->fresh.len, false);
	reader_init(&line->shapes_in, line->shapes.data, line->shapes.len, false);
	reader_init(&line->pointers_in, line->pointers.data, line->pointers.len, false);
	reader_init(&line->numbers_in, line->numbers.data, line->numbers.len, false);
}

static size_t line_len(const struct line *line)
{
	return line->fresh.len + line->shapes.len + line->pointers.len + line->numbers.len;
}

static void line_deinit(struct line *line)
{
	writer_deinit(&line->fresh);
	writer_deinit(&line->shapes);
	writer_deinit(&line->pointers);
	writer_deinit(&line->numbers);
	value_encoder_deinit(&line->enc);
	value_decoder_deinit(&line->dec);
}

/* Read a stack that was put against @prev. */
static struct event_stack get_stack(struct line *line, struct arena *arena,
				    const struct event_stack *prev, uint64_t sp)
{
	struct stack_readers from = line_readers(line);
	struct event_stack stack;
	struct stack_room room;

	stack_get_shape(&line->shapes_in, prev, sp, &stack);
	CHECK_OK(reader_check(&line->shapes_in));
	room.slots = ARENA_ARRAY(arena, uint32_t, stack.nwords);
	room.words = ARENA_ARRAY(arena, uint64_t, stack.nwords);
	stack_get(&line->dec, &from, prev, &stack, room);
	CHECK_OK(reader_check(&line->shapes_in));
	CHECK_OK(reader_check(&line->pointers_in));
	CHECK_OK(reader_check(&line->numbers_in));
	return stack;
}

static void check_same(const struct event_stack *got, const struct event_stack *want)
{
	CHECK_UINT(got->base, want->base);
	CHECK_UINT(got->end, want->end);
	CHECK_UINT(got->cut, want->cut);
	CHECK_UINT(got->shortened, want->shortened);
	CHECK_UINT(got->nwords, want->nwords);
	CHECK_MEM(got->slots, want->slots, want->nwords * sizeof(*want->slots));
	CHECK_MEM(got->words, want->words, want->nwords * sizeof(*want->words));
}

static uint64_t word_at(const struct event_stack *stack, uint64_t address)
{
	for (size_t i = 0; i < stack->nwords; i++) {
		if (stack->base + 8ULL * stack->slots[i] == address)
			return stack->words[i];
	}
	return 0;
}

/* What is said to be the same as in @prev must be. */
static void check_told(const struct event_stack *got, const struct event_stack *prev)
{
	CHECK(!got->previous || got->previous == prev);
	if (!got->previous)
		return;
	CHECK(got->same_from >= got->base && got->same_from >= prev->base);
	for (uint64_t at = got->same_from; at < MIN(got->end, prev->end); at += 8)
		CHECK_UINT(word_at(got, at), word_at(prev, at));
}

/* Write @second after @first, check that both come back; how many bytes the second took. */
static size_t there_and_back(const struct event_stack *first, const struct event_stack *second)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	static const struct event_stack none;
	struct event_stack got, before_it;
	struct stack_writers to;
	struct line line;
	size_t before, len;

	line_init(&line);
	to = line_writers(&line);
	stack_put(&line.enc, &to, &none, first, first->base);
	before = line_len(&line);
	stack_put(&line.enc, &to, first, second, second->base - 3);
	len = line_len(&line) - before;
	line_turn(&line);
	got = get_stack(&line, &arena, &none, first->base);
	check_same(&got, first);
	before_it = got;
	got = get_stack(&line, &arena, &before_it, second->base - 3);
	check_same(&got, second);
	check_told(&got, &before_it);
	CHECK_UINT(reader_left(&line.shapes_in), 0);
	line_deinit(&line);
	return len;
}

#define BASE 0x7ffc00001000u

static const uint32_t slots[] = { 0, 3, 4, 70, 127 };
static const uint64_t words[] = { 0x401000, 0x7ffc0000u + 0ull, BASE + 8 * 70ull, 0x402000, 7 };
static const struct event_stack plain = {
	.base = BASE, .end = BASE + 1024, .nwords = 5, .slots = slots, .words = words, .cut = true
};

TEST(stack_codec_takes_four_bytes_for_a_stack_that_stayed)
{
	/* Flags, base, count, one copy. */
	CHECK_UINT(there_and_back(&plain, &plain), 4);
}

TEST(stack_codec_copies_around_what_changed)
{
	uint64_t changed[ARRAY_LEN(words)];
	struct event_stack second = plain;

	second.words = changed;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		memcpy(changed, words, sizeof(words));
		changed[i] = 0x401000 + i;
		/* What stayed takes a byte on either side, the new word five at most. */
		CHECK(there_and_back(&plain, &second) <= 3 + 2 + 5);
	}
}

TEST(stack_codec_copies_what_lies_at_the_same_address)
{
	uint32_t moved[ARRAY_LEN(slots)];
	struct event_stack second = plain;

	/* The stack grew by 16 words at its base. */
	for (size_t i = 0; i < ARRAY_LEN(slots); i++)
		moved[i] = slots[i] + 16;
	second.base -= 128;
	second.slots = moved;
	CHECK_UINT(there_and_back(&plain, &second), 4);

	/* It shrank until only the last two words were left. */
	uint32_t left[] = { slots[3] - 70, slots[4] - 70 };

	second = plain;
	second.base += 8 * 70;
	second.nwords = 2;
	second.slots = left;
	second.words = words + 3;
	CHECK_UINT(there_and_back(&plain, &second), 4);
}

TEST(stack_codec_skips_words_that_are_gone)
{
	uint32_t some_slots[] = { 0, 3, 127 };
	uint64_t some_words[] = { words[0], words[1], words[4] };
	struct event_stack second = plain;

	second.nwords = 3;
	second.slots = some_slots;
	second.words = some_words;
	/* Flags, base, count, copy, skip, copy. */
	CHECK_UINT(there_and_back(&plain, &second), 6);
}

TEST(stack_codec_gives_frames_of_one_function_the_same_bytes)
{
	struct line line;
	struct stack_writers to;
	static const struct event_stack none;
	uint64_t frames[] = { BASE + 64, 0x401000, BASE + 64 + 4 * 8, 0x401000 };
	uint32_t places[] = { 0, 1, 4, 5 };
	struct event_stack stack = {
		.base = BASE, .end = BASE + 64, .nwords = 4, .slots = places, .words = frames
	};

	line_init(&line);
	to = line_writers(&line);
	stack_put(&line.enc, &to, &none, &stack, BASE);
	/* Their pointers are 8 words above their slots, both times; the gaps are alike. */
	CHECK_UINT(line.pointers.len, 2);
	CHECK_UINT(line.pointers.data[0], line.pointers.data[1]);
	CHECK_UINT(line.shapes.data[line.shapes.len - 2],
		   line.shapes.data[line.shapes.len - 4] + 0u);
	CHECK_UINT(line.numbers.data[1], 1);
	line_deinit(&line);
}

TEST(stack_codec_brings_any_stack_back)
{
	struct event_maker maker = { .state = 99 };
	struct event_stack last[MAKER_TASKS] = { { 0 } }, got[MAKER_TASKS] = { { 0 } };
	struct event ev[400];
	struct stack_writers to;
	struct line line;
	size_t told = 0;

	line_init(&line);
	to = line_writers(&line);
	for (size_t i = 0; i < ARRAY_LEN(ev); i++) {
		maker_kind(&maker, EVENT_SAMPLE, &ev[i]);
		stack_put(&line.enc, &to, &last[ev[i].tid % MAKER_TASKS], &ev[i].sample.stack, 0);
		last[ev[i].tid % MAKER_TASKS] = ev[i].sample.stack;
	}
	line_turn(&line);
	for (size_t i = 0; i < ARRAY_LEN(ev); i++) {
		struct event_stack *prev = &got[ev[i].tid % MAKER_TASKS];
		struct event_stack now = get_stack(&line, &maker.arena, prev, 0);

		check_same(&now, &ev[i].sample.stack);
		check_told(&now, prev);
		told += now.previous != NULL;
		*prev = now;
	}
	CHECK(told > 0);
	line_deinit(&line);
	maker_deinit(&maker);
}

static void check_refused(const void *shapes, size_t len, const struct event_stack *prev)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct stack_readers from;
	struct event_stack stack;
	struct stack_room room;
	struct line line;

	line_init(&line);
	writer_bytes(&line.shapes, shapes, len);
	line_turn(&line);
	from = line_readers(&line);
	stack_get_shape(&line.shapes_in, prev, BASE, &stack);
	if (!line.shapes_in.failed) {
		room.slots = ARENA_ARRAY(&arena, uint32_t, stack.nwords);
		room.words = ARENA_ARRAY(&arena, uint64_t, stack.nwords);
		stack_get(&line.dec, &from, prev, &stack, room);
	}
	CHECK(line.shapes_in.failed);
	line_deinit(&line);
}

#define REFUSED(prev, ...)                                                                        \
	check_refused((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), \
		      prev)

TEST(stack_codec_refuses_what_cannot_be)
{
	static const struct event_stack none;

	REFUSED(&none, 4, 0, 4);                             /* no count */
	REFUSED(&none, 4, 0, 4, 5, 0x40, 0x40, 0x40, 0x40);  /* more words than slots */
	REFUSED(&none, 4, 0, 4, 2, 0x40);                    /* more words than bytes */
	REFUSED(&none, 4, 0, 4, 1, 0x44);                    /* a gap below the base */
	REFUSED(&none, 4, 0, 4, 1, 0x00);                    /* copies nothing */
	REFUSED(&plain, 0, 0, 5, 0x05, 0);                   /* copies more than there is */
	REFUSED(&plain, 0, 0, 5, 0xd5, 0);                   /* skips more than there is */
	REFUSED(&plain, 0, 0, 5, 0xe0, 0);                   /* an unknown token */
	REFUSED(&plain, 0, 2, 5, 0x04, 0);                   /* copies below the base */
	REFUSED(&none, 4, 0, 0x81, 0x80, 0x80, 0x08, 0);     /* longer than any stack */
	REFUSED(&plain, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0); /* begins behind its end */
}

TEST(stack_codec_shares_the_root_side_of_chains)
{
	static const uint64_t first[] = { 1 << 20, 2 << 20, 3 << 20, 4 << 20 };
	static const uint64_t second[] = { 9 << 20, 3 << 20, 4 << 20 };
	struct chain_shape shape;
	struct line line;
	uint64_t ips[4];
	size_t len;

	line_init(&line);
	chain_put(&line.enc, &line.shapes, NULL, 0, first, 4);
	len = line.shapes.len;
	chain_put(&line.enc, &line.shapes, first, 4, second, 3);
	CHECK_UINT(line.shapes.len - len, 3); /* one new, two dropped, a number */
	line_turn(&line);
	shape = chain_get_shape(&line.shapes_in, 0);
	CHECK_UINT(shape.nips, 4);
	chain_get(&line.dec, &line.shapes_in, NULL, 0, shape, ips);
	CHECK_MEM(ips, first, sizeof(first));
	shape = chain_get_shape(&line.shapes_in, 4);
	CHECK_UINT(shape.nips, 3);
	chain_get(&line.dec, &line.shapes_in, first, 4, shape, ips);
	CHECK_MEM(ips, second, sizeof(second));
	line_deinit(&line);
}

TEST(stack_codec_refuses_chains_that_share_more_than_there_is)
{
	struct reader r;

	reader_init(&r, guarded("\0\5", 2), 2, false);
	CHECK_UINT(chain_get_shape(&r, 4).nips, 0);
	CHECK(r.failed);
	reader_init(&r, guarded("\5\0\0", 3), 3, false); /* five new ones in one byte */
	CHECK_UINT(chain_get_shape(&r, 4).nips, 0);
	CHECK(r.failed);
}

TEST(stack_codec_brings_registers_back_and_takes_two_bytes_if_none_changed)
{
	struct event_maker maker = { .state = 5 };
	struct event_regs last = { 0 }, got = { 0 };
	struct event ev[200];
	struct line line;

	line_init(&line);
	for (size_t i = 0; i < ARRAY_LEN(ev); i++) {
		do
			maker_kind(&maker, EVENT_SAMPLE, &ev[i]);
		while (!ev[i].sample.regs);
		regs_put(&line.enc, &line.shapes, &last, ev[i].sample.regs, ev[i].sample.ip);
		last = *ev[i].sample.regs;
	}
	size_t len = line.shapes.len;

	regs_put(&line.enc, &line.shapes, &last, &last, 0);
	CHECK_UINT(line.shapes.len, len + 2);
	line_turn(&line);
	for (size_t i = 0; i < ARRAY_LEN(ev); i++) {
		struct event_regs prev = got;

		regs_get(&line.dec, &line.shapes_in, &prev, ev[i].sample.ip, &got);
		CHECK_OK(reader_check(&line.shapes_in));
		CHECK_MEM(&got, ev[i].sample.regs, sizeof(got));
	}
	line_deinit(&line);
	maker_deinit(&maker);
}

TEST(stack_codec_brings_back_registers_with_all_bits_set)
{
	struct event_regs none = { 0 }, got, all = { .mask = (1ull << ARCH_REGS_MAX) - 1 };
	struct line line;

	for (unsigned i = 0; i < ARCH_REGS_MAX; i++)
		all.values[i] = i % 3 ? UINT64_MAX >> i : (uint64_t)INT64_MIN >> i;
	line_init(&line);
	regs_put(&line.enc, &line.shapes, &none, &all, 42);
	line_turn(&line);
	regs_get(&line.dec, &line.shapes_in, &none, 42, &got);
	CHECK_OK(reader_check(&line.shapes_in));
	CHECK_MEM(&got, &all, sizeof(got));
	line_deinit(&line);
}

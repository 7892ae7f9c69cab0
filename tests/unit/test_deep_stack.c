/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_deep_stack.c - snapshots that go on with what was read behind them, of which most is as it was.
 */
#include "record/sample/deep_stack.h"

#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#define PID   7
#define CODE  0x555500000000ULL /* to CODE + 0x1000 */
#define BASE  0x7ffc00000800ULL /* where the snapshot ends, in the middle of a piece */
#define HEAP  0x7f0000000000ULL
#define PIECE (BASE - BASE % STACK_PIECE_LEN)
#define END   (PIECE + 4 * (uint64_t)STACK_PIECE_LEN)

struct bench {
	struct attach *attach;
	struct attach_front *front;
	const struct process *proc;
	struct prune *prune;
	struct deep_stacks *deep;
	struct other_stack *rest;
	struct event_stack stack;
};

static void map_code(struct bench *b, uint64_t start)
{
	struct event ev = { .kind = EVENT_MMAP, .pid = PID, .tid = PID,
			    .mmap = { .start = start, .end = start + 0x1000, .flags = EVENT_MMAP_EXEC, .path = "//anon" } };

	attach_event(b->attach, &ev);
	b->proc = process_table_look(attach_processes(b->attach), PID);
}

static void bench_init(struct bench *b)
{
	*b = (struct bench){ .attach = attach_new(ATTACH_NONE), .deep = deep_stacks_new() };
	b->prune = memory_zeroed(1, sizeof(*b->prune));
	b->rest = memory_zeroed(1, sizeof(*b->rest));
	b->front = attach_front(b->attach, 0);
	b->prune->arch = arch_native();
	b->prune->mask = UINT64_MAX;
	b->prune->own_start = BASE - 65528;
	b->prune->own_len = 1 << 20;
	b->rest->base = BASE;
	b->rest->end = END;
	map_code(b, CODE);
}

static void bench_cleanup(struct bench *b)
{
	deep_stacks_free(b->deep);
	attach_free(b->attach);
	free(b->prune);
	free(b->rest);
}

#define BENCH()                                \
	CLEANUP(bench_cleanup) struct bench b; \
	bench_init(&b)

static void put(struct bench *b, uint64_t addr, uint64_t word)
{
	b->rest->slots[b->rest->nwords] = (uint32_t)((addr - BASE) / 8);
	b->rest->words[b->rest->nwords++] = word;
}

/* The next turn at the place, of a snapshot that holds one word. */
static bool add(struct bench *b, uint64_t same)
{
	b->prune->slots[0] = 1;
	b->prune->words[0] = CODE + 1;
	b->stack = (struct event_stack){ .base = BASE - 65528, .end = BASE, .nwords = 1, .cut = true,
					 .slots = b->prune->slots, .words = b->prune->words };
	b->rest->same[0] = same;

	bool added = deep_stacks_add(b->deep, b->proc, b->rest, b->prune, b->front, &b->stack);

	b->rest->turn++;
	b->rest->nwords = 0;
	return added;
}

static void check_word(const struct bench *b, size_t i, uint64_t addr, uint64_t word)
{
	CHECK(i < b->stack.nwords);
	CHECK_UINT(b->stack.base + 8 * (uint64_t)b->stack.slots[i], addr);
	CHECK_UINT(b->stack.words[i], word);
}

static void put_first(struct bench *b)
{
	put(b, BASE, CODE + 2);
	put(b, BASE + 8, HEAP);
	put(b, PIECE + 4096, CODE + 3);
	put(b, PIECE + 8192 - 8, BASE + 800);
	put(b, PIECE + 8192, CODE + 4);
	put(b, END - 8, CODE + 5);
	CHECK(add(b, 0));
}

TEST(deep_stack_lets_a_snapshot_go_on)
{
	BENCH();
	put_first(&b);
	CHECK_UINT(b.stack.end, END);
	CHECK(!b.stack.cut);
	CHECK_UINT(b.stack.nwords, 6); /* without the pointer into the heap */
	check_word(&b, 0, BASE - 65520, CODE + 1);
	check_word(&b, 1, BASE, CODE + 2);
	check_word(&b, 2, PIECE + 4096, CODE + 3);
	check_word(&b, 3, PIECE + 8192 - 8, BASE + 800);
	check_word(&b, 5, END - 8, CODE + 5);
}

TEST(deep_stack_takes_pieces_that_are_the_same_from_the_turn_before)
{
	BENCH();
	put_first(&b);
	put(&b, BASE + 16, CODE + 6);
	put(&b, PIECE + 8192, CODE + 4);
	put(&b, PIECE + 8192 + 8, CODE + 7);
	CHECK(add(&b, 1u << 1 | 1u << 3));
	CHECK_UINT(b.stack.nwords, 7);
	check_word(&b, 1, BASE + 16, CODE + 6);
	check_word(&b, 2, PIECE + 4096, CODE + 3);
	check_word(&b, 4, PIECE + 8192, CODE + 4);
	check_word(&b, 5, PIECE + 8192 + 8, CODE + 7);
	check_word(&b, 6, END - 8, CODE + 5);

	/* And that turn is what the next one refers to. */
	CHECK(add(&b, 1u << 1 | 1u << 2 | 1u << 3));
	CHECK_UINT(b.stack.nwords, 6);
	check_word(&b, 4, PIECE + 8192 + 8, CODE + 7);
}

TEST(deep_stack_refuses_what_refers_to_words_that_it_does_not_have)
{
	BENCH();
	CHECK(!add(&b, 2)); /* the first */
	CHECK_UINT(b.stack.end, BASE);
	CHECK(b.stack.cut);
	put_first(&b);
	b.rest->turn++; /* one is missing */
	CHECK(!add(&b, 2));
	CHECK(!add(&b, 2)); /* nor was that one any good */
	put_first(&b);
	CHECK(add(&b, 2));
	b.rest->place = 3;
	CHECK(!add(&b, 2));
	b.rest->place = 0;
	b.rest->turn--;
	CHECK(add(&b, 2));
	map_code(&b, HEAP); /* a word that was left out may be code now */
	CHECK(!add(&b, 2));
	put_first(&b);
	CHECK_UINT(b.stack.nwords, 7);
	check_word(&b, 2, BASE + 8, HEAP);
}

TEST(deep_stack_leaves_a_snapshot_alone_that_it_does_not_follow)
{
	BENCH();
	put_first(&b);
	b.rest->base = BASE + 8;
	CHECK(add(&b, 2));
	CHECK_UINT(b.stack.end, BASE);
	CHECK_UINT(b.stack.nwords, 1);
}

/* A stack of 1 MiB whose every word is an address, at place @number. */
static bool add_full(struct bench *b, uint32_t number, uint64_t same)
{
	b->rest->place = number;
	b->rest->turn = same ? 1 : 0;
	b->rest->end = BASE + OTHER_STACK_DEEP_MAX;
	for (uint64_t at = same ? PIECE + 2 * (uint64_t)STACK_PIECE_LEN : BASE; at < b->rest->end; at += 8)
		put(b, at, CODE + 1);
	return add(b, same);
}

TEST(deep_stack_forgets_what_others_had_where_all_have_too_much)
{
	BENCH();
	for (uint32_t i = 0; i < 16; i++)
		CHECK(add_full(&b, i, 0));
	CHECK(add_full(&b, 0, 2)); /* all of them are known */
	CHECK(add_full(&b, 16, 0));
	CHECK_UINT(b.stack.nwords, 1 + OTHER_STACK_DEEP_MAX / 8);
	CHECK(add_full(&b, 16, 2));
	CHECK(!add_full(&b, 1, 2));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_prune.c - what of a stack goes into the trace, and what must not.
 */
#include "record/sample/prune.h"

#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#define SP      0x7ffc00001000ULL
#define CODE    0x555500001000ULL /* to CODE + 0x1000 */
#define LIBRARY 0x7f1200000000ULL /* to LIBRARY + 0x10000 */
#define HEAP    0x555500800000ULL /* in the same region of 2 MiB as nothing of the above */
#define SECRET  0x5345435245543132ULL

/* A process, a snapshot in the making, and what pruning made of it. */
struct bench {
	struct mapped_files files;
	struct process_table table;
	struct process *proc;
	struct prune *prune;
	struct perf_record *rec;
};

static void bench_cleanup(struct bench *b)
{
	process_table_deinit(&b->table);
	mapped_files_deinit(&b->files);
	free(b->prune);
	free(b->rec);
}

static void add_code_to(struct bench *b, uint32_t pid, uint64_t start, uint64_t end)
{
	const struct event_mmap map = {
		.start = start,
		.end = end,
		.flags = EVENT_MMAP_EXEC,
		.path = "//anon",
	};

	process_table_map(&b->table, pid, &map, mapped_files_get(&b->files, &map, NULL));
}

static void add_code(struct bench *b, uint64_t start, uint64_t end)
{
	add_code_to(b, 1, start, end);
}

static void bench_init(struct bench *b, const struct arch *arch)
{
	*b = (struct bench){ .prune = memory_zeroed(1, sizeof(*b->prune)),
			     .rec = memory_zeroed(1, sizeof(*b->rec)) };
	b->prune->arch = arch;
	mapped_files_init(&b->files, sizeof(struct mapped_file), NULL);
	process_table_init(&b->table);
	add_code(b, CODE, CODE + 0x1000);
	add_code(b, LIBRARY, LIBRARY + 0x10000);
	b->proc = process_table_get(&b->table, 1);
	b->rec->regs.mask = (1ULL << arch->nregs) - 1;
	b->rec->regs.values[arch->sp] = SP;
}

#define BENCH(arch)                            \
	CLEANUP(bench_cleanup) struct bench b; \
	bench_init(&b, (arch))

/* Prune @count words at SP, in a snapshot that had room for one more. */
static const struct event_stack *prune_words(struct bench *b, const uint64_t *words, size_t count)
{
	b->rec->stack = guarded(words, count * 8);
	b->rec->stack_len = count * 8;
	b->rec->stack_room = count * 8 + 8;
	prune_sample(b->prune, b->proc, PRUNE_ALL, b->rec);
	return &b->rec->event.sample.stack;
}

TEST(prune_keeps_code_and_own_stack_and_nothing_else)
{
	static const uint64_t words[] = {
		0,         SECRET,    CODE,   CODE + 0xfff, CODE + 0x1000, CODE - 1,    HEAP, SP,
		SP + 0x5f, SP + 0x60, SP - 8, 42,           UINT64_MAX,    LIBRARY + 5,
	};
	static const uint32_t kept[] = { 2, 3, 7, 8, 9, 13 };
	static const bool code[] = { true, true, false, false, false, true };
	BENCH(&arch_x86_64);
	const struct event_stack *stack = prune_words(&b, words, ARRAY_LEN(words));
	size_t ncode = 0;

	CHECK_UINT(stack->base, SP);
	CHECK_UINT(stack->end, SP + sizeof(words));
	CHECK_UINT(stack->nwords, ARRAY_LEN(kept));
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		CHECK_UINT(stack->slots[i], kept[i]);
		CHECK_UINT(stack->words[i], words[kept[i]]);
		if (code[i])
			CHECK_UINT(b.prune->code[ncode++], i);
	}
	CHECK_UINT(b.prune->ncode, ncode);
	CHECK(!stack->cut && !stack->shortened);
}

TEST(prune_agrees_with_the_plain_rule_on_random_words)
{
	uint64_t words[512], seed = 1;
	BENCH(&arch_x86_64);

	for (size_t round = 0; round < 50; round++) {
		size_t kept = 0;

		for (size_t i = 0; i < ARRAY_LEN(words); i++) {
			static const uint64_t bases[] = { 0, CODE, LIBRARY, HEAP, SP, SECRET };

			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			words[i] = bases[(seed >> 33) % ARRAY_LEN(bases)] + (seed >> 40) % 0x12000 -
				   0x800;
		}
		const struct event_stack *stack = prune_words(&b, words, ARRAY_LEN(words));

		for (size_t i = 0; i < ARRAY_LEN(words); i++) {
			bool code = (words[i] >= CODE && words[i] < CODE + 0x1000) ||
				    (words[i] >= LIBRARY && words[i] < LIBRARY + 0x10000);
			bool own = words[i] >= SP && words[i] < SP + sizeof(words) + EVENT_STACK_BEYOND;

			if (!code && !own)
				continue;
			CHECK(kept < stack->nwords);
			CHECK_UINT(stack->slots[kept], i);
			CHECK_UINT(stack->words[kept], words[i]);
			kept++;
		}
		CHECK_UINT(stack->nwords, kept);
	}
}

TEST(prune_of_a_program_in_low_memory)
{
	static const uint64_t words[] = { 1, 0x400000, 0x400fff, 0x401000, 0x3fffff };
	BENCH(&arch_x86_64);

	add_code(&b, 0x400000, 0x401000);
	const struct event_stack *stack = prune_words(&b, words, ARRAY_LEN(words));

	CHECK_UINT(stack->nwords, 2);
	CHECK_UINT(stack->slots[0], 1);
	CHECK_UINT(stack->slots[1], 2);
}

TEST(prune_starts_at_the_first_aligned_word)
{
	uint8_t bytes[32] = { 0 };
	const uint64_t word = CODE + 8;
	BENCH(&arch_x86_64);

	memcpy(bytes + 3 + 8, &word, sizeof(word));
	b.rec->regs.values[arch_x86_64.sp] = SP + 5;
	b.rec->stack = guarded(bytes, sizeof(bytes));
	b.rec->stack_len = b.rec->stack_room = sizeof(bytes);
	prune_sample(b.prune, b.proc, PRUNE_ALL, b.rec);
	const struct event_stack *stack = &b.rec->event.sample.stack;

	CHECK_UINT(stack->base, SP + 8);
	CHECK_UINT(stack->end, SP + 8 + 24);
	CHECK_UINT(stack->nwords, 1);
	CHECK_UINT(stack->slots[0], 1);
	CHECK_UINT(stack->words[0], word);
}

TEST(prune_says_cut_only_if_the_room_was_filled)
{
	static const uint64_t words[] = { CODE, SP + 0x100000 };
	BENCH(&arch_x86_64);

	CHECK(!prune_words(&b, words, 2)->cut);
	b.rec->stack_room = b.rec->stack_len;
	prune_sample(b.prune, b.proc, PRUNE_ALL, b.rec);
	CHECK(b.rec->event.sample.stack.cut);
}

/* Whether its size cut the copy or a page that nobody has touched, which ends the kernel's. */
TEST(prune_keeps_pointers_to_where_the_stack_may_go_on)
{
	static const uint64_t words[] = { SP + EVENT_STACK_BEYOND + 23, SP + EVENT_STACK_BEYOND + 24, SP - 8 };
	BENCH(&arch_x86_64);

	b.rec->regs.values[arch_x86_64.fp] = SP + 0x100000;
	CHECK_UINT(prune_words(&b, words, 3)->nwords, 1);
	CHECK_UINT(b.rec->event.sample.stack.words[0], words[0]);
	CHECK_UINT(b.rec->regs.values[arch_x86_64.fp], SP + 0x100000);
	b.rec->stack_room = b.rec->stack_len;
	prune_sample(b.prune, b.proc, PRUNE_ALL, b.rec);
	CHECK_UINT(b.rec->event.sample.stack.nwords, 1);
}

TEST(prune_takes_a_library_above_the_stack_for_code)
{
	/* A full snapshot of a thread's stack that lies just below a library. */
	static const uint64_t words[] = { SP + 0x20000, LIBRARY + 8, SP + 0x10008, SP + 0x18 };
	BENCH(&arch_x86_64);

	add_code(&b, SP + 0x10000, SP + 0x20000);
	prune_words(&b, words, ARRAY_LEN(words));
	b.rec->stack_room = b.rec->stack_len;
	prune_sample(b.prune, b.proc, PRUNE_ALL, b.rec);
	const struct event_stack *stack = &b.rec->event.sample.stack;

	CHECK(stack->cut);
	CHECK_UINT(stack->nwords, 3); /* what is behind the library is no stack */
	CHECK_UINT(stack->words[0], LIBRARY + 8);
	CHECK_UINT(stack->words[1], SP + 0x10008);
	CHECK_UINT(stack->words[2], SP + 0x18);
	CHECK_UINT(b.prune->ncode, 2);
	CHECK_UINT(b.prune->code[0], 0);
	CHECK_UINT(b.prune->code[1], 1);
}

TEST(prune_ends_a_snapshot_that_runs_over_the_stack_into_code)
{
	static const uint64_t words[] = { SP + 8, SP + 0x10, SP + 0x18 };
	BENCH(&arch_x86_64);

	add_code(&b, SP + 0x10, SP + 0x20);
	prune_words(&b, words, ARRAY_LEN(words));
	CHECK_UINT(b.rec->event.sample.stack.nwords, 3);
	CHECK_UINT(b.prune->ncode, 2);
	CHECK_UINT(b.prune->code[0], 1);
	CHECK_UINT(b.prune->code[1], 2);
}

TEST(prune_takes_code_of_an_ended_program_for_code_where_the_stack_is_now)
{
	static const uint64_t words[] = { SP + 8, SP + 0x1000 };
	const struct event exec = { .kind = EVENT_COMM, .pid = 1, .comm = { "new", true } };
	BENCH(&arch_x86_64);

	add_code(&b, SP + 0x1000, SP + 0x2000);
	process_table_event(&b.table, &exec);
	prune_words(&b, words, ARRAY_LEN(words));
	b.rec->stack_room = b.rec->stack_len;
	prune_sample(b.prune, b.proc, PRUNE_ALL, b.rec);
	CHECK_UINT(b.rec->event.sample.stack.nwords, 2);
	CHECK_UINT(b.prune->ncode, 1);
	CHECK_UINT(b.prune->code[0], 1);
}

TEST(prune_shortens_when_asked_and_says_so)
{
	static const uint64_t words[] = { CODE, CODE + 1, CODE + 2, CODE + 3 };
	BENCH(&arch_x86_64);

	prune_words(&b, words, ARRAY_LEN(words));
	prune_sample(b.prune, b.proc, 16, b.rec);
	CHECK_UINT(b.rec->event.sample.stack.nwords, 2);
	CHECK_UINT(b.rec->event.sample.stack.end, SP + 16);
	CHECK(b.rec->event.sample.stack.shortened);
}

TEST(prune_clears_registers_that_hold_data)
{
	const struct arch *arch = &arch_x86_64;
	BENCH(arch);

	memset(b.rec->regs.values, 0x77, sizeof(b.rec->regs.values));
	b.rec->regs.values[arch->sp] = SP;
	b.rec->regs.values[arch->ip] = 0x1234;
	b.rec->regs.values[arch->fp] = SP + 16;
	b.rec->regs.values[3] = LIBRARY + 1;
	b.rec->regs.values[12] = HEAP;
	static const uint64_t words[] = { 0, 0, 0, 0 };

	prune_words(&b, words, ARRAY_LEN(words));
	for (unsigned reg = 0; reg < arch->nregs; reg++) {
		uint64_t expected = reg == arch->sp   ? SP
				    : reg == arch->ip ? 0x1234
				    : reg == arch->fp ? SP + 16
				    : reg == 3        ? LIBRARY + 1
						      : 0;

		CHECK_UINT(b.rec->regs.values[reg], expected);
	}
	b.rec->regs.values[arch->fp] = SECRET; /* used as an ordinary register */
	prune_words(&b, words, ARRAY_LEN(words));
	CHECK_UINT(b.rec->regs.values[arch->fp], PRUNE_DATA); /* 0 would be the end of a stack */
}

TEST(prune_raw_keeps_all_but_zeros)
{
	static const uint64_t words[] = { 0, SECRET, 1, 0, UINT64_MAX };
	BENCH(&arch_x86_64);

	b.prune->raw = true;
	b.rec->regs.values[0] = SECRET;
	const struct event_stack *stack = prune_words(&b, words, ARRAY_LEN(words));

	CHECK_UINT(stack->nwords, 3);
	CHECK_UINT(stack->words[0], SECRET);
	CHECK_UINT(stack->words[2], UINT64_MAX);
	CHECK_UINT(b.rec->regs.values[0], SECRET);
	CHECK_UINT(b.prune->ncode, 0);
}

TEST(prune_sees_through_authentication_bits_on_aarch64_only)
{
	static const uint64_t words[] = { 0x00a1000000000000ULL | LIBRARY, SECRET };
	{
		BENCH(&arch_aarch64);
		const struct event_stack *stack = prune_words(&b, words, 2);

		CHECK_UINT(stack->nwords, 1);
		CHECK_UINT(stack->words[0], words[0]);
		CHECK_UINT(b.prune->ncode, 1);
	}
	BENCH(&arch_x86_64);
	CHECK_UINT(prune_words(&b, words, 2)->nwords, 0);
}

/* A kernel of 39 bits signs from bit 39 on: the mask is told, or taken from where the code lies. */
TEST(prune_sees_through_authentication_of_any_length)
{
	const uint64_t code = 0x5500001000ULL;
	const uint64_t words[] = { 0x005a5a0000000000ULL | code, SECRET };

	for (unsigned known = 0; known < 2; known++) {
		BENCH(&arch_aarch64);
		add_code_to(&b, 2, code, code + 0x1000);
		b.proc = process_table_get(&b.table, 2);
		b.prune->code_mask = known ? (1ULL << 39) - 1 : 0;
		const struct event_stack *stack = prune_words(&b, words, 2);

		CHECK_UINT(stack->nwords, 1);
		CHECK_UINT(stack->words[0], words[0]);
		CHECK_UINT(b.prune->ncode, 1);
	}
}

TEST(prune_of_no_snapshot_is_an_empty_stack)
{
	BENCH(&arch_x86_64);

	prune_sample(b.prune, b.proc, PRUNE_ALL, b.rec);
	const struct event_stack *stack = &b.rec->event.sample.stack;

	CHECK_UINT(stack->base, stack->end);
	CHECK_UINT(stack->nwords, 0);
	CHECK(!stack->cut && !stack->shortened);
}

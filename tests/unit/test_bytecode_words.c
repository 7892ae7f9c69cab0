/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bytecode_words.c - two frames of an interpreter on a stack: their bytecode is kept, in its place, and nothing else.
 */
#include "record/sample/bytecode_words.h"

#include "formats/base/memory.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#define SP	 0x7ffc00001000ULL
#define CODE	 0x7f5500001000ULL /* the interpreter */
#define METHOD	 0x7f6600000100ULL
#define BYTECODE 0x7f6600002000ULL
#define SECRET	 0x1234567ULL

#define WORDS 40

/* Frame pointer in slot @at, return address behind it; the frame it leads to has @bytecode. */
static void put_frame(uint64_t *words, size_t at, size_t frame, uint64_t bytecode)
{
	words[at] = SP + 8 * frame;
	words[at + 1] = CODE + 16;
	words[frame - 3] = METHOD;
	words[frame - 8] = bytecode;
}

struct stack {
	uint64_t words[WORDS];
	struct process_table table;
	struct process *proc;
	struct prune *prune;
	struct perf_record *rec;
	struct bytecode_words found;
};

static void prune_all(struct stack *s, uint64_t reg)
{
	const struct arch *arch = arch_native();

	s->prune = memory_zeroed(1, sizeof(*s->prune));
	s->rec = memory_zeroed(1, sizeof(*s->rec));
	s->prune->arch = arch;
	process_table_init(&s->table);
	s->proc = process_table_get(&s->table, 1);
	s->proc->interpreter = CODE;
	s->proc->interpreter_len = 0x1000;
	s->rec->regs.mask = (1ULL << arch->nregs) - 1;
	s->rec->regs.values[arch->sp] = SP;
	s->rec->regs.values[arch->ip] = CODE + 4;
	s->rec->regs.values[arch->fp] = SP + 8 * 12;
	s->rec->regs.values[13] = reg;
	s->rec->stack = guarded(s->words, sizeof(s->words));
	s->rec->stack_len = s->rec->stack_room = sizeof(s->words);
}

static void release(struct stack *s)
{
	process_table_deinit(&s->table);
	free(s->prune);
	free(s->rec);
}

/* As prune_sample() leaves them: the process has no mappings here, so that the code words are put in by hand. */
static void keep_pairs(struct stack *s, const size_t *at, size_t count)
{
	struct event_stack *stack = &s->rec->event.sample.stack;

	*stack = (struct event_stack){ .base = SP, .end = SP + sizeof(s->words), .slots = s->prune->slots, .words = s->prune->words };
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < 2; j++) {
			if (j)
				s->prune->code[s->prune->ncode++] = (uint32_t)stack->nwords;
			s->prune->slots[stack->nwords] = (uint32_t)(at[i] + j);
			s->prune->words[stack->nwords++] = s->words[at[i] + j];
		}
}

TEST(bytecode_words_are_put_where_they_belong)
{
	static const size_t pairs[] = { 0, 15 };
	static const uint32_t slots[] = { 0, 1, 4, 15, 16, 22 };
	struct stack s = { 0 };

	if (arch_native() != &arch_x86_64)
		SKIP("frames of the interpreter are x86-64's");
	put_frame(s.words, 0, 12, BYTECODE);
	put_frame(s.words, 15, 30, BYTECODE + 7);
	s.words[5] = SECRET;
	prune_all(&s, BYTECODE + 9);
	CHECK_UINT(bytecode_words_register(s.proc, s.rec), BYTECODE + 9);
	keep_pairs(&s, pairs, ARRAY_LEN(pairs));
	s.rec->regs.values[13] = 0; /* by pruning */
	bytecode_words_keep(s.prune, s.proc, BYTECODE + 9, s.rec, &s.found);
	const struct event_stack *stack = &s.rec->event.sample.stack;

	CHECK_UINT(stack->nwords, ARRAY_LEN(slots));
	for (size_t i = 0; i < ARRAY_LEN(slots); i++) {
		CHECK_UINT(stack->slots[i], slots[i]);
		CHECK_UINT(stack->words[i], s.words[slots[i]]);
	}
	CHECK_UINT(s.prune->code[0], 1);
	CHECK_UINT(s.prune->code[1], 4);
	CHECK_UINT(s.found.len, 3);
	CHECK_UINT(s.found.items[1].code.bytecode, BYTECODE + 7);
	CHECK_UINT(s.found.items[1].code.function, METHOD);
	CHECK_UINT(s.found.items[2].code.bytecode, BYTECODE + 9);
	CHECK_UINT(s.rec->regs.values[13], BYTECODE + 9);
	release(&s);
}

/* A native method has no bytecode; and where the interpreter was interrupted its register may be what was called before has left. */
TEST(bytecode_words_know_native_methods_and_the_innermost_frame)
{
	static const size_t pairs[] = { 15 };
	static const uint32_t slots[] = { 4, 15, 16, 22 };
	struct stack s = { 0 };

	if (arch_native() != &arch_x86_64)
		SKIP("frames of the interpreter are x86-64's");
	put_frame(s.words, 0, 12, BYTECODE);
	put_frame(s.words, 15, 30, 0);
	prune_all(&s, SECRET);
	keep_pairs(&s, pairs, ARRAY_LEN(pairs));
	s.rec->regs.values[13] = 0; /* by pruning */
	bytecode_words_keep(s.prune, s.proc, SECRET, s.rec, &s.found);
	const struct event_stack *stack = &s.rec->event.sample.stack;

	CHECK_UINT(stack->nwords, ARRAY_LEN(slots));
	for (size_t i = 0; i < ARRAY_LEN(slots); i++)
		CHECK_UINT(stack->slots[i], slots[i]);
	CHECK_UINT(stack->words[0], BYTECODE);
	CHECK_UINT(stack->words[3], METHOD);
	CHECK_UINT(s.found.len, 2);
	CHECK_UINT(s.found.items[0].code.bytecode, BYTECODE);
	CHECK_UINT(s.found.items[1].code.bytecode, METHOD);
	CHECK_UINT(s.rec->regs.values[13], 0);
	release(&s);
}

/*
 * Slot 1: a return address behind registers that C++ has pushed; 15: a pair that an earlier call left, of a frame farther out; 20: the
 * return address of code that has just been entered, so that the register still has the frame pointer.
 */
TEST(bytecode_words_are_found_where_the_frame_pointer_is_pushed_elsewhere)
{
	static const size_t pairs[] = { 0, 3, 20 };
	struct stack s = { 0 };

	if (arch_native() != &arch_x86_64)
		SKIP("frames of the interpreter are x86-64's");
	s.words[0] = SP + 8 * 14;
	s.words[1] = CODE + 16;
	s.words[2] = 0;
	put_frame(s.words, 3, 37, BYTECODE + 3);
	s.words[13] = SP + 8 * 16;
	s.words[11] = METHOD;
	s.words[6] = BYTECODE + 1;
	s.words[20] = SECRET;
	s.words[21] = CODE + 32;
	s.words[33] = SP + 8 * 36;
	s.words[31] = METHOD;
	s.words[26] = BYTECODE + 2;
	prune_all(&s, 0);
	s.rec->regs.values[arch_native()->ip] = CODE - 4;
	s.rec->regs.values[arch_native()->fp] = SP + 8 * 34;
	keep_pairs(&s, pairs, ARRAY_LEN(pairs));
	bytecode_words_keep(s.prune, s.proc, 0, s.rec, &s.found);
	CHECK_UINT(s.found.len, 3);
	for (size_t i = 0; i < 3; i++)
		CHECK_UINT(s.found.items[i].code.bytecode, BYTECODE + 1 + i);
	release(&s);
}

static void find_called_frame(uint64_t last, size_t found)
{
	static const size_t pairs[] = { 0 };
	struct stack s = {
		.words = { SECRET, CODE + 16, [6] = BYTECODE, [11] = METHOD, [12] = last, [13] = SP + 8 * 16 }
	};

	prune_all(&s, 0);
	s.rec->regs.values[arch_native()->ip] = CODE - 4;
	s.rec->regs.values[arch_native()->fp] = SP + 8 * 14;
	keep_pairs(&s, pairs, ARRAY_LEN(pairs));
	bytecode_words_keep(s.prune, s.proc, 0, s.rec, &s.found);
	CHECK_UINT(s.found.len, found);
	release(&s);
}

/* From JDK 22 on, a frame that has called has the number of words down to its stack pointer, and not that. */
TEST(bytecode_words_know_where_a_frame_says_that_its_stack_ends)
{
	if (arch_native() != &arch_x86_64)
		SKIP("frames of the interpreter are x86-64's");
	find_called_frame(0, 1);
	find_called_frame(SP + 16, 1);
	find_called_frame(0 - 12ULL, 1);
	find_called_frame(SP, 0);
	find_called_frame(0 - 14ULL, 0);
}

/* C pushes the register that points to the caller's variables first, and its frame pointer behind that. */
TEST(bytecode_words_are_those_of_a_frame_and_not_of_what_points_into_one)
{
	static const size_t pairs[] = { 0, 2 };
	struct stack s = {
		.words = { SECRET, SP + 8 * 14, SP + 8 * 20, CODE + 16, [6] = BYTECODE, [11] = METHOD, [13] = SP + 8 * 16 }
	};

	if (arch_native() != &arch_x86_64)
		SKIP("frames of the interpreter are x86-64's");
	prune_all(&s, 0);
	s.rec->regs.values[arch_native()->ip] = CODE - 4;
	keep_pairs(&s, pairs, ARRAY_LEN(pairs));
	s.prune->code[0] = 3;
	s.prune->ncode = 1;
	bytecode_words_keep(s.prune, s.proc, 0, s.rec, &s.found);
	CHECK_UINT(s.found.len, 1);
	CHECK_UINT(s.found.items[0].code.bytecode, BYTECODE);
	release(&s);
}

/* JDK 25 maps its archive of classes below 4 GiB. */
TEST(bytecode_words_may_be_low_addresses_that_lie_together)
{
	static const size_t pairs[] = { 0, 15 };
	struct stack s = { 0 };

	if (arch_native() != &arch_x86_64)
		SKIP("frames of the interpreter are x86-64's");
	put_frame(s.words, 0, 12, 0x92104321);
	s.words[9] = 0x92001000;
	put_frame(s.words, 15, 30, 0x92104321);
	s.words[27] = 0x42001000; /* no method of that */
	prune_all(&s, 0);
	s.rec->regs.values[arch_native()->ip] = CODE - 4;
	keep_pairs(&s, pairs, ARRAY_LEN(pairs));
	bytecode_words_keep(s.prune, s.proc, 0, s.rec, &s.found);
	CHECK_UINT(s.found.len, 1);
	CHECK_UINT(s.found.items[0].code.bytecode, 0x92104321);
	CHECK_UINT(s.found.items[0].code.function, 0x92001000);
	release(&s);
}

TEST(bytecode_words_are_not_the_applications_numbers)
{
	static const size_t pairs[] = { 0, 15, 34 };
	struct stack s = { 0 };

	if (arch_native() != &arch_x86_64)
		SKIP("frames of the interpreter are x86-64's");
	put_frame(s.words, 0, 12, SECRET);
	put_frame(s.words, 15, 30, BYTECODE);
	s.words[27] = SECRET; /* in the place of the method */
	s.words[34] = SP + 8; /* leads back */
	s.words[35] = CODE;
	prune_all(&s, SECRET);
	keep_pairs(&s, pairs, ARRAY_LEN(pairs));
	s.rec->regs.values[13] = 0;
	bytecode_words_keep(s.prune, s.proc, SECRET, s.rec, &s.found);
	CHECK_UINT(s.rec->event.sample.stack.nwords, 6);
	CHECK_UINT(s.found.len, 0);
	CHECK_UINT(s.rec->regs.values[13], 0);
	release(&s);
}

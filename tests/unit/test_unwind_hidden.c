/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"
#include "tests/unit/unwind_world.h"

/* A leaf at word 2 whose rule reads the word below, of which word 8 is a copy: its return address is word 12. */
static struct world *hash_world(void)
{
	struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(ZONE + 0x10), 2);
	w->words[8] = world_slot(12);
	w->words[12] = IP(MIDDLE + 0x40);
	w->words[12 + 3] = IP(START + 0x40);
	return w;
}

TEST(unwind_puts_a_copy_in_the_place_of_a_word_that_is_hidden)
{
	CLEANUP(world_freep) struct world *w = hash_world();

	world_walk(w);
	world_check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_COPY);
	world_check_frame(w, 2, IP(START + 0x40), UNWIND_CFI);
	world_check_end(w, 3, STACK_STOP_ROOT);
}

TEST(unwind_takes_two_copies_of_a_word_that_is_hidden_if_they_are_equal)
{
	CLEANUP(world_freep) struct world *w = hash_world();

	w->words[5] = world_slot(12);
	w->words[6] = world_slot(7); /* leads to nothing */
	w->words[7] = 1;
	world_walk(w);
	world_check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_COPY);
	world_check_end(w, 3, STACK_STOP_ROOT);
}

TEST(unwind_does_not_choose_between_two_words_of_a_frame)
{
	CLEANUP(world_freep) struct world *w = hash_world();

	w->words[5] = world_slot(12 + 3);
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_UNREADABLE);
}

TEST(unwind_prefers_the_word_that_leads_to_a_call_of_the_function)
{
	CLEANUP(world_freep) struct world *w = hash_world();

	w->words[5] = w->words[9] = world_slot(16);
	w->words[16] = IP(AHEAD);
	world_walk(w);
	world_check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_COPY);
	world_check_end(w, 3, STACK_STOP_ROOT);
}

/* The word is 24 above the stack pointer, for r9 is 2. Were it 0, it would be word 3, which is left over from an earlier call. */
static struct world *product_world(uint64_t r9)
{
	struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(MUL + 0x10), 2);
	w->regs.mask |= 1ULL << 9;
	w->regs.values[9] = r9;
	w->words[3] = world_slot(16);
	w->words[16] = IP(AHEAD);
	w->words[5] = world_slot(12);
	w->words[12] = IP(MIDDLE + 0x40);
	w->words[12 + 3] = IP(START + 0x40);
	return w;
}

TEST(unwind_reads_what_a_number_in_a_register_leads_to)
{
	CLEANUP(world_freep) struct world *w = product_world(2);

	world_walk(w);
	world_check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_CFI);
	world_check_end(w, 3, STACK_STOP_ROOT);
}

TEST(unwind_does_not_compute_with_the_0_that_pruning_leaves_of_a_number)
{
	CLEANUP(world_freep) struct world *w = product_world(0);

	world_walk(w);
	world_check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_COPY);
	world_check_end(w, 3, STACK_STOP_ROOT);
}

TEST(unwind_takes_no_copy_that_leads_to_what_follows_no_call)
{
	CLEANUP(world_freep) struct world *w = hash_world();

	w->words[12] = IP(MIDDLE + 0x41);
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_UNREADABLE);
}

TEST(unwind_takes_no_copy_that_lies_above_what_it_points_to)
{
	CLEANUP(world_freep) struct world *w = hash_world();

	w->words[8] = 0;
	w->words[13] = world_slot(12);
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_UNREADABLE);
}

/*
 * The function was entered with the stack pointer at word 28: less 8 and 64 bytes, and down to 64, is word 16 (world_slot(0) is
 * a multiple of 64), and it stored the address of word 28 at word 19. Word 17 is left over from an earlier call.
 */
static struct world *prologue_world(void)
{
	struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(HASH + 0x18), 4);
	w->words[17] = world_slot(22);
	w->words[22] = IP(FRAMED + 0x40);
	w->words[19] = world_slot(28);
	w->words[28] = IP(MIDDLE + 0x40);
	w->words[28 + 3] = IP(START + 0x40);
	return w;
}

TEST(unwind_takes_the_word_that_the_functions_first_instructions_stored)
{
	CLEANUP(world_freep) struct world *w = prologue_world();

	world_walk(w);
	world_check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_COPY);
	world_check_frame(w, 2, IP(START + 0x40), UNWIND_CFI);
	world_check_end(w, 3, STACK_STOP_ROOT);
}

TEST(unwind_takes_no_word_that_the_functions_first_instructions_stored_elsewhere)
{
	CLEANUP(world_freep) struct world *w = prologue_world();

	w->words[19] = 0;
	w->words[18] = world_slot(28);
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_UNREADABLE);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"
#include "tests/unit/unwind_world.h"

/* A leaf at word 2 whose rule reads the word below, of which word 8 is a copy: its return address is word 12. */
static struct world *hash_world(void)
{
	struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(ZONE + 0x20), 2);
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
	world_check_end(w, 3, UNWIND_ROOT);
}

TEST(unwind_takes_two_copies_of_a_word_that_is_hidden_if_they_are_equal)
{
	CLEANUP(world_freep) struct world *w = hash_world();

	w->words[5] = world_slot(12);
	w->words[6] = world_slot(7); /* leads to nothing */
	w->words[7] = 1;
	world_walk(w);
	world_check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_COPY);
	world_check_end(w, 3, UNWIND_ROOT);
}

TEST(unwind_does_not_choose_between_two_words_of_a_frame)
{
	CLEANUP(world_freep) struct world *w = hash_world();

	w->words[5] = world_slot(12 + 3);
	world_walk(w);
	world_check_end(w, 1, UNWIND_UNREADABLE);
}

TEST(unwind_takes_no_copy_that_leads_to_what_follows_no_call)
{
	CLEANUP(world_freep) struct world *w = hash_world();

	w->words[12] = IP(MIDDLE + 0x41);
	world_walk(w);
	world_check_end(w, 1, UNWIND_UNREADABLE);
}

TEST(unwind_takes_no_copy_that_lies_above_what_it_points_to)
{
	CLEANUP(world_freep) struct world *w = hash_world();

	w->words[8] = 0;
	w->words[13] = world_slot(12);
	world_walk(w);
	world_check_end(w, 1, UNWIND_UNREADABLE);
}

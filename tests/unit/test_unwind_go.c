/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"
#include "tests/unit/unwind_world.h"

#define GOROUTINE 0x11b634cec000 /* a stack elsewhere */

/* LEAF was called by @caller on the thread's stack, where a return address of earlier calls lies above. */
static struct world *switched(uint64_t caller, uint64_t caller_fp)
{
	struct world *w = world_new_go();

	world_set_leaf(w, IP(LEAF), 0);
	w->words[1] = caller_fp;
	w->words[2] = IP(caller + 0x40);
	w->words[4] = IP(LEAF + 0x40);
	return w;
}

static void check_goroutine(const struct world *w)
{
	world_check_end(w, 4, STACK_STOP_ROOT);
	world_check_frame(w, 1, IP(SYSTEMSTACK + 0x40), UNWIND_CFI);
	world_check_frame(w, 2, IP(LEAF + 0x40), UNWIND_CFI);
	world_check_frame(w, 3, IP(START + 0x40), UNWIND_CFI);
}

/* Go allocates both: one may lie less than a snapshot above the other. */
TEST(unwind_follows_systemstack_to_a_goroutine_in_the_same_snapshot)
{
	CLEANUP(world_freep) struct world *w = switched(SYSTEMSTACK, world_slot(10));

	w->words[11] = IP(LEAF + 0x40);
	w->words[14] = IP(START + 0x40);
	world_walk(w);
	check_goroutine(w);
}

TEST(unwind_follows_systemstack_to_a_goroutine_that_was_read)
{
	CLEANUP(world_freep) struct world *w = switched(SYSTEMSTACK, GOROUTINE);
	const uint64_t words[] = { IP(LEAF + 0x40), IP(START + 0x40) };
	const uint32_t slots[] = { 1, 4 };

	w->other = &(struct event_stack){ .base = GOROUTINE, .end = GOROUTINE + 48, .nwords = 2, .slots = slots, .words = words };
	world_walk(w);
	check_goroutine(w);
}

TEST(unwind_believes_nothing_that_lies_above_systemstack)
{
	CLEANUP(world_freep) struct world *w = switched(SYSTEMSTACK, GOROUTINE);

	world_walk(w);
	world_check_end(w, 2, STACK_STOP_OTHER_STACK);

	w->words[1] = world_slot(10); /* no return address there */
	world_walk(w);
	world_check_end(w, 2, STACK_STOP_OTHER_STACK);
}

/* What it calls is chosen by the scheduler, and never returns to whoever called it. */
TEST(unwind_ends_at_mcall_whatever_lies_above)
{
	CLEANUP(world_freep) struct world *w = switched(MCALL, 0);

	world_walk(w);
	world_check_end(w, 2, STACK_STOP_ROOT);

	/* Interrupted before it switches, it has a caller like any other function, and none behind that. */
	world_set_leaf(w, IP(MCALL), 3);
	w->words[7] = IP(START + 0x40);
	world_walk(w);
	world_check_end(w, 3, STACK_STOP_ROOT);
	w->words[4] = 0x1234;
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_ROOT);
}

/* Its rule is that of a leaf, but it has left the goroutine's stack. */
TEST(unwind_follows_a_call_of_the_race_detector_to_the_goroutine)
{
	CLEANUP(world_freep) struct world *w = switched(RACECALL, GOROUTINE + 64);
	const uint64_t words[] = { IP(LEAF + 0x40), IP(START + 0x40) };
	const uint32_t slots[] = { 0, 3 };

	world_walk(w); /* the frame pointer is that of a caller of racecall()'s caller */
	world_check_end(w, 2, STACK_STOP_OTHER_STACK);

	w->other = &(struct event_stack){ .base = GOROUTINE, .end = GOROUTINE + 48, .nwords = 2, .slots = slots, .words = words };
	world_walk(w);
	world_check_end(w, 4, STACK_STOP_ROOT);
	world_check_frame(w, 1, IP(RACECALL + 0x40), UNWIND_CFI);
	world_check_frame(w, 2, IP(LEAF + 0x40), UNWIND_CFI);
	world_check_frame(w, 3, IP(START + 0x40), UNWIND_CFI);

	world_set_leaf(w, IP(RACECALL), 2); /* interrupted: a return address is left over at its stack pointer */
	world_set_reg(w, w->arch->fp, GOROUTINE + 64);
	world_walk(w);
	world_check_end(w, 3, STACK_STOP_ROOT);
	world_check_frame(w, 1, IP(LEAF + 0x40), UNWIND_CFI);
	w->other = NULL;
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_OTHER_STACK);
}

/* The goroutine that has the thread's stack calls it there. */
TEST(unwind_follows_a_call_of_the_race_detector_on_the_same_stack)
{
	CLEANUP(world_freep) struct world *w = world_new_go();

	world_set_leaf(w, IP(RACECALL), 2);
	world_set_reg(w, w->arch->fp, world_slot(5));
	w->words[2] = IP(LEAF + 0x40);
	w->words[5] = IP(START + 0x40);
	world_walk(w);
	world_check_end(w, 3, STACK_STOP_ROOT);
	world_check_frame(w, 1, IP(LEAF + 0x40), UNWIND_CFI);
}

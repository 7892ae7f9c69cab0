/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_unwind_landing.c - stacks while an exception leaves its frames.
 */
#include "tests/unit/test.h"
#include "tests/unit/unwind_world.h"

#define ORIGIN 30 /* the slot of the return address of what MIDDLE, which catches, had called */

/* RAISE has been called by what MIDDLE has called, which is to be left, and has replaced its return address. */
static struct world *raising(void)
{
	struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(RAISE), 0);
	world_set_reg(w, w->arch->fp, world_slot(20));
	w->words[5] = world_slot(ORIGIN);
	w->words[6] = world_slot(25); /* of anything */
	w->words[20] = world_slot(60);
	w->words[21] = IP(MIDDLE + 0x40);
	w->words[24] = IP(LEAF + 0x40); /* where MIDDLE's caller would be if it had called RAISE */
	w->words[25] = IP(START + 0x40);
	w->words[ORIGIN] = IP(MIDDLE + 0x40);
	w->words[ORIGIN + 3] = IP(FRAMED + 0x40);
	w->words[ORIGIN + 2] = world_slot(60);
	w->words[61] = IP(START + 0x40);
	return w;
}

static void check_landed(struct world *w)
{
	world_walk(w);
	world_check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_CFI);
	world_check_frame(w, 2, IP(FRAMED + 0x40), UNWIND_CFI);
	world_check_frame(w, 3, IP(START + 0x40), UNWIND_CFI);
	world_check_end(w, 4, STACK_STOP_ROOT);
}

/* The chain as RAISE's rule and nothing else has it. */
static void check_by_rule(struct world *w)
{
	world_walk(w);
	world_check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_CFI);
	world_check_frame(w, 2, IP(LEAF + 0x40), UNWIND_CFI);
	world_check_end(w, 4, STACK_STOP_ROOT);
}

TEST(unwind_goes_on_in_the_frame_that_catches_an_exception)
{
	CLEANUP(world_freep) struct world *w = raising();

	check_landed(w);
	w->words[ORIGIN] = IP(MIDDLE + 0x60); /* the handler's address, just before RAISE returns to it */
	check_landed(w);
}

TEST(unwind_believes_only_one_place_that_a_return_address_was_copied_from)
{
	CLEANUP(world_freep) struct world *w = raising();

	w->words[7] = world_slot(ORIGIN); /* said twice */
	check_landed(w);
	w->words[8] = world_slot(50);
	check_landed(w); /* which is something else */
	w->words[50] = IP(MIDDLE + 0x40);
	check_by_rule(w);
	w->words[50] = IP(LEAF + 0x60); /* a handler of another function */
	check_landed(w);
}

TEST(unwind_keeps_to_the_rule_until_an_exception_has_replaced_the_return_address)
{
	CLEANUP(world_freep) struct world *w = raising();

	w->words[ORIGIN] = IP(LEAF + 0x40);
	check_by_rule(w);
	w->words[ORIGIN] = IP(MIDDLE + 0x40);
	w->words[5] = 0;
	check_by_rule(w);
	w->words[22] = world_slot(ORIGIN); /* in a frame of its callers */
	world_walk(w);
	world_check_frame(w, 2, IP(LEAF + 0x40), UNWIND_CFI);
}

/* No call precedes a handler: the instruction before it may belong to another function, or to one of its own epilogues. */
TEST(unwind_looks_up_the_handler_that_is_returned_to_where_it_begins)
{
	CLEANUP(world_freep) struct world *w = raising();

	world_set_leaf(w, IP(RAISE + 0x80), ORIGIN);
	w->words[ORIGIN] = IP(MIDDLE);
	world_walk(w);
	CHECK_UINT(w->chain.frames[1].vaddr, MIDDLE);
	world_check_end(w, 4, STACK_STOP_ROOT);
	w->words[ORIGIN] = IP(MIDDLE + 0x40); /* but a return address remains one */
	world_walk(w);
	CHECK_UINT(w->chain.frames[1].vaddr, MIDDLE + 0x3f);
}

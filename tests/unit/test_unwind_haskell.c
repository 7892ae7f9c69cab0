/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_unwind_haskell.c - from Haskell code to what runs it: STUB is the code, RUN is StgRun, called by RUNNER.
 */
#include "tests/unit/test.h"
#include "tests/unit/unwind_world.h"

#define SPILLS 16384
#define SAVED  6 /* registers, below RUN's return address */

/* What lies above the room for spills, which no one has touched; RUN's frame is at word @frame of the stack. */
struct above {
	struct event_stack stack;
	uint32_t slots[2];
	uint64_t words[2];
};

static struct world *haskell(struct above *above, size_t frame)
{
	struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(STUB), 100);
	world_set_reg(w, w->arch->fp, 0x42001000);
	*above = (struct above){
		.stack = { .base = world_slot(frame) + SPILLS, .nwords = 2 },
		.slots = { SAVED, SAVED + 1 },
		.words = { IP(RUN), IP(START + 0x40) },
	};
	above->stack.end = above->stack.base + 256;
	above->stack.slots = above->slots;
	above->stack.words = above->words;
	w->other = &above->stack;
	return w;
}

static void check_run(struct world *w, size_t at)
{
	world_check_frame(w, at, IP(RUN + 43), UNWIND_BELOW);
	world_check_frame(w, at + 1, IP(RUN), UNWIND_CFI);
	world_check_frame(w, at + 2, IP(START + 0x40), UNWIND_CFI);
	world_check_end(w, at + 3, STACK_STOP_SKIPPED);
}

TEST(unwind_goes_from_haskell_code_to_what_runs_it)
{
	struct above above;
	CLEANUP(world_freep) struct world *w = haskell(&above, 100);

	world_walk(w);
	check_run(w, 1);
}

TEST(unwind_goes_on_behind_c_that_haskell_code_calls)
{
	struct above above;
	CLEANUP(world_freep) struct world *w = haskell(&above, 108);

	world_set_leaf(w, IP(LEAF), 99);
	w->words[99] = IP(STUB + 0x40); /* 64 bytes were pushed for the call */
	world_walk(w);
	check_run(w, 2);

	above.stack.base += 8; /* more than C's arguments ever take */
	above.stack.end += 8;
	world_walk(w);
	world_check_end(w, 2, STACK_STOP_NO_TABLE);
}

TEST(unwind_believes_no_other_call_to_run_haskell_code)
{
	struct above above;
	CLEANUP(world_freep) struct world *w = haskell(&above, 100);

	above.words[0] = IP(LEAF + 0x40); /* a call, of something whose table says otherwise */
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_NO_TABLE);

	above.words[0] = IP(RUN + 8); /* no call */
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_NO_TABLE);

	w->other = NULL;
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_NO_TABLE);
}

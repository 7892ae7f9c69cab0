/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"
#include "tests/unit/unwind_world.h"

#include <string.h>

TEST(unwind_takes_over_only_what_has_not_changed)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);
	uint64_t seed = 1;

	for (int round = 0; round < 3000; round++) {
		if (round % 20 == 0)
			world_lay_stack(w, &seed, world_random(&seed) % 64);
		/* One word changes: a return address, a frame pointer or something else, for good or bad. */
		size_t at = world_random(&seed) % STACK_LEN;
		uint64_t old = w->words[at];

		if (world_random(&seed) % 2)
			w->words[at] = world_random(&seed) % 2
					       ? IP(LEAF + 0x40)
					       : world_slot(world_random(&seed) % STACK_LEN);
		w->cut = world_random(&seed) % 2;
		w->nwords =
			world_random(&seed) % 4 ? STACK_LEN : STACK_LEN - world_random(&seed) % 20;
		/* Now and then a filter is in the way, and the next one is told about a sample nobody walked. */
		if (world_random(&seed) % 4)
			world_walk(w);
		else
			world_event(w);
		if (world_random(&seed) % 2)
			w->words[at] = old;
	}
	CHECK(unwinder_stats(w->unwinder)->spliced_frames > 1000);
	CHECK_UINT(unwinder_stats(w->reference)->spliced_frames, 0);
}

TEST(unwind_takes_nothing_over_across_a_change_of_mappings)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);
	uint64_t seed = 7;

	world_lay_stack(w, &seed, 0);
	world_walk(w);
	CHECK_UINT(w->chain.stop, STACK_STOP_ROOT);
	world_map(w, "/nowhere/missing.so", 0x555500000000, 0x4000); /* over the program */
	world_walk(w);
	CHECK_STR(w->chain.frames[w->chain.nframes - 1].module->name, "missing.so");
}

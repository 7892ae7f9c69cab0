/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"
#include "tests/unit/unwind_world.h"

#include <string.h>

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

/* Lay a random stack of frames from the top down to word @from. */
static void lay_stack(struct world *w, uint64_t *seed, size_t from)
{
	size_t at = STACK_LEN - 8, fp = 0;
	uint64_t caller = IP(START + 0x40);

	memset(w->words + from, 0, (STACK_LEN - from) * sizeof(w->words[0]));
	while (at > from + 8) {
		switch (next_random(seed) % 3) {
		case 0: /* LEAF */
			w->words[--at] = caller;
			caller = IP(LEAF + 0x40);
			break;
		case 1: /* MIDDLE */
			w->words[--at] = caller;
			w->words[--at] = fp;
			w->words[--at] = next_random(seed);
			caller = IP(MIDDLE + 0x40);
			break;
		case 2: /* FRAMED, with some locals */
			w->words[--at] = caller;
			w->words[--at] = fp;
			fp = world_slot(at);
			at -= next_random(seed) % 4;
			caller = IP(FRAMED + 0x40);
			break;
		}
	}
	w->words[--at] = caller;
	world_set_leaf(w, IP(LEAF + next_random(seed) % 0x100), at);
	world_set_reg(w, w->arch->fp, fp);
	world_set_reg(w, 3, next_random(seed));
}

TEST(unwind_takes_over_only_what_has_not_changed)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);
	uint64_t seed = 1;

	for (int round = 0; round < 3000; round++) {
		if (round % 20 == 0)
			lay_stack(w, &seed, next_random(&seed) % 64);
		/* One word changes: a return address, a frame pointer or something else, for good or bad. */
		size_t at = next_random(&seed) % STACK_LEN;
		uint64_t old = w->words[at];

		if (next_random(&seed) % 2)
			w->words[at] = next_random(&seed) % 2
					       ? IP(LEAF + 0x40)
					       : world_slot(next_random(&seed) % STACK_LEN);
		w->cut = next_random(&seed) % 2;
		w->nwords =
			next_random(&seed) % 4 ? STACK_LEN : STACK_LEN - next_random(&seed) % 20;
		world_walk(w);
		if (next_random(&seed) % 2)
			w->words[at] = old;
	}
	CHECK(unwinder_stats(w->unwinder)->spliced_frames > 1000);
	CHECK_UINT(unwinder_stats(w->reference)->spliced_frames, 0);
}

TEST(unwind_takes_nothing_over_across_a_change_of_mappings)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);
	uint64_t seed = 7;

	lay_stack(w, &seed, 0);
	world_walk(w);
	CHECK_UINT(w->chain.stop, UNWIND_ROOT);
	world_map(w, "/nowhere/missing.so", 0x555500000000, 0x4000); /* over the program */
	world_walk(w);
	CHECK_STR(w->chain.frames[w->chain.nframes - 1].module->name, "missing.so");
}

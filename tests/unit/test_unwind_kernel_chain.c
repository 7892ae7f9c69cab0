/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"
#include "tests/unit/unwind_world.h"

TEST(unwind_says_that_the_snapshot_ended)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(LEAF), 0);
	w->words[0] = IP(MIDDLE + 0x40);
	w->nwords = 3; /* the return address of MIDDLE is the next word */
	w->cut = true;
	world_walk(w);
	world_check_end(w, 2, STACK_STOP_SNAPSHOT_ENDED);
	CHECK_STR(w->chain.stop_module->name, "prog");
}

/* The kernel's copy ended at a page in the middle of a frame, and what lies behind was read besides. */
TEST(unwind_goes_on_in_the_rest_of_the_stack)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);
	const uint64_t words[] = { IP(MIDDLE + 0x40), world_slot(24), IP(FRAMED + 0x40), IP(START + 0x40) };
	const uint32_t slots[] = { 0, 2, 3, 5 };

	world_set_leaf(w, IP(MIDDLE), 0);
	world_set_reg(w, w->arch->fp, world_slot(22));
	w->words[1] = world_slot(22);
	w->words[2] = IP(FRAMED + 0x40); /* whose frame pointer leads over the hole */
	w->nwords = 8;
	w->other = &(struct event_stack){ .base = world_slot(20), .end = world_slot(26), .nwords = 4, .slots = slots, .words = words };
	world_walk(w);
	world_check_end(w, 4, STACK_STOP_ROOT);
	world_check_frame(w, 2, IP(FRAMED + 0x40), UNWIND_CFI);
	world_check_frame(w, 3, IP(START + 0x40), UNWIND_CFI);
}

TEST(unwind_goes_on_with_the_kernels_chain_where_the_snapshot_ends)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(FRAMED), 0);
	world_set_reg(w, w->arch->fp, world_slot(2));
	world_recurse(w, 2, 10, IP(FRAMED + 0x40));
	w->nwords = 2 + 4 * 3; /* three of ten return addresses; the same ones all the way */
	w->cut = true;
	w->nuser_ips = 12;
	w->user_ips[0] = IP(FRAMED);
	for (size_t i = 1; i <= 10; i++)
		w->user_ips[i] = IP(FRAMED + 0x40);
	w->user_ips[11] = IP(START + 0x40);
	world_walk(w);
	world_check_end(w, 12, STACK_STOP_SPLICED);
	world_check_frame(w, 3, IP(FRAMED + 0x40), UNWIND_CFI);
	world_check_frame(w, 4, IP(FRAMED + 0x40), UNWIND_KERNEL_CHAIN);
	world_check_frame(w, 11, IP(START + 0x40), UNWIND_KERNEL_CHAIN);
	CHECK_UINT(w->chain.frames[11].vaddr, START + 0x3f);

	/* Of what a function without frame pointer has called, its callers are not what the kernel found. */
	w->user_ips[7] = IP(MIDDLE + 0x40);
	world_walk(w);
	world_check_end(w, 8, STACK_STOP_SNAPSHOT_ENDED);

	w->user_ips[2] = IP(MIDDLE + 0x40); /* not the chain of this stack */
	world_walk(w);
	world_check_end(w, 4, STACK_STOP_SNAPSHOT_ENDED);
}

/* The kernel's next frame pointer leads past the frame that is missing: one would be left out. */
TEST(unwind_takes_no_kernel_chain_that_leaves_a_gap)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(MIDDLE), 0);
	world_set_reg(w, w->arch->fp, world_slot(20));
	w->words[1] = world_slot(20);
	w->words[2] = IP(LEAF + 0x40);
	w->nwords = 3;
	w->cut = true;
	w->nuser_ips = 2;
	w->user_ips[0] = IP(MIDDLE);
	w->user_ips[1] = IP(START + 0x40);
	world_walk(w);
	world_check_end(w, 2, STACK_STOP_SNAPSHOT_ENDED);
}

TEST(unwind_gives_the_recorded_chain_where_there_is_no_snapshot)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	w->user_ips[0] = IP(FRAMED);
	w->user_ips[1] = IP(FRAMED + 0x40);
	w->nuser_ips = 2;
	world_walk(w);
	world_check_frame(w, 0, IP(FRAMED), UNWIND_LEAF);
	world_check_frame(w, 1, IP(FRAMED + 0x40), UNWIND_KERNEL_CHAIN);
	CHECK_UINT(w->chain.frames[1].vaddr, FRAMED + 0x3f);
	/* It merely ends: the next function may have no frame pointer. */
	world_check_end(w, 2, STACK_STOP_NO_STACK);

	/* With 0 behind it too, where there are rules; and what is no code is not a frame. */
	const uint64_t ends[] = { 0, EVENT_IP_ASTRAY, 0x7ffffff01000 };

	w->nuser_ips = 3;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		w->user_ips[2] = ends[i];
		world_walk(w);
		world_check_end(w, 2, STACK_STOP_NO_STACK);
	}

	/* A function that says that it is the root is, and code without rules is believed that 0 ends its chain. */
	w->user_ips[2] = IP(START + 0x40);
	world_walk(w);
	world_check_end(w, 3, STACK_STOP_SPLICED);
	w->user_ips[1] = JIT_START + 0x100;
	w->user_ips[2] = 0;
	world_walk(w);
	world_check_end(w, 2, STACK_STOP_SPLICED);

	w->nuser_ips = 1;
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_NO_STACK);

	/* Where nothing else was asked for, this is what the kernel's walk found. */
	w->rec.chain = RECORDING_CHAIN_FP;
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_NO_FRAME_POINTER);
	w->user_ips[1] = IP(FRAMED + 0x40);
	w->nuser_ips = 2;
	world_walk(w);
	world_check_end(w, 2, STACK_STOP_NO_FRAME_POINTER);
	w->nuser_ips = 1;

	/* And without stacks, that there is none is no fault. */
	w->rec.chain = RECORDING_CHAIN_NONE;
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_NOT_WALKED);
}

/* A function that uses the register for something else: its caller is left out, but the user wants what the kernel has. */
TEST(unwind_calls_no_recorded_chain_complete_that_leads_through_a_function_without_frame_pointer)
{
	for (size_t without = 0; without < 2; without++) {
		CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

		w->nuser_ips = 3;
		w->user_ips[0] = without == 0 ? IP(LEAF) : IP(FRAMED);
		w->user_ips[1] = without == 1 ? IP(MIDDLE + 0x40) : IP(FRAMED + 0x40);
		w->user_ips[2] = IP(START + 0x40);
		world_walk(w);
		world_check_end(w, 3, STACK_STOP_NO_STACK);
		CHECK_STR(w->chain.stop_module->name, "prog");
	}
}

/* On aarch64 a frame record is one whatever the frame's end is computed from. */
TEST(unwind_follows_a_recorded_chain_through_frame_records)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_aarch64);

	w->nuser_ips = 3;
	w->user_ips[0] = IP(FRAMED);
	w->user_ips[1] = IP(MIDDLE + 0x40);
	w->user_ips[2] = IP(START + 0x40);
	world_walk(w);
	world_check_end(w, 3, STACK_STOP_SPLICED);
	w->user_ips[1] = IP(LEAF + 0x40);
	world_walk(w);
	world_check_end(w, 3, STACK_STOP_NO_STACK);
}

static void map_data(struct world *w, const char *path, uint64_t start)
{
	struct event ev = { .kind = EVENT_MMAP, .pid = PID, .tid = PID };

	ev.mmap = (struct event_mmap){ .start = start, .end = start + 0x1000, .path = path };
	space_table_apply(w->spaces, &ev);
}

/* simpleperf's chains lead through what Android's runtime interprets. */
TEST(unwind_follows_a_recorded_chain_through_bytecode_but_no_other_data)
{
	for (int bytecode = 0; bytecode < 2; bytecode++) {
		CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

		map_data(w, bytecode ? "/data/app/base.vdex" : "/data/app/base.txt", 0x300000000);
		world_set_leaf(w, IP(LEAF), 0);
		w->nwords = 0;
		w->nuser_ips = 3;
		w->user_ips[0] = IP(LEAF);
		w->user_ips[1] = 0x300000010;
		w->user_ips[2] = IP(START + 0x40);
		world_walk(w);
		CHECK_UINT(w->chain.nframes, bytecode ? 3 : 1);
	}
}

/* A function that switched stacks: the kernel followed the frame pointer to the other one. */
TEST(unwind_goes_on_with_the_kernels_chain_on_another_stack)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(FRAMED), 0);
	world_set_reg(w, w->arch->fp, world_slot(2));
	w->words[2] = 0x7f0000001000; /* the other stack */
	w->words[3] = IP(MIDDLE + 0x40);
	w->words[6] = 0;		      /* no caller here */
	w->words[10] = IP(FRAMED + 0x40); /* but this is not the end of a stack */
	w->nuser_ips = 4;
	w->user_ips[0] = IP(FRAMED);
	w->user_ips[1] = IP(MIDDLE + 0x40);
	w->user_ips[2] = IP(FRAMED + 0x40);
	w->user_ips[3] = IP(START + 0x40);
	world_walk(w);
	world_check_end(w, 4, STACK_STOP_SWITCHED);
	world_check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_CFI);
	world_check_frame(w, 2, IP(FRAMED + 0x40), UNWIND_KERNEL_CHAIN);

	w->user_ips[1] = IP(FRAMED + 0x40); /* the kernel came another way */
	world_walk(w);
	world_check_end(w, 2, STACK_STOP_NO_MAPPING);
}

/* What ran in a virtual machine is in no mapping of the process that is its processor. */
TEST(unwind_has_an_address_of_a_guest_and_no_more)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);
	struct unwind_chain chain;

	world_set_leaf(w, IP(LEAF), 0);

	struct event ev = world_event(w);

	ev.sample.mode = EVENT_MODE_GUEST_KERNEL;
	ev.sample.ip = 0xffffffff81000000;
	unwinder_walk(w->unwinder, &ev, &chain);
	CHECK_UINT(chain.nframes, 1);
	CHECK_UINT(chain.stop, STACK_STOP_NOT_WALKED);
	CHECK_STR(chain.frames[0].module->path, "[guest kernel]");
	CHECK_UINT(chain.frames[0].vaddr, 0xffffffff81000000);
	ev.sample.mode = EVENT_MODE_GUEST_USER;
	unwinder_walk(w->unwinder, &ev, &chain);
	CHECK_STR(chain.frames[0].module->path, "[guest user]");
}

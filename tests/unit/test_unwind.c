/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"
#include "tests/unit/unwind_world.h"

#include <stdlib.h>
#include <string.h>

TEST(unwind_follows_rules_down_to_the_root)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(LEAF + 8), 0);
	w->words[0] = IP(MIDDLE + 0x40);
	w->words[1 + 0] = 0;        /* local */
	w->words[1 + 1] = world_slot(10); /* the frame pointer of FRAMED, whose locals lie between */
	w->words[1 + 2] = IP(FRAMED + 0x40);
	w->words[10] = 0;
	w->words[11] = IP(START + 0x40);
	world_walk(w);
	world_check_frame(w, 0, IP(LEAF + 8), UNWIND_LEAF);
	world_check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_CFI);
	world_check_frame(w, 2, IP(FRAMED + 0x40), UNWIND_CFI);
	world_check_frame(w, 3, IP(START + 0x40), UNWIND_CFI);
	world_check_end(w, 4, STACK_STOP_ROOT);
	CHECK_UINT(w->chain.frames[0].vaddr, LEAF + 8);
	CHECK_UINT(w->chain.frames[1].vaddr, MIDDLE + 0x3f);
	CHECK_STR(w->chain.frames[1].module->name, "prog");
}

/* A call that never returns may be a function's last instruction. */
TEST(unwind_looks_return_addresses_up_inside_the_call)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(LEAF), 0);
	w->words[0] = IP(START); /* MIDDLE's end */
	w->words[1] = IP(LEAF + 0x40);
	world_walk(w);
	CHECK_UINT(w->chain.frames[1].vaddr, START - 1); /* in FRAMED */
	CHECK(w->chain.stop != STACK_STOP_ROOT);
}

TEST(unwind_takes_an_interrupted_address_as_it_is)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(LEAF), 0);
	w->words[0] = IP(SIGNAL + 0x10);
	w->words[1 + 1] = IP(START); /* interrupted at its first instruction */
	world_walk(w);
	world_check_frame(w, 1, IP(SIGNAL + 0x10), UNWIND_CFI);
	world_check_frame(w, 2, IP(START), UNWIND_CFI);
	CHECK_UINT(w->chain.frames[2].vaddr, START);
	world_check_end(w, 3, STACK_STOP_ROOT);
}

/* The symbol of a stripped C library's trampoline is in its debug file: what would name the byte before it is another function. */
TEST(unwind_looks_up_a_trampoline_without_a_symbol_where_the_handler_returns_to)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(LEAF), 0);
	w->words[1 + 1] = IP(START);
	w->words[0] = IP(SIGNAL + 0x10);
	world_walk(w);
	CHECK_UINT(w->chain.frames[1].vaddr, SIGNAL + 0x10);
	w->words[0] = IP(SIGNAL + 0x40); /* behind a call, which is what the line is asked for */
	world_walk(w);
	CHECK_UINT(w->chain.frames[1].vaddr, SIGNAL + 0x3f);
}

/* No rule and no call lie before it, and no symbol says what it is: makecontext() puts such an address there. */
TEST(unwind_looks_up_a_start_routine_at_its_first_instruction)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(LEAF + 0x10), 0);
	w->words[0] = IP(BROKEN);
	world_walk(w);
	world_check_frame(w, 1, IP(BROKEN), UNWIND_CFI);
	CHECK_UINT(w->chain.frames[1].vaddr, BROKEN);
	world_check_end(w, 2, STACK_STOP_ROOT);
}

TEST(unwind_says_why_it_stopped)
{
	static const struct {
		uint64_t vaddr; /* of the caller of the leaf */
		size_t nframes;
		enum stack_stop stop;
	} cases[] = {
		{ START + 0x40, 2, STACK_STOP_ROOT },        { BROKEN + 0x40, 2, STACK_STOP_BAD_TABLE },
		{ STUB + 0x40, 2, STACK_STOP_NO_TABLE },     { FAR + 0x20, 2, STACK_STOP_UNREADABLE },
		{ BACK + 0x20, 2, STACK_STOP_BAD_TABLE },    { LOOP + 0x10, 2, STACK_STOP_BAD_TABLE },
		{ FRAMED + 0x40, 2, STACK_STOP_UNREADABLE }, { 0x100000, 1, STACK_STOP_NO_MAPPING },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

		world_set_leaf(w, IP(LEAF), 0);
		world_set_reg(w, w->arch->fp, 0x1234);
		w->words[0] = IP(cases[i].vaddr);
		world_walk(w);
		world_check_end(w, cases[i].nframes, cases[i].stop);
	}
}

TEST(unwind_puts_the_kernels_frames_first)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	w->kernel_ips[0] = 0xffffffff81000010;
	w->kernel_ips[1] = 0xffffffff81000020;
	w->nkernel_ips = 2;
	world_set_leaf(w, IP(START + 0x10), 0);
	world_walk(w);
	world_check_end(w, 3, STACK_STOP_ROOT);
	CHECK(w->chain.frames[0].kernel && w->chain.frames[1].kernel && !w->chain.frames[2].kernel);
	CHECK_UINT(w->chain.frames[0].vaddr, 0xffffffff81000010);
	CHECK_UINT(w->chain.frames[1].vaddr, 0xffffffff8100001f);
	world_check_frame(w, 2, IP(START + 0x10), UNWIND_LEAF);

	w->regs.mask = 0;
	world_walk(w);
	world_check_end(w, 2, STACK_STOP_NOT_WALKED);
}

/* In the child, clone() returns in code that no rule covers, and on a stack where nothing has been called. */
TEST(unwind_ends_the_stack_of_a_thread_that_leaves_the_kernel_for_the_first_time)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);
	struct recording_ksym ksyms[] = {
		{ 0xffffffff81000000, 0x100, "schedule_tail", "" },
		{ 0xffffffff81000100, 0x100, "ret_from_fork_asm", "" },
		{ 0xffffffff81000200, 0x100, "do_syscall_64", "" },
	};

	w->rec.ksyms = ksyms;
	w->rec.nksyms = ARRAY_LEN(ksyms);
	w->kernel_ips[0] = 0xffffffff81000010;
	w->kernel_ips[1] = 0xffffffff81000110;
	w->nkernel_ips = 2;
	world_set_leaf(w, IP(STUB + 0x50), 0);
	world_set_reg(w, w->arch->fp, 1);
	world_walk(w);
	world_check_end(w, 3, STACK_STOP_ROOT);

	w->words[20] = IP(START + 0x40); /* it has called something after all */
	world_walk(w);
	world_check_end(w, 3, STACK_STOP_NO_TABLE);
	w->words[20] = 0;
	w->kernel_ips[1] = 0xffffffff81000210;
	world_walk(w);
	world_check_end(w, 3, STACK_STOP_NO_TABLE);
}

/* The same interrupted at once, before the kernel's last function is anything but the system call's: it has left the address in rcx. */
TEST(unwind_ends_the_stack_of_a_thread_at_its_first_instruction)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(STUB + 0x58), 0);
	world_set_reg(w, w->arch->fp, 1);
	world_set_reg(w, 2, IP(STUB + 0x58));
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_ROOT);
	w->words[20] = IP(START + 0x40);
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_NO_TABLE);
	w->words[20] = 0;
	world_set_reg(w, 2, IP(STUB + 0x57));
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_NO_TABLE);
}

/* boost.context: a first function would return to code without a rule, which has called nothing; what changes stacks returns there first. */
TEST(unwind_ends_a_stack_at_the_code_that_was_put_there_to_begin_it)
{
	static const uint64_t leaves[] = { LEAF, BARE + 0x15 };

	for (size_t i = 0; i < ARRAY_LEN(leaves); i++) {
		CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

		world_set_leaf(w, IP(leaves[i]), 0);
		world_set_reg(w, w->arch->fp, 1);
		w->words[0] = IP(STUB + 0x58);
		world_walk(w);
		world_check_end(w, 2, STACK_STOP_ROOT);
		w->words[20] = IP(START + 0x40); /* something was called, after all */
		world_walk(w);
		CHECK(w->chain.stop != STACK_STOP_ROOT);
		w->words[20] = 0;
		w->words[0] = IP(BARE + 0x10);
		w->words[5] = IP(STUB + 0x58); /* of a caller, what its code says must be a call */
		world_walk(w);
		world_check_end(w, 2, STACK_STOP_NO_TABLE);
		w->words[5] = 0;
		w->words[0] = i ? IP(MIDDLE + 0x20) : IP(STUB + 0x40); /* code with a rule; code that has been called */
		world_walk(w);
		CHECK(w->chain.stop != STACK_STOP_ROOT);
	}
}

TEST(unwind_leaves_out_registers_that_an_earlier_entry_into_the_kernel_left_behind)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);
	struct recording_ksym ksyms[] = {
		{ 0xffffffff81000000, 0x100, "asm_exc_page_fault", "" },
		{ 0xffffffff81000100, 0x100, "error_entry", "" },
		{ 0xffffffff81000200, 0x100, "do_syscall_64", "" },
	};

	w->rec.ksyms = ksyms;
	w->rec.nksyms = ARRAY_LEN(ksyms);
	world_set_leaf(w, IP(START + 0x10), 0);

	w->kernel_ips[0] = 0xffffffff81000110;
	w->kernel_ips[1] = 0xffffffff81000010;
	w->nkernel_ips = 2;
	world_walk(w);
	world_check_end(w, 2, STACK_STOP_ENTERING);

	/* An exception in the kernel: the registers are of the system call around it. */
	w->kernel_ips[2] = 0xffffffff81000210;
	w->nkernel_ips = 3;
	world_walk(w);
	world_check_end(w, 4, STACK_STOP_ROOT);

	/* Behind the stub they are saved. */
	w->kernel_ips[0] = 0xffffffff81000210;
	w->nkernel_ips = 2;
	world_walk(w);
	world_check_end(w, 3, STACK_STOP_ROOT);
	w->rec.ksyms = NULL;
	w->rec.nksyms = 0;
}

TEST(unwind_uses_the_link_register_of_an_interrupted_leaf_only)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_aarch64);

	world_set_leaf(w, IP(LEAF + 4), 0);
	world_set_reg(w, 30, IP(MIDDLE + 0x40));
	w->words[0] = world_slot(4);
	w->words[1] = IP(FRAMED + 0x40) | 0x5aULL << 48; /* signed */
	w->words[4] = world_slot(8);
	w->words[5] = IP(LEAF + 0x40); /* not interrupted: its rule cannot be right here */
	world_walk(w);
	world_check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_CFI);
	world_check_frame(w, 2, IP(FRAMED + 0x40), UNWIND_CFI);
	world_check_frame(w, 3, IP(LEAF + 0x40), UNWIND_CFI);
	world_check_end(w, 4, STACK_STOP_BAD_TABLE);
}

/* Of a kernel with 39, 48 or 52 bits of address, all bits from there to 54 are authentication. Known, or taken from the mappings. */
TEST(unwind_strips_authentication_of_any_length_on_aarch64)
{
	static const struct {
		unsigned bits;
		uint64_t start;
	} kernels[] = { { 39, 0x5555500000 }, { 39, 0x7ffff00000 }, { 48, 0xaaaa00000000 }, { 52, 0xf555500000000 } };

	for (size_t i = 0; i < 2 * ARRAY_LEN(kernels); i++) {
		uint64_t mask = (1ULL << kernels[i / 2].bits) - 1, all = (1ULL << 55) - 1;
		CLEANUP(world_freep) struct world *w = world_new_at(&arch_aarch64, kernels[i / 2].start);

		w->rec.code_mask = i % 2 ? mask : 0;
		world_set_leaf(w, IP(LEAF + 4), 0);
		world_set_reg(w, 30, IP(MIDDLE + 0x40) | (0x5a5a5a5a5a5a5a5a & all & ~mask));
		w->words[0] = world_slot(4);
		w->words[1] = IP(FRAMED + 0x40) | (0x2345678923456789 & all & ~mask);
		w->words[4] = world_slot(8);
		w->words[5] = IP(START + 0x40) | (all & ~mask);
		world_walk(w);
		world_check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_CFI);
		world_check_frame(w, 2, IP(FRAMED + 0x40), UNWIND_CFI);
		world_check_frame(w, 3, IP(START + 0x40), UNWIND_CFI);
		world_check_end(w, 4, STACK_STOP_ROOT);
	}
}

/* Linux's trampoline and what it finds on the stack. */
TEST(unwind_steps_out_of_a_signal_handler_on_aarch64)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_aarch64);
	const size_t regs = (128 + 176 + 8) / 8;

	world_set_leaf(w, IP(LEAF + 4), 0);
	world_set_reg(w, 30, IP(STUB + 0x80));
	w->words[regs + 30] = IP(MIDDLE + 0x40);
	w->words[regs + 31] = world_slot(100);
	w->words[regs + 32] = IP(LEAF + 0x20);
	w->words[100] = 0;
	w->words[101] = IP(START + 0x40);
	world_walk(w);
	world_check_frame(w, 1, IP(STUB + 0x80), UNWIND_CFI);
	world_check_frame(w, 2, IP(LEAF + 0x20), UNWIND_CFI);
	world_check_frame(w, 3, IP(MIDDLE + 0x40), UNWIND_CFI);
	world_check_frame(w, 4, IP(START + 0x40), UNWIND_CFI);
	world_check_end(w, 5, STACK_STOP_ROOT);
}

/* @turns times MIDDLE, LEAF above a leaf, then a root; or, not @regular, in an order that does not repeat. */
static void walk_deep(struct world *w, uint32_t turns, bool regular)
{
	uint32_t len = 4 * turns + 1, n = 0, *slots = calloc(len, sizeof(*slots));
	uint64_t *words = calloc(len, sizeof(*words)), seed = 1;
	struct event ev;

	world_set_leaf(w, IP(LEAF), 0);
	ev = world_event(w);
	for (uint32_t i = 0; i < turns; i++) {
		uint64_t off = regular || world_random(&seed) % 2 ? 0 : 0x300;

		words[n++] = IP(MIDDLE + 0x40); /* its frame has two words more below the return address */
		words[n++] = 0;
		words[n++] = world_slot(10);
		words[n++] = off ? IP(LEAF + 0x41) : IP(LEAF + 0x40);
	}
	words[n++] = IP(START + 0x40);
	for (uint32_t i = 0; i < n; i++)
		slots[i] = i;
	ev.sample.stack.slots = slots;
	ev.sample.stack.words = words;
	ev.sample.stack.nwords = n;
	ev.sample.stack.end = ev.sample.stack.base + 8 * n;
	unwinder_walk(w->unwinder, &ev, &w->chain);
	free(slots);
	free(words);
}

TEST(unwind_folds_calls_that_repeat_in_a_chain_that_is_too_deep)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	walk_deep(w, 511, true);
	world_check_end(w, 1024, STACK_STOP_ROOT); /* just room enough */
	for (uint32_t turns = 512; turns < 2100; turns += 397) {
		walk_deep(w, turns, true);
		world_check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_CFI);
		world_check_frame(w, 2, IP(LEAF + 0x40), UNWIND_CFI);
		world_check_frame(w, 3, IP(START + 0x40), UNWIND_CFI);
		world_check_end(w, 4, STACK_STOP_ROOT);
		CHECK(w->chain.folded);
	}
	walk_deep(w, 2000, false);
	world_check_end(w, UNWIND_FRAMES_MAX, STACK_STOP_TOO_DEEP);
	walk_deep(w, 511, true); /* nothing of that is left */
	world_check_end(w, 1024, STACK_STOP_ROOT);
	CHECK(!w->chain.folded);
}

TEST(unwind_ends_a_fold_where_the_snapshot_does)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);
	uint32_t *slots = calloc(2000, sizeof(*slots));
	uint64_t *words = calloc(2000, sizeof(*words));
	struct event ev;

	world_set_leaf(w, IP(LEAF), 0);
	ev = world_event(w);
	for (uint32_t i = 0; i < 2000; i++) {
		slots[i] = i;
		words[i] = IP(LEAF + 0x40);
	}
	ev.sample.stack.slots = slots;
	ev.sample.stack.words = words;
	ev.sample.stack.nwords = 2000;
	ev.sample.stack.end = world_slot(2000);
	for (int round = 0; round < 2; round++) {
		unwinder_walk(w->unwinder, &ev, &w->chain);
		world_check_frame(w, 1, IP(LEAF + 0x40), UNWIND_CFI);
		CHECK_UINT(w->chain.nframes, 2);
		CHECK(!stack_stop_is_complete(w->chain.stop));
	}
	free(slots);
	free(words);
}

/* A call of a null pointer below a signal handler: the return address is on top of the stack. */
TEST(unwind_follows_a_call_of_no_code_that_a_signal_interrupted)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(LEAF), 0);
	w->words[0] = IP(SIGNAL + 0x10);
	w->words[1 + 1] = 0; /* SIGNAL's CFA is word 5 */
	w->words[5] = IP(MIDDLE + 0x40);
	w->words[6 + 2] = IP(START + 0x40);
	world_walk(w);
	world_check_frame(w, 2, 0, UNWIND_CFI);
	world_check_frame(w, 3, IP(MIDDLE + 0x40), UNWIND_LINK);
	world_check_end(w, 5, STACK_STOP_ROOT);
}

TEST(unwind_believes_no_address_of_zero_where_a_signal_interrupted)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(LEAF), 0);
	w->words[0] = IP(SIGNAL + 0x10);
	world_walk(w);
	world_check_end(w, 3, STACK_STOP_NO_MAPPING);
}

/* A word without meaning is zero after pruning: it is the end only if nothing above has called. */
TEST(unwind_believes_no_return_address_of_zero_below_one_that_follows_a_call)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(LEAF), 0);
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_ROOT);
	w->words[20] = IP(MIDDLE + 0x40);
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_NO_MAPPING);
}

/* A precise event at MIDDLE's call: the return address has been pushed, the instruction pointer has not moved. */
TEST(unwind_steps_from_a_precise_event_at_a_call)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(MIDDLE + 0x3b), 0);
	w->words[0] = IP(MIDDLE + 0x40);
	w->words[1 + 2] = IP(START + 0x40);
	world_walk(w);
	world_check_frame(w, 1, IP(START + 0x40), UNWIND_CFI);
	world_check_end(w, 2, STACK_STOP_ROOT);
}

/* The same words, but the registers as they are lead behind a call: it has not been made. */
TEST(unwind_believes_the_stack_pointer_at_a_call_if_it_leads_to_one)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(MIDDLE + 0x3b), 0);
	w->words[0] = IP(MIDDLE + 0x40);
	w->words[2] = IP(FRAMED + 0x40);
	w->words[1 + 2] = IP(START + 0x40);
	world_walk(w);
	world_check_frame(w, 1, IP(FRAMED + 0x40), UNWIND_CFI);
}

/* Not cut by its size: the kernel's copy ended at a page that nobody has touched. */
TEST(unwind_says_that_the_snapshot_ended_inside_a_frame)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(MIDDLE), STACK_LEN - 2);
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_SNAPSHOT_ENDED);
}

/* A frame pointer tells how far the frame goes on: as far as pruning keeps such pointers, and never over code. */
TEST(unwind_says_that_the_snapshot_ended_only_below_the_next_code)
{
	static const struct {
		uint64_t distance;
		enum stack_stop stop;
	} cases[] = {
		{ 0x4000, STACK_STOP_SNAPSHOT_ENDED },
		{ EVENT_STACK_BEYOND - 16, STACK_STOP_SNAPSHOT_ENDED },
		{ EVENT_STACK_BEYOND - 8, STACK_STOP_UNREADABLE },
	};

	for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
		CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);
		bool below_code = i >= ARRAY_LEN(cases);

		if (below_code)
			world_map(w, "/other.so", world_slot(STACK_LEN) + 0x2000, 0x1000);
		world_set_leaf(w, IP(FRAMED + 0x10), STACK_LEN - 2);
		world_set_reg(w, arch_x86_64.fp, world_slot(STACK_LEN) + cases[i % ARRAY_LEN(cases)].distance);
		world_walk(w);
		world_check_end(w, 1, below_code ? STACK_STOP_UNREADABLE : cases[i % ARRAY_LEN(cases)].stop);
	}
}

/* Neither a rule nor a frame pointer: what the code has done to the stack from the function's first instruction on. */
TEST(unwind_follows_the_code_of_a_function_without_rules)
{
	static const struct {
		uint64_t leaf;
		size_t at; /* the word with the return address */
	} cases[] = { { BARE, 0 }, { BARE + 1, 1 }, { BARE + 5, 4 }, { BARE + 0x10, 4 }, { BARE + 0x14, 1 }, { BARE + 0x15, 0 } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

		world_set_leaf(w, IP(cases[i].leaf), 0);
		world_set_reg(w, w->arch->fp, 0x1234);
		w->words[cases[i].at] = IP(BARE + 0x10); /* called by itself, and that by START */
		w->words[cases[i].at + 5] = IP(START + 0x40);
		world_walk(w);
		world_check_end(w, 3, STACK_STOP_ROOT);
		world_check_frame(w, 1, IP(BARE + 0x10), UNWIND_CODE);
		world_check_frame(w, 2, IP(START + 0x40), UNWIND_CODE);

		w->words[cases[i].at + 5] = IP(START + 0x20); /* behind no call: not believed */
		world_walk(w);
		world_check_end(w, 2, STACK_STOP_NO_TABLE);
	}
}

/* The stack that was left for the handler's, one word each in @words. */
static struct event_stack other_stack(uint64_t base, const uint32_t *slots, const uint64_t *words, size_t count, size_t len)
{
	return (struct event_stack){ .base = base, .end = base + 8 * len, .slots = slots, .words = words, .nwords = count };
}

/* Registers in a handler with a stack of its own, whose signal frame says: in MIDDLE, on the stack at @other. */
static void lay_handler(struct world *w, uint64_t other)
{
	const size_t regs = (128 + 176 + 8) / 8; /* of aarch64's signal frame */

	if (w->arch->lr < 0) {
		world_set_leaf(w, IP(SIGNAL + 0x10), STACK_LEN - 7); /* its CFA is sp+32 */
		w->words[STACK_LEN - 6] = IP(MIDDLE + 0x20);
		return;
	}
	world_set_leaf(w, IP(STUB + 0x80), 0);
	w->words[regs + 31] = other;
	w->words[regs + 32] = IP(MIDDLE + 0x20);
}

/* From there through the signal frame onto the other stack and to the root. */
TEST(unwind_goes_on_on_the_stack_that_a_signal_handler_left)
{
	static const struct arch *const archs[] = { &arch_x86_64, &arch_aarch64 };

	for (size_t i = 0; i < ARRAY_LEN(archs); i++) {
		CLEANUP(world_freep) struct world *w = world_new(archs[i]);
		uint64_t other = world_slot(STACK_LEN - 3), caller = w->arch->lr < 0 ? 1 : 0;
		const uint32_t slots[] = { (uint32_t)caller, (uint32_t)caller + 1, 6, 7 }; /* of MIDDLE, of FRAMED */
		const uint64_t words[] = { other + 8 * 6, IP(FRAMED + 0x40), 0, IP(START + 0x40) };
		struct event_stack stack = other_stack(other, slots, words, ARRAY_LEN(words), 40);

		lay_handler(w, other);
		w->nwords = STACK_LEN - 4; /* so that the other stack is not what follows this one */
		world_walk(w);
		CHECK(w->chain.stop != STACK_STOP_ROOT);
		size_t without = w->chain.nframes;

		w->other = &stack;
		world_walk(w);
		world_check_end(w, without + 2, STACK_STOP_ROOT);
		world_check_frame(w, without, IP(FRAMED + 0x40), UNWIND_CFI);
		world_check_frame(w, without + 1, IP(START + 0x40), UNWIND_CFI);
		/* And where what was read of it is cut in the middle, it says so. */
		stack = other_stack(other, slots, words, 2, 6);
		stack.cut = true;
		world_walk(w);
		world_check_end(w, without + 1, STACK_STOP_SNAPSHOT_ENDED);
		w->other = NULL;
		world_walk(w);
		world_check_end(w, without, w->chain.stop); /* nothing was taken over */
	}
}

/* Where a signal interrupted, on the stack that the handler did not use: with rules, and without. */
TEST(unwind_says_that_a_frame_lies_on_another_stack)
{
	static const uint64_t interrupted[] = { MIDDLE + 0x20, STUB + 0x50 };
	static const enum stack_stop stops[] = { STACK_STOP_SNAPSHOT_ENDED, STACK_STOP_NO_TABLE };

	for (size_t i = 0; i < ARRAY_LEN(interrupted); i++) {
		CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

		world_set_leaf(w, IP(LEAF), STACK_LEN - 8);
		w->words[STACK_LEN - 8] = IP(SIGNAL + 0x40);
		w->words[STACK_LEN - 6] = IP(interrupted[i]); /* the stack pointer there is word STACK_LEN - 3 */
		w->nwords = STACK_LEN - 3;
		world_walk(w);
		world_check_end(w, 3, stops[i]);
		w->nwords = STACK_LEN - 4;
		world_walk(w);
		world_check_end(w, 3, STACK_STOP_OTHER_STACK);
	}
}

/* One rule for a whole interpreter in assembler does not hold where that makes its frame, takes it down or leaves it. */
TEST(unwind_follows_the_code_where_a_rule_leads_to_no_call)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(LEAF + 0x80), 0);
	w->words[0] = 0x1234;
	w->words[3] = IP(BARE + 0x10);
	w->words[4 + 4] = IP(START + 0x40);
	world_walk(w);
	world_check_end(w, 3, STACK_STOP_ROOT);
	world_check_frame(w, 1, IP(BARE + 0x10), UNWIND_CODE);
	w->words[0] = IP(START + 0x40); /* it leads to a call: right or wrong, it is the table's */
	world_walk(w);
	world_check_end(w, 2, STACK_STOP_ROOT);
}

TEST(unwind_finds_a_larger_frame_where_a_rule_leads_to_no_call)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(LEAF + 0x90), 0);
	w->words[0] = 0x1234;
	w->words[2] = IP(MIDDLE + 0x40); /* a call, but not of this function */
	w->words[4] = IP(LEAF + 0x40);	 /* one of it */
	w->words[5] = IP(START + 0x40);
	world_walk(w);
	world_check_end(w, 3, STACK_STOP_ROOT);
	world_check_frame(w, 1, IP(LEAF + 0x40), UNWIND_CODE);
	w->words[4] = 0;
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_NO_MAPPING);
}

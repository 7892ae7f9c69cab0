/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"
#include "tests/unit/unwind_world.h"

#include <stdio.h>
#include <string.h>

TEST(unwind_uses_the_frame_pointer_where_there_is_no_rule)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(STUB + 0x50), 0);
	world_set_reg(w, w->arch->fp, world_slot(6));
	w->words[6] = world_slot(10);
	w->words[7] = IP(STUB + 0x40);
	w->words[10] = world_slot(14);
	w->words[11] = JIT_START + 0x100; /* no code to look at */
	w->words[14] = world_slot(18);
	w->words[15] = IP(START + 0x40);
	world_walk(w);
	world_check_frame(w, 1, IP(STUB + 0x40), UNWIND_FP);
	world_check_frame(w, 2, JIT_START + 0x100, UNWIND_FP_UNCHECKED);
	world_check_frame(w, 3, IP(START + 0x40), UNWIND_FP);
	world_check_end(w, 4, STACK_STOP_ROOT);
}

/* In the middle of code that no symbol knows, with data in the frame pointer: how it goes on says where the return address is. */
TEST(unwind_follows_the_code_ahead_where_nobody_knows_the_beginning)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(STUB + 0x10), 0);
	world_set_reg(w, w->arch->fp, 0);
	w->words[0] = IP(LEAF + 0x40); /* left over */
	w->words[4] = world_slot(12);  /* the caller's frame pointer */
	w->words[5] = IP(FRAMED + 0x40);
	w->words[13] = IP(START + 0x40);
	world_walk(w);
	world_check_frame(w, 1, IP(FRAMED + 0x40), UNWIND_CODE);
	world_check_frame(w, 2, IP(START + 0x40), UNWIND_CFI);
	world_check_end(w, 3, STACK_STOP_ROOT);

	w->words[5] = IP(FRAMED + 0x44); /* no call: this is not believed, and the word on top is all that is left */
	world_walk(w);
	world_check_frame(w, 1, IP(LEAF + 0x40), UNWIND_LINK);
}

TEST(unwind_takes_no_return_address_that_follows_no_call)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(STUB + 0x50), 0);
	world_set_reg(w, w->arch->fp, world_slot(6));
	w->words[6] = world_slot(10);
	w->words[7] = IP(START + 0x41);
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_NO_TABLE);
}

TEST(unwind_finds_the_caller_of_a_stub_on_top_of_the_stack)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(STUB + 0x50), 0);
	world_set_reg(w, w->arch->fp, world_slot(6)); /* the caller's: it must not be followed */
	w->words[0] = 5;                  /* what a PLT slot pushes */
	w->words[1] = IP(MIDDLE + 0x40);
	w->words[2 + 2] = IP(START + 0x40);
	w->words[6] = world_slot(10);
	w->words[7] = IP(LEAF + 0x40);
	world_walk(w);
	world_check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_LINK);
	world_check_frame(w, 2, IP(START + 0x40), UNWIND_CFI);
	world_check_end(w, 3, STACK_STOP_ROOT);
}

TEST(unwind_takes_the_end_of_the_frame_pointers_for_the_root)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, JIT_START + 8, 0);
	world_set_reg(w, w->arch->fp, world_slot(6));
	w->words[7] = IP(STUB + 0x40); /* its frame pointer was 0 */
	w->words[120] = world_slot(122); /* arguments */
	world_walk(w);
	world_check_frame(w, 1, IP(STUB + 0x40), UNWIND_FP);
	world_check_end(w, 2, STACK_STOP_ROOT);

	w->words[20] = IP(MIDDLE + 0x40); /* somebody called farther up: the register was used for something else */
	world_walk(w);
	world_check_end(w, 2, STACK_STOP_NO_TABLE);

	w->words[7] = JIT_START + 0x100; /* such code has no table, and is asked for frame pointers */
	world_walk(w);
	world_check_end(w, 2, STACK_STOP_NO_FRAME_POINTER);
	w->words[20] = 0; /* data in the register, pruned where it was saved, is no end of the stack */
	world_walk(w);
	world_check_end(w, 2, STACK_STOP_NO_FRAME_POINTER);
	world_set_reg(w, w->arch->fp, 0);
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_NO_FRAME_POINTER);
	world_set_reg(w, w->arch->fp, world_slot(30)); /* nor are two words of data */
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_NO_FRAME_POINTER);
}

/* Two words of data that pruning has made 0, one of them in the frame pointer, are not alike. */
TEST(unwind_takes_no_data_for_a_frame_pointer_that_was_just_pushed)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, JIT_START + 8, 0);
	world_set_reg(w, w->arch->fp, 0);
	w->words[1] = IP(MIDDLE + 0x40);
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_NO_FRAME_POINTER);
	world_set_reg(w, w->arch->fp, 12345); /* as it is when nothing is pruned */
	w->words[0] = 12345;
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_NO_FRAME_POINTER);
}

/* The frame is one; what it saved was data, and its caller's. */
TEST(unwind_walks_past_a_frame_that_saved_data_pruned_or_not)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	for (size_t i = 0; i < 2; i++) {
		world_set_leaf(w, JIT_START + 8, 0);
		world_set_reg(w, w->arch->fp, world_slot(6));
		w->words[6] = i ? 0xa5846 : 0;
		w->words[7] = JIT_START + 0x40;
		world_walk(w);
		world_check_frame(w, 1, JIT_START + 0x40, UNWIND_FP_UNCHECKED);
		world_check_end(w, 2, STACK_STOP_NO_FRAME_POINTER);
	}
}

/* A register that is 0 is no frame pointer where frame pointers did not lead to it. */
TEST(unwind_takes_no_zero_for_the_root_while_return_addresses_follow)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(LEAF), 0);
	world_set_reg(w, w->arch->fp, 0);
	w->words[0] = IP(STUB + 0x40);
	w->words[9] = IP(MIDDLE + 0x40);
	w->words[120] = world_slot(122);
	world_walk(w);
	world_check_end(w, 2, STACK_STOP_NO_TABLE);
	w->words[9] = 0;
	world_walk(w);
	world_check_end(w, 2, STACK_STOP_ROOT);
}

/*
 * A register that holds data is 0 in a pruned stack where it was saved, and its frame may be large. Whole and pruned
 * stacks give the same: only one that shows to its end that nobody called is taken for complete.
 */
TEST(unwind_takes_no_large_frame_that_keeps_data_for_the_root)
{
	static const uint64_t saved[] = { 0, 0xa5846 };

	for (size_t i = 0; i < ARRAY_LEN(saved); i++) {
		CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

		world_set_leaf(w, JIT_START + 8, 0);
		world_set_reg(w, w->arch->fp, world_slot(6));
		w->words[6] = saved[i];
		w->words[7] = IP(STUB + 0x40);
		w->words[100] = IP(MIDDLE + 0x40); /* far above */
		w->words[120] = world_slot(122);
		w->words[126] = saved[i];
		world_walk(w);
		world_check_end(w, 2, STACK_STOP_NO_TABLE);
		w->words[100] = 0;
		world_walk(w);
		world_check_end(w, 2, STACK_STOP_ROOT);

		w->words[120] = saved[i]; /* a page that was not there ended the snapshot */
		world_walk(w);
		world_check_end(w, 2, STACK_STOP_NO_TABLE);

		w->words[60] = world_slot(62); /* its size did */
		w->nwords = 70;
		w->cut = true;
		world_walk(w);
		world_check_end(w, 2, STACK_STOP_NO_TABLE);
		w->nwords = 80;
		world_walk(w);
		world_check_end(w, 2, STACK_STOP_ROOT);

		/* The interrupted function has been called by somebody. */
		world_set_leaf(w, IP(STUB + 0x50), 0);
		world_set_reg(w, w->arch->fp, 0);
		world_walk(w);
		world_check_end(w, 1, STACK_STOP_NO_TABLE);
	}
}

TEST(unwind_says_that_the_binary_is_missing)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, OTHER_START + 0x10, 0);
	world_set_reg(w, w->arch->fp, 1);
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_NO_BINARY);
	CHECK_STR(w->chain.stop_module->name, "missing.so");
}

TEST(unwind_says_that_a_program_is_a_32_bit_one)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);
	char path[4096];

	snprintf(path, sizeof(path), "%s", test_path("small"));
	FILE *file = fopen(path, "we");

	CHECK(file && fwrite("\x7f""ELF\1\1\1", 1, 7, file) == 7 && fclose(file) == 0);
	world_map(w, path, OTHER_START + 0x20000, 0x10000);
	world_set_leaf(w, OTHER_START + 0x20010, 0);
	world_set_reg(w, w->arch->fp, world_slot(4));
	w->words[5] = IP(START + 0x40); /* whatever that is, it is no frame of ours */
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_32_BIT);
	CHECK_STR(w->chain.stop_module->name, "small");
	CHECK(strstr(module_files_note(w->chain.stop_module), "32-bit program"));
	world_set_reg(w, w->arch->sp, 0xffffd000); /* of which the kernel hands out nothing */
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_32_BIT);
}

/* What stands above the program's first instructions is its arguments; nothing called them. */
TEST(unwind_takes_the_entry_of_the_file_for_the_root)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(LEAF), 0);
	world_set_reg(w, w->arch->fp, world_slot(20));
	w->words[0] = IP(ENTRY + 0x20);
	w->words[20] = world_slot(24); /* a frame pointer that could be followed */
	w->words[21] = IP(MIDDLE + 0x40);
	world_walk(w);
	world_check_frame(w, 1, IP(ENTRY + 0x20), UNWIND_CFI);
	world_check_end(w, 2, STACK_STOP_ROOT);

	w->words[0] = IP(ENTRY - 0x20); /* before it there is other code */
	world_walk(w);
	CHECK(w->chain.nframes > 2);
}

/* The first samples after exec. A return address says that the code was called, whatever the file says. */
TEST(unwind_ends_a_stack_that_was_interrupted_at_the_entry_of_the_file)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(ENTRY), 0);
	w->words[0] = 0;
	w->words[1] = world_slot(20);
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_ROOT);
	w->words[4] = IP(START + 0x40);
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_NO_TABLE);
	w->words[0] = IP(START + 0x40);
	world_walk(w);
	world_check_frame(w, 1, IP(START + 0x40), UNWIND_LINK);
	world_check_end(w, 2, STACK_STOP_ROOT);
}

/* Wherever a return address is looked for without a rule, a word that follows no call is refused. */
TEST(unwind_refuses_forged_return_addresses_on_both_machines)
{
	const struct arch *archs[] = { &arch_x86_64, &arch_aarch64 };

	for (size_t i = 0; i < ARRAY_LEN(archs); i++) {
		CLEANUP(world_freep) struct world *w = world_new(archs[i]);

		/* By frame pointer. */
		world_set_leaf(w, IP(STUB + 0x50), 0);
		world_set_reg(w, w->arch->fp, world_slot(6));
		w->words[6] = world_slot(10);
		w->words[7] = IP(START + 0x44);
		world_walk(w);
		world_check_end(w, 1, STACK_STOP_NO_TABLE);

		/* On top of the stack, and in the link register. */
		world_set_reg(w, w->arch->fp, 1);
		w->words[0] = IP(START + 0x44);
		if (w->arch->lr >= 0)
			world_set_reg(w, (unsigned)w->arch->lr, IP(START + 0x44));
		world_walk(w);
		world_check_end(w, 1, STACK_STOP_NO_TABLE);

		/* The same places are believed if a call is there. */
		w->words[0] = IP(START + 0x40);
		if (w->arch->lr >= 0)
			world_set_reg(w, (unsigned)w->arch->lr, IP(START + 0x40));
		world_walk(w);
		world_check_frame(w, 1, IP(START + 0x40), UNWIND_LINK);
		world_check_end(w, 2, STACK_STOP_ROOT);
	}
}

/* The link register is right in a slot, where the frame pointer is the caller's: it would leave the caller out. */
TEST(unwind_finds_the_caller_of_a_slot_in_the_link_register)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_aarch64);
	unsigned link = (unsigned)w->arch->lr;

	world_set_reg(w, w->arch->fp, world_slot(6));
	w->words[6] = world_slot(20);
	w->words[7] = IP(START + 0x40);
	world_set_reg(w, link, IP(FRAMED + 0x40));
	for (uint64_t pc = SLOT; pc < SLOT + SLOT_LEN; pc += 4) {
		world_set_leaf(w, IP(pc), 2);
		world_walk(w);
		world_check_frame(w, 1, IP(FRAMED + 0x40), UNWIND_LINK);
		world_check_frame(w, 2, IP(START + 0x40), UNWIND_CFI);
		world_check_end(w, 3, STACK_STOP_ROOT);
	}

	/* What follows no call is none, and elsewhere the register may be left over. */
	world_set_reg(w, link, IP(FRAMED + 0x44));
	world_walk(w);
	world_check_frame(w, 1, IP(START + 0x40), UNWIND_FP);
	world_set_reg(w, link, IP(FRAMED + 0x40));
	world_set_leaf(w, IP(SLOT + SLOT_LEN), 2);
	world_walk(w);
	world_check_frame(w, 1, IP(START + 0x40), UNWIND_FP);
}

/* It pushes the link register, which stays right; a caller whose frame is found from the stack pointer has it 16 bytes above. */
TEST(unwind_finds_the_caller_of_the_slots_head)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_aarch64);

	for (uint64_t pc = HEAD - 4; pc < HEAD + 20; pc += 4) {
		unsigned sp = pc > HEAD ? 0 : 2;

		memset(w->words, 0, sizeof(w->words));
		w->words[1] = IP(MIDDLE + 0x40);
		w->words[2] = world_slot(20);
		w->words[3] = IP(START + 0x40);
		world_set_reg(w, (unsigned)w->arch->lr, IP(MIDDLE + 0x40));
		world_set_reg(w, w->arch->fp, world_slot(2));
		world_set_leaf(w, IP(pc), sp);
		world_walk(w);
		world_check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_LINK);
		world_check_frame(w, 2, IP(START + 0x40), UNWIND_CFI);
		world_check_end(w, 3, STACK_STOP_ROOT);
	}
}

/* The frame of what called code without a table is on the stack that it has left (SBCL's call_into_lisp). */
TEST(unwind_follows_a_frame_pointer_to_the_stack_that_was_left)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);
	const uint64_t base = 0x7fff00002000, words[] = { base + 48, IP(MIDDLE + 0x40), IP(START + 0x40) };
	const uint32_t slots[] = { 0, 1, 4 };

	world_set_leaf(w, JIT_START + 8, 0);
	world_set_reg(w, w->arch->fp, world_slot(6));
	w->words[6] = base;
	w->words[7] = IP(FRAMED + 0x40);
	w->other = &(struct event_stack){ .base = base, .end = base + 64, .nwords = 3, .slots = slots, .words = words };
	world_walk(w);
	world_check_frame(w, 1, IP(FRAMED + 0x40), UNWIND_FP);
	world_check_frame(w, 2, IP(MIDDLE + 0x40), UNWIND_FP);
	world_check_frame(w, 3, IP(START + 0x40), UNWIND_CFI);
	world_check_end(w, 4, STACK_STOP_ROOT);

	/* Nobody has read it: the frame pointer is a word that pruning drops. */
	w->other = NULL;
	w->words[6] = 0;
	world_walk(w);
	world_check_end(w, 2, STACK_STOP_OTHER_STACK);
}

/* OCaml's caml_raise_exn loads the stack pointer and returns to the handler; its table is wrong from there on. */
TEST(unwind_believes_an_instruction_that_returns_more_than_a_bad_rule)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	world_set_leaf(w, IP(LOOP + 8), 0);
	w->words[0] = IP(MIDDLE + 0x40);
	w->words[3] = IP(START + 0x40);
	world_walk(w);
	world_check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_LINK);
	CHECK_UINT(w->chain.frames[1].vaddr, MIDDLE + 0x3f);
	world_check_end(w, 3, STACK_STOP_ROOT);

	w->words[0] = IP(MIDDLE + 0x60); /* a handler: nothing was called there */
	world_walk(w);
	CHECK_UINT(w->chain.frames[1].vaddr, MIDDLE + 0x60);
	world_check_end(w, 3, STACK_STOP_ROOT);

	w->words[0] = world_slot(3); /* no code */
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_BAD_TABLE);

	w->words[0] = IP(MIDDLE + 0x40);
	world_set_leaf(w, IP(LOOP + 7), 0); /* another instruction */
	world_walk(w);
	world_check_end(w, 1, STACK_STOP_BAD_TABLE);
}

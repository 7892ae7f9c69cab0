/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_flow.c - blocks and loops of small graphs, drawn by hand, and of code that means harm.
 */
#include "report/code/flow.h"

#include "formats/base/memory.h"
#include "tests/unit/test.h"

#include <stdlib.h>

/* Code of one-byte instructions at 1: what instruction i does stands at [i]. */
#define PLAIN      { .flow = DISASM_PLAIN }
#define CALL       { .flow = DISASM_CALL, .target = 1 }
#define RETURN     { .flow = DISASM_RETURN }
#define JUMP(to)   { .flow = DISASM_JUMP, .target = (to) + 1 }
#define BRANCH(to) { .flow = DISASM_BRANCH, .target = (to) + 1 }
#define INDIRECT   { .flow = DISASM_JUMP }

static struct flow *flow_of(struct flow_insn *insns, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		insns[i].vaddr = i + 1;
	return flow_new(insns, count);
}

#define FLOW(...)                                       \
	struct flow_insn insns[] = { __VA_ARGS__ };     \
	struct flow *flow = flow_of(insns, ARRAY_LEN(insns))

/* The depth of the innermost loop around instruction @i. */
static uint32_t depth_at(const struct flow *flow, uint32_t i)
{
	uint32_t loop = flow->blocks[flow->block_of[i]].loop;

	return loop == FLOW_NONE ? 0 : flow->loops[loop].depth;
}

TEST(flow_blocks_begin_at_targets_and_behind_jumps)
{
	FLOW(PLAIN, BRANCH(4), PLAIN, CALL, PLAIN, RETURN, PLAIN);

	CHECK_UINT(flow->nblocks, 4);
	CHECK_UINT(flow->blocks[1].first, 2);
	CHECK_UINT(flow->blocks[1].count, 2);
	CHECK_UINT(flow->blocks[3].first, 6);
	CHECK_UINT(flow->block_of[5], 2);
	CHECK_UINT(flow->nloops, 0);
	flow_free(flow);
}

TEST(flow_nothing_has_no_blocks)
{
	struct flow *flow = flow_new(NULL, 0);

	CHECK_UINT(flow->nblocks, 0);
	CHECK_UINT(flow->nloops, 0);
	flow_free(flow);
}

TEST(flow_a_block_that_jumps_to_itself_is_a_loop)
{
	FLOW(PLAIN, PLAIN, BRANCH(1), RETURN);

	CHECK_UINT(flow->nloops, 1);
	CHECK_UINT(flow->loops[0].first, 1);
	CHECK_UINT(flow->loops[0].last, 2);
	CHECK_UINT(flow->loops[0].parent, FLOW_NONE);
	CHECK(!flow->loops[0].irreducible);
	CHECK_UINT(depth_at(flow, 0), 0);
	CHECK_UINT(depth_at(flow, 3), 0);
	flow_free(flow);
}

TEST(flow_loops_are_nested)
{
	/*    0      1 outer 2 inner 3          4 left in the middle 5   6          7 */
	FLOW(PLAIN, PLAIN, PLAIN, BRANCH(6), BRANCH(2), BRANCH(1), RETURN);

	CHECK_UINT(flow->nloops, 2);
	CHECK_UINT(flow->loops[0].depth, 1);
	CHECK_UINT(flow->loops[1].parent, 0);
	CHECK_UINT(flow->loops[1].depth, 2);
	CHECK_UINT(depth_at(flow, 1), 1);
	CHECK_UINT(depth_at(flow, 3), 2);
	CHECK_UINT(depth_at(flow, 5), 1);
	CHECK_UINT(depth_at(flow, 6), 0);
	flow_free(flow);
}

TEST(flow_two_ways_back_to_one_head_are_one_loop)
{
	FLOW(PLAIN, BRANCH(4), PLAIN, JUMP(1), BRANCH(1), RETURN);

	CHECK_UINT(flow->nloops, 1);
	CHECK_UINT(depth_at(flow, 2), 1);
	CHECK_UINT(depth_at(flow, 4), 1);
	flow_free(flow);
}

TEST(flow_a_loop_with_its_test_at_the_end_has_its_body_between)
{
	/* jmp test; body: …; test: jcc body */
	FLOW(JUMP(3), PLAIN, PLAIN, BRANCH(1), RETURN);

	CHECK_UINT(flow->nloops, 1);
	CHECK_UINT(flow->loops[0].first, 1);
	CHECK_UINT(flow->loops[0].last, 3);
	CHECK_UINT(flow->block_of[3], flow->loops[0].head);
	CHECK(!flow->loops[0].irreducible);
	flow_free(flow);
}

TEST(flow_a_loop_with_two_entries_is_irreducible)
{
	/* 0 leads to 1 and to 2, which lead to each other. */
	FLOW(BRANCH(2), BRANCH(3), JUMP(1), RETURN);

	CHECK_UINT(flow->nloops, 1);
	CHECK(flow->loops[0].irreducible);
	CHECK_UINT(depth_at(flow, 1), 1);
	CHECK_UINT(depth_at(flow, 2), 1);
	CHECK_UINT(depth_at(flow, 3), 0);
	flow_free(flow);
}

TEST(flow_an_irreducible_loop_inside_another_is_all_of_the_outer_one)
{
	/* 1 heads the outer loop; inside it 2 and 3 lead to each other and are entered at both. */
	FLOW(PLAIN, BRANCH(3), BRANCH(4), BRANCH(2), BRANCH(1), RETURN);

	CHECK_UINT(flow->nloops, 2);
	CHECK(!flow->loops[0].irreducible);
	CHECK_UINT(flow->loops[0].first, 1);
	CHECK_UINT(flow->loops[0].last, 4);
	CHECK(flow->loops[1].irreducible);
	CHECK_UINT(flow->loops[1].parent, 0);
	CHECK_UINT(depth_at(flow, 4), 1);
	flow_free(flow);
}

TEST(flow_an_entry_into_the_inner_of_two_loops_makes_both_irreducible)
{
	/* 1 .. 4 is a loop with 2 .. 3 inside; 0 jumps to 3, past both heads. */
	FLOW(BRANCH(3), PLAIN, BRANCH(5), BRANCH(2), BRANCH(1), RETURN);

	for (uint32_t i = 0; i < flow->nloops; i++)
		CHECK(flow->loops[i].irreducible);
	CHECK(flow->nloops >= 1);
	CHECK(depth_at(flow, 1) >= 1);
	CHECK(depth_at(flow, 3) >= 1);
	CHECK_UINT(depth_at(flow, 5), 0);
	flow_free(flow);
}

TEST(flow_cases_of_a_switch_belong_to_the_loop_around_it)
{
	/* 1: switch; 2 and 4 are cases that lead back, 6 one that leaves. */
	FLOW(PLAIN, INDIRECT, PLAIN, JUMP(0), PLAIN, JUMP(0), RETURN);

	CHECK_UINT(flow->nloops, 1);
	CHECK_UINT(depth_at(flow, 2), 1);
	CHECK_UINT(depth_at(flow, 4), 1);
	CHECK_UINT(depth_at(flow, 6), 0);
	flow_free(flow);
}

TEST(flow_two_switches_do_not_make_a_loop_of_two)
{
	/* 0 .. 2 is a loop with a switch, 4 .. 6 another. */
	FLOW(PLAIN, INDIRECT, JUMP(0), PLAIN, PLAIN, INDIRECT, JUMP(4), RETURN);

	CHECK_UINT(flow->nloops, 2);
	CHECK_UINT(flow->loops[0].depth, 1);
	CHECK_UINT(flow->loops[1].depth, 1);
	CHECK_UINT(flow->loops[0].last, 2);
	flow_free(flow);
}

TEST(flow_jumps_to_nowhere_end_a_path)
{
	struct flow_insn insns[] = { { .vaddr = 8, .flow = DISASM_BRANCH, .target = 9 },
				     { .vaddr = 10, .flow = DISASM_JUMP, .target = 4 },
				     { .vaddr = 12, .flow = DISASM_JUMP, .target = 99 } };
	struct flow *flow = flow_new(insns, 3);

	CHECK_UINT(flow->nblocks, 3);
	CHECK_UINT(flow->nloops, 0);
	CHECK_UINT(flow_jump(insns, 3, 0), FLOW_NONE);
	flow_free(flow);
}

/* So many that what is not nearly linear does not end: 1 MB of code has no more. */
#define MANY 300000u

TEST(flow_many_nested_loops_are_as_many_loops)
{
	struct flow_insn *insns = memory_zeroed(2 * MANY, sizeof(*insns));

	for (uint32_t i = 0; i < MANY; i++)
		insns[2 * MANY - 1 - i] = (struct flow_insn)BRANCH(i);
	struct flow *flow = flow_of(insns, 2 * MANY);

	CHECK_UINT(flow->nloops, MANY);
	CHECK_UINT(depth_at(flow, MANY), MANY);
	CHECK_UINT(flow->loops[0].last, 2 * MANY - 1);
	flow_free(flow);
	free(insns);
}

TEST(flow_code_that_jumps_anywhere_costs_no_more)
{
	struct flow_insn *insns = memory_zeroed(MANY, sizeof(*insns));
	uint32_t random = 1;

	for (uint32_t i = 0; i < MANY; i++) {
		random = random * 1664525u + 1013904223u;
		insns[i] = (struct flow_insn)BRANCH((random >> 8) % MANY);
	}
	struct flow *flow = flow_of(insns, MANY);

	CHECK(flow->nloops > 1000);
	flow_free(flow);

	for (uint32_t i = 0; i < MANY; i++) /* ladders: into each rung from the side, and back */
		insns[i] = (struct flow_insn)BRANCH(i % 2 ? i / 2 : MANY - 1 - i / 2);
	flow = flow_of(insns, MANY);
	CHECK(flow->nloops > 0);
	flow_free(flow);
	free(insns);
}

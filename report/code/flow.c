/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.c - blocks and edges of a function. The loops are found in flow_loops.c.
 */
#include "report/code/flow.h"

#include "report/code/flow_loops.h"

#include "formats/base/memory.h"

#include <stdlib.h>

uint32_t flow_jump(const struct flow_insn *insns, uint32_t count, uint32_t i)
{
	uint64_t target = insns[i].target;
	uint32_t low = 0, high = count;

	if (!target || (insns[i].flow != DISASM_JUMP && insns[i].flow != DISASM_BRANCH))
		return FLOW_NONE;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (insns[mid].vaddr < target)
			low = mid + 1;
		else
			high = mid;
	}
	/* A jump into the middle of an instruction is a jump to nowhere. */
	return low < count && insns[low].vaddr == target ? low : FLOW_NONE;
}

static bool ends_block(enum disasm_flow flow)
{
	return flow == DISASM_JUMP || flow == DISASM_BRANCH || flow == DISASM_RETURN;
}

/* Number the blocks: one begins at each target and behind each jump. */
static void find_blocks(struct flow *flow, const struct flow_insn *insns, uint32_t count)
{
	bool *begins = memory_zeroed(count + 1, sizeof(*begins));

	begins[0] = true;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t target = flow_jump(insns, count, i);

		if (target != FLOW_NONE)
			begins[target] = true;
		if (ends_block(insns[i].flow))
			begins[i + 1] = true;
	}
	for (uint32_t i = 0; i < count; i++)
		flow->nblocks += begins[i];
	flow->blocks = memory_zeroed(flow->nblocks + 1, sizeof(*flow->blocks));
	for (uint32_t i = 0, block = 0; i < count; i++) {
		block += begins[i] && i;
		if (begins[i])
			flow->blocks[block] = (struct flow_block){ .first = i, .loop = FLOW_NONE };
		flow->blocks[block].count++;
		flow->block_of[i] = block;
	}
	free(begins);
}

/* Edges between blocks that the code names; block b is node b + 1. */
static void add_direct_edges(const struct flow *flow, const struct flow_insn *insns, uint32_t count,
			     struct flow_graph *graph, bool *led_to)
{
	for (uint32_t b = 0; b < flow->nblocks; b++) {
		uint32_t last = flow->blocks[b].first + flow->blocks[b].count - 1;
		uint32_t target = flow_jump(insns, count, last);
		enum disasm_flow how = insns[last].flow;

		if (how != DISASM_JUMP && how != DISASM_RETURN && b + 1 < flow->nblocks) {
			flow_graph_add(graph, b + 1, b + 2);
			led_to[b + 1] = true;
		}
		if (target != FLOW_NONE) {
			flow_graph_add(graph, b + 1, flow->block_of[target] + 1);
			led_to[flow->block_of[target]] = true;
		}
	}
}

static void add_edges(const struct flow *flow, const struct flow_insn *insns, uint32_t count,
		      struct flow_graph *graph)
{
	bool *led_to = memory_zeroed(flow->nblocks + 1, sizeof(*led_to));
	uint32_t indirect = 0; /* node whose indirect jump was the last; 0: none, and 0 leads to entries */

	add_direct_edges(flow, insns, count, graph, led_to);
	flow_graph_add(graph, 0, 1);
	for (uint32_t b = 0; b < flow->nblocks; b++) {
		uint32_t last = flow->blocks[b].first + flow->blocks[b].count - 1;

		if (b && !led_to[b])
			flow_graph_add(graph, indirect, b + 1);
		if (insns[last].flow == DISASM_JUMP && !insns[last].target)
			indirect = b + 1;
	}
	free(led_to);
}

struct flow *flow_new(const struct flow_insn *insns, uint32_t count)
{
	struct flow *flow = memory_zeroed(1, sizeof(*flow));
	struct flow_graph graph;

	flow->block_of = memory_zeroed(count + 1, sizeof(*flow->block_of));
	if (!count)
		return flow;
	find_blocks(flow, insns, count);
	flow_graph_init(&graph, flow->nblocks + 1);
	add_edges(flow, insns, count, &graph);
	flow_find_loops(flow, &graph);
	flow_graph_deinit(&graph);
	return flow;
}

void flow_free(struct flow *flow)
{
	if (!flow)
		return;
	free(flow->blocks);
	free(flow->loops);
	free(flow->block_of);
	free(flow);
}

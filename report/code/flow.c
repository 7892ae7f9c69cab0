/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.c - blocks and edges of a function. The loops are found in flow_loops.c.
 */
#include "report/code/flow.h"

#include "formats/base/bisect.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"

#include <stdlib.h>

/* ---- loops of a graph of blocks ---- */

/*
 * Loops by a depth-first walk and a disjoint-set forest, as Havlak and Tarjan do it.
 *
 * Heads are looked at innermost first, which is last in preorder. What leads to the source of an edge back to the head,
 * without passing the head, is the loop's body; a loop that is found stands as one node from then on. Edges that
 * the depth-first tree lacks and that do not lead back take part from their ends' common ancestor on: that is Ramalingam's
 * change, without which irreducible code costs its square.
 */

struct flow_edge {
	uint32_t from, to;
	uint32_t next_out; /* edge + 1 that leaves the same node; 0: none */
};

/* Node 0 is where everything starts, node b + 1 is block b. */
struct flow_graph {
	uint32_t nnodes;
	uint32_t *first_out; /* edge + 1 of each node */
	VEC(struct flow_edge) edges;
};

struct link {
	uint32_t node; /* by preorder number */
	uint32_t next; /* link + 1 */
};

/* Everything by preorder number; arrays hold nnodes entries. */
struct search {
	uint32_t n;             /* nodes that the walk reached */
	uint32_t *number;       /* node -> preorder number; FLOW_NONE: not reached */
	uint32_t *node;         /* and back */
	uint32_t *last;         /* the last number below this one in the tree */
	uint32_t *set;          /* disjoint sets: of common ancestors first, of loops later */
	uint32_t *header;       /* of the loop around; FLOW_NONE */
	bool *is_head, *irreducible;
	uint32_t *unmarked;     /* disjoint sets: the next loop outwards that is not irreducible yet, if any */
	uint32_t *preds;        /* link + 1: tree edges, and others once their ancestor's turn comes */
	uint32_t *backs;        /* link + 1: sources of edges back to here */
	uint32_t *crosses;      /* link + 1, in pairs (from, to): at the common ancestor of both */
	VEC(struct link) links;
};

static void flow_graph_init(struct flow_graph *graph, uint32_t nnodes)
{
	*graph = (struct flow_graph){ .nnodes = nnodes };
	graph->first_out = memory_zeroed(nnodes, sizeof(*graph->first_out));
}

static void flow_graph_deinit(struct flow_graph *graph)
{
	free(graph->first_out);
	vec_deinit(&graph->edges);
}

static void flow_graph_add(struct flow_graph *graph, uint32_t from, uint32_t to)
{
	struct flow_edge edge = { .from = from, .to = to, .next_out = graph->first_out[from] };

	vec_push(&graph->edges, edge);
	graph->first_out[from] = (uint32_t)graph->edges.len;
}

static uint32_t find(uint32_t *set, uint32_t i)
{
	while (set[i] != i) {
		set[i] = set[set[i]];
		i = set[i];
	}
	return i;
}

static void push_link(struct search *s, uint32_t *list, uint32_t node)
{
	struct link link = { .node = node, .next = *list };

	vec_push(&s->links, link);
	*list = (uint32_t)s->links.len;
}

static uint32_t *numbers(uint32_t n, uint32_t value)
{
	uint32_t *ret = memory_zeroed(n, sizeof(*ret));

	for (uint32_t i = 0; value && i < n; i++)
		ret[i] = value;
	return ret;
}

static void search_init(struct search *s, uint32_t nnodes)
{
	*s = (struct search){
		.number = numbers(nnodes, FLOW_NONE),
		.node = numbers(nnodes, 0),
		.last = numbers(nnodes, 0),
		.set = numbers(nnodes, 0),
		.header = numbers(nnodes, FLOW_NONE),
		.is_head = memory_zeroed(nnodes, sizeof(bool)),
		.irreducible = memory_zeroed(nnodes, sizeof(bool)),
		.unmarked = numbers(nnodes, 0),
		.preds = numbers(nnodes, 0),
		.backs = numbers(nnodes, 0),
		.crosses = numbers(nnodes, 0),
	};
	for (uint32_t i = 0; i < nnodes; i++)
		s->set[i] = s->unmarked[i] = i;
}

static void search_deinit(struct search *s)
{
	free(s->number);
	free(s->node);
	free(s->last);
	free(s->set);
	free(s->header);
	free(s->is_head);
	free(s->irreducible);
	free(s->unmarked);
	free(s->preds);
	free(s->backs);
	free(s->crosses);
	vec_deinit(&s->links);
}

static void enter(struct search *s, uint32_t node)
{
	s->number[node] = s->n;
	s->node[s->n++] = node;
}

/* An edge to a node that was seen before: back to an ancestor, or across, or down. */
static void add_old_edge(struct search *s, uint32_t from, uint32_t to, const bool *is_open)
{
	if (is_open[to]) {
		push_link(s, &s->backs[to], from);
		return;
	}
	/* Finished nodes are in the set of their deepest ancestor that is not. */
	uint32_t ancestor = find(s->set, to);

	push_link(s, &s->crosses[ancestor], to);
	push_link(s, &s->crosses[ancestor], from);
}

/* The depth-first walk, with a stack of its own: code may be one million blocks deep. */
static void walk(struct search *s, const struct flow_graph *graph)
{
	uint32_t *stack = numbers(graph->nnodes, 0), *at = numbers(graph->nnodes, 0);
	bool *is_open = memory_zeroed(graph->nnodes, sizeof(bool));
	uint32_t depth = 0;

	enter(s, 0);
	at[0] = graph->first_out[0];
	is_open[0] = true;
	stack[depth++] = 0;
	while (depth) {
		uint32_t from = stack[depth - 1], edge = at[from];

		if (!edge) {
			s->last[from] = s->n - 1;
			is_open[from] = false;
			if (--depth)
				s->set[from] = stack[depth - 1];
			continue;
		}
		at[from] = graph->edges.items[edge - 1].next_out;
		uint32_t node = graph->edges.items[edge - 1].to;

		if (s->number[node] != FLOW_NONE) {
			add_old_edge(s, from, s->number[node], is_open);
			continue;
		}
		enter(s, node);
		uint32_t to = s->number[node];

		push_link(s, &s->preds[to], from);
		at[to] = graph->first_out[node];
		is_open[to] = true;
		stack[depth++] = to;
	}
	free(stack);
	free(at);
	free(is_open);
}

/* All loops around @to so far, those that it heads left out, are entered at @to instead of their head. */
static void mark_irreducible(struct search *s, uint32_t to)
{
	uint32_t head = s->header[to];

	while (head != FLOW_NONE) {
		head = find(s->unmarked, head);
		if (s->irreducible[head])
			return; /* and nothing is around it yet */
		s->irreducible[head] = true;
		if (s->header[head] != FLOW_NONE)
			s->unmarked[head] = s->header[head];
		head = s->header[head];
	}
}

static void add_crosses(struct search *s, uint32_t ancestor)
{
	uint32_t link = s->crosses[ancestor];

	while (link) {
		uint32_t from = s->links.items[link - 1].node;

		link = s->links.items[link - 1].next;
		uint32_t to = s->links.items[link - 1].node;

		link = s->links.items[link - 1].next;
		mark_irreducible(s, to);
		push_link(s, &s->preds[find(s->set, to)], from);
	}
}

/* Take @node into the loop of @head, unless it is there already. */
static void take(struct search *s, uint32_t head, uint32_t node, uint32_t *body, uint32_t *nbody)
{
	if (node == head || s->header[node] == head)
		return;
	s->header[node] = head;
	if (s->irreducible[node])
		s->unmarked[node] = head;
	body[(*nbody)++] = node;
}

static void find_loop(struct search *s, uint32_t head, uint32_t *body)
{
	uint32_t nbody = 0;

	for (uint32_t link = s->backs[head]; link; link = s->links.items[link - 1].next) {
		s->is_head[head] = true;
		take(s, head, find(s->set, s->links.items[link - 1].node), body, &nbody);
	}
	for (uint32_t done = 0; done < nbody; done++) {
		uint32_t link = s->preds[body[done]];

		for (; link; link = s->links.items[link - 1].next)
			take(s, head, find(s->set, s->links.items[link - 1].node), body, &nbody);
	}
	for (uint32_t i = 0; i < nbody; i++)
		s->set[body[i]] = head;
}

/* ---- what was found, in the terms of flow.h ------------------------------------------------------------- */

/* A loop by its head. */
struct found {
	uint32_t number; /* in preorder */
	uint32_t block;
};

static int by_address(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return COMPARE(x->block, y->block);
}

static struct found *found_loops(const struct search *s, uint32_t nloops)
{
	struct found *found = memory_zeroed(nloops + 1, sizeof(*found));

	/* Number 0 is outside, and nothing leads there. */
	for (uint32_t k = 1, i = 0; k < s->n; k++)
		if (s->is_head[k])
			found[i++] = (struct found){ .number = k, .block = s->node[k] - 1 };
	qsort(found, nloops, sizeof(*found), by_address);
	return found;
}

static void widen(struct flow_loop *loop, uint32_t first, uint32_t last)
{
	loop->first = MIN(loop->first, first);
	loop->last = MAX(loop->last, last);
}

/* @loop_of: a head's loop, by preorder number. In preorder a loop comes after the one around it. */
static void fill_loops(struct flow *flow, const struct search *s, const uint32_t *loop_of)
{
	for (uint32_t k = 1; k < s->n; k++) {
		uint32_t around = s->header[k] == FLOW_NONE ? FLOW_NONE : loop_of[s->header[k]];
		uint32_t own = loop_of[k], block = s->node[k] - 1;

		if (own != FLOW_NONE)
			flow->loops[own] = (struct flow_loop){
				.parent = around,
				.depth = around == FLOW_NONE ? 1 : flow->loops[around].depth + 1,
				.head = block,
				.first = UINT32_MAX,
				.irreducible = s->irreducible[k],
			};
		flow->blocks[block].loop = own == FLOW_NONE ? around : own;
		if (flow->blocks[block].loop != FLOW_NONE)
			widen(&flow->loops[flow->blocks[block].loop], flow->blocks[block].first,
			      flow->blocks[block].first + flow->blocks[block].count - 1);
	}
	for (uint32_t k = s->n; k-- > 1;) {
		const struct flow_loop *loop = loop_of[k] == FLOW_NONE ? NULL : &flow->loops[loop_of[k]];

		if (loop && loop->parent != FLOW_NONE)
			widen(&flow->loops[loop->parent], loop->first, loop->last);
	}
}

/* Fill @flow's loops and each block's loop. */
static void flow_find_loops(struct flow *flow, const struct flow_graph *graph)
{
	uint32_t *body = numbers(graph->nnodes, 0);
	struct search s;

	search_init(&s, graph->nnodes);
	walk(&s, graph);
	for (uint32_t i = 0; i < graph->nnodes; i++)
		s.set[i] = i;
	for (uint32_t head = s.n; head-- > 0;) {
		add_crosses(&s, head);
		find_loop(&s, head, body);
		flow->nloops += s.is_head[head];
	}
	struct found *found = found_loops(&s, flow->nloops);
	uint32_t *loop_of = numbers(graph->nnodes, FLOW_NONE);

	for (uint32_t i = 0; i < flow->nloops; i++)
		loop_of[found[i].number] = i;
	flow->loops = memory_zeroed(flow->nloops + 1, sizeof(*flow->loops));
	fill_loops(flow, &s, loop_of);
	free(loop_of);
	free(found);
	free(body);
	search_deinit(&s);
}

/* ---- blocks ---- */

uint32_t flow_jump(const struct flow_insn *insns, uint32_t count, uint32_t i)
{
	uint64_t target = insns[i].target;

	if (!target || (insns[i].flow != DISASM_JUMP && insns[i].flow != DISASM_BRANCH))
		return FLOW_NONE;

	uint32_t to = (uint32_t)BISECT(count, k, insns[k].vaddr < target);

	/* A jump into the middle of an instruction is a jump to nowhere. */
	return to < count && insns[to].vaddr == target ? to : FLOW_NONE;
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

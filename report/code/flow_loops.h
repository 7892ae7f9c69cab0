/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_loops.h - a graph of blocks, and the loops in it; for flow.c alone.
 */
#ifndef REPORT_FLOW_LOOPS_H
#define REPORT_FLOW_LOOPS_H

#include "formats/base/vec.h"
#include "report/code/flow.h"

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

void flow_graph_init(struct flow_graph *graph, uint32_t nnodes);
void flow_graph_deinit(struct flow_graph *graph);
void flow_graph_add(struct flow_graph *graph, uint32_t from, uint32_t to);

/* Fill @flow's loops and each block's loop. */
void flow_find_loops(struct flow *flow, const struct flow_graph *graph);

#endif

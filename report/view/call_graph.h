/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_graph.h - functions and the calls between them, cut down to those that matter.
 *
 * A function's total, and what an edge carries, count each sample once, however often it recurses; so of recursion an edge
 * never carries more than its callee has. Where frames between two functions are left out, their edge is indirect.
 */
#ifndef REPORT_CALL_GRAPH_H
#define REPORT_CALL_GRAPH_H

#include "formats/base/arena.h"
#include "formats/base/vec.h"
#include "formats/profile/facts.h"
#include "formats/profile/profile.h"
#include "report/view/call_graph.h"

#include <stdio.h>

/* Which functions and calls are left out; 0: none for that reason. */
struct call_graph_limits {
	uint64_t nodes;	   /* so many functions at most: half of them those that spend most, half those with the largest total */
	double node_share; /* a function's total, of the whole */
	double edge_share; /* what a call carries, of the whole */
};

struct graph_node {
	uint32_t function; /* of the profile; PROFILE_NONE: frames without a name */
	struct profile_sum self, total;
};

struct graph_edge {
	uint32_t caller, callee; /* indexes in graph.nodes */
	struct profile_sum sum;
	bool indirect; /* on some of its stacks functions between the two are left out */
};

struct call_graph {
	const struct profile *profile;
	VEC(struct graph_node) nodes; /* those that are kept, by total, then self, then name */
	VEC(struct graph_edge) edges; /* in order of callers, then of callees */
	struct profile_sum whole;
	uint32_t all_nodes; /* with those that are left out */
	uint32_t all_edges; /* between those that are kept */
};

/* Of value type @type of @p, which must be named and outlive the graph. */
void call_graph_build(struct call_graph *graph, const struct profile *p, uint32_t type,
		      const struct call_graph_limits *limits);
void call_graph_deinit(struct call_graph *graph);

const char *graph_node_name(const struct call_graph *graph, const struct graph_node *node);

/* @clusters: functions of a module stand in a box of its own. */
void graph_dot_write(const struct call_graph *graph, const struct profile_facts *facts, bool clusters, FILE *out);

#endif

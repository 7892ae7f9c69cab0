/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_call_graph.c - graphs of profiles whose stacks are known.
 */
#include "report/view/call_graph.h"
#include "report/view/call_graph.h"
#include "tests/unit/synthetic.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

static const struct call_graph_limits no_limits;

static struct profile *mixed(void)
{
	static const struct synthetic_sample samples[] = {
		{ "main;run;hot", 1, 1, 30, 10 },	{ "main;run;mid;libc:malloc", 1, 2, 20, 10 },
		{ "main;rec;rec;rec;leaf", 1, 1, 10, 10 }, { "main;rec;other;rec", 1, 1, 10, 10 },
		{ "main;outer+inner", 2, 2, 25, 10 },	{ "", 3, 3, 5, 10 },
	};
	struct profile *p = synthetic_new();

	for (size_t i = 0; i < ARRAY_LEN(samples); i++)
		synthetic_add(p, &samples[i]);
	return p;
}

static const struct graph_node *node(const struct call_graph *graph, const char *name)
{
	for (size_t i = 0; i < graph->nodes.len; i++)
		if (strcmp(graph_node_name(graph, &graph->nodes.items[i]), name) == 0)
			return &graph->nodes.items[i];
	return NULL;
}

static const struct graph_edge *edge(const struct call_graph *graph, const char *caller, const char *callee)
{
	const struct graph_node *nodes = graph->nodes.items, *from = node(graph, caller), *to = node(graph, callee);

	for (size_t i = 0; i < graph->edges.len; i++)
		if (&nodes[graph->edges.items[i].caller] == from && &nodes[graph->edges.items[i].callee] == to)
			return &graph->edges.items[i];
	return NULL;
}

TEST(call_graph_counts_a_sample_once_for_each_function_and_call)
{
	struct profile *p = mixed();
	struct call_graph graph;

	call_graph_build(&graph, p, 0, &no_limits);
	CHECK_UINT(graph.whole.count, 100); /* one stack is empty */
	CHECK_UINT(graph.all_nodes, 10);
	CHECK_STR(graph_node_name(&graph, &graph.nodes.items[0]), "main");
	CHECK_UINT(node(&graph, "main")->total.count, 95);
	CHECK_UINT(node(&graph, "main")->self.count, 0);
	CHECK_UINT(node(&graph, "rec")->total.count, 20);
	CHECK_UINT(node(&graph, "rec")->self.count, 10);
	CHECK_UINT(edge(&graph, "rec", "rec")->sum.count, 10);
	CHECK_UINT(edge(&graph, "other", "rec")->sum.count, 10);
	CHECK_UINT(edge(&graph, "outer", "inner")->sum.weight, 250);
	CHECK(!edge(&graph, "run", "hot")->indirect);
	CHECK(!edge(&graph, "main", "hot"));
	call_graph_deinit(&graph);
	profile_free(p);
}

TEST(call_graph_leads_past_functions_that_are_left_out)
{
	/* Of six functions three are those that spend most: hot, inner, malloc; three those with the largest totals. */
	const struct call_graph_limits six = { .nodes = 6 };
	const struct call_graph_limits share = { .node_share = 0.15, .edge_share = 0.25 };
	struct profile *p = mixed();
	struct call_graph graph;

	call_graph_build(&graph, p, 0, &six);
	CHECK_UINT(graph.nodes.len, 6);
	CHECK(node(&graph, "hot") && node(&graph, "inner") && node(&graph, "malloc"));
	CHECK(node(&graph, "main") && node(&graph, "run") && node(&graph, "outer"));
	CHECK_UINT(edge(&graph, "run", "malloc")->sum.count, 20);
	CHECK(edge(&graph, "run", "malloc")->indirect);
	CHECK_UINT(graph.all_nodes, 10);
	call_graph_deinit(&graph);

	call_graph_build(&graph, p, 0, &share);
	CHECK(!node(&graph, "leaf") && !node(&graph, "other"));
	CHECK(!edge(&graph, "rec", "rec")); /* by way of other: no call of its own; 10 % anyway */
	CHECK(!edge(&graph, "run", "malloc"));
	CHECK(edge(&graph, "run", "hot"));
	CHECK(graph.all_edges > graph.edges.len);
	call_graph_deinit(&graph);
	profile_free(p);
}

TEST(call_graph_is_written_with_its_names_quoted)
{
	static const struct synthetic_sample sample = { "main;say \"\\n\x1b", 1, 1, 4, 10 };
	struct profile_facts facts;
	struct profile *p = synthetic_new();
	struct call_graph graph;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	profile_facts_init(&facts);
	synthetic_add(p, &sample);
	call_graph_build(&graph, p, 0, &no_limits);
	graph_dot_write(&graph, &facts, /* clusters= */ true, out);
	fclose(out);
	CHECK(strstr(text, "label=\"say \\\"\\\\n\\\\x1b\\n40 ns (100.0 %)\""));
	CHECK(strstr(text, "label=\"app\"; style=rounded"));
	CHECK(strstr(text, "n1 -> n0 [label=\" 40 ns\", weight=101"));
	free(text);
	call_graph_deinit(&graph);
	profile_facts_deinit(&facts);
	profile_free(p);
}

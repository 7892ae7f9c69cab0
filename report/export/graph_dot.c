/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_dot.c - how a call graph looks: text as large as what the function itself spends, colour and lines by totals, as
 * pprof's graphs, so that who knows those reads ours.
 */
#include "report/export/graph_dot.h"

#include "formats/base/text.h"
#include "report/print/number.h"
#include "report/view/short_name.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FONT_SMALLEST 8.0
#define FONT_GROWS    24.0
#define NAME_COLUMNS  48 /* of a function's name */

struct dot {
	const struct call_graph *graph;
	const char *unit;
	int64_t most; /* that a function itself spends */
	struct arena arena;
	FILE *out;
};

/* @text as one line of a label in double quotes. */
static void put_text(struct dot *dot, const char *text)
{
	for (const char *at = text_escape(&dot->arena, text); *at; at++) {
		if (*at == '"' || *at == '\\')
			fputc('\\', dot->out);
		fputc(*at, dot->out);
	}
}

static double share_of(const struct dot *dot, int64_t weight)
{
	int64_t whole = llabs(dot->graph->whole.weight);

	return whole ? (double)llabs(weight) / (double)whole : 0;
}

static void put_amount(struct dot *dot, int64_t weight)
{
	fprintf(dot->out, "%s (%s)", number_weight(&dot->arena, weight, dot->unit),
		number_share(&dot->arena, share_of(dot, weight)));
}

/* From grey to red; the second of HSV's three numbers is how red it is. */
static double redness(const struct dot *dot, int64_t weight)
{
	return sqrt(share_of(dot, weight));
}

static void put_node(struct dot *dot, size_t index)
{
	const struct graph_node *node = &dot->graph->nodes.items[index];
	const char *name = text_escape(&dot->arena, graph_node_name(dot->graph, node));
	double own = dot->most ? (double)llabs(node->self.weight) / (double)dot->most : 0;

	fprintf(dot->out, "\tn%zu [label=\"", index);
	put_text(dot, short_name(&dot->arena, name, NAME_COLUMNS, /* utf8= */ true));
	fputs("\\n", dot->out);
	if (node->self.count) {
		put_amount(dot, node->self.weight);
		fputs(node->self.count == node->total.count ? "" : "\\nof ", dot->out);
	} else {
		fputs("0 of ", dot->out);
	}
	if (!node->self.count || node->self.count != node->total.count)
		put_amount(dot, node->total.weight);
	fputs("\", tooltip=\"", dot->out);
	put_text(dot, name);
	fprintf(dot->out, "\", fontsize=%.1f, fillcolor=\"0.02 %.3f 0.97\", color=\"0.02 %.3f 0.60\"];\n",
		FONT_SMALLEST + FONT_GROWS * sqrt(own), 0.4 * redness(dot, node->total.weight),
		redness(dot, node->total.weight));
}

/* The nodes of the module of node @first, in a box if it is known. */
static void put_cluster(struct dot *dot, size_t first, bool *done)
{
	const struct graph_node *nodes = dot->graph->nodes.items;
	const char *module = graph_node_module(dot->graph, &nodes[first]);

	if (*module) {
		fprintf(dot->out, "\tsubgraph cluster_%zu {\n\tlabel=\"", first);
		put_text(dot, module);
		fputs("\"; style=rounded; color=\"#b0b0b0\"; fontcolor=\"#606060\";\n", dot->out);
	}
	for (size_t i = first; i < dot->graph->nodes.len; i++)
		if (!done[i] && strcmp(graph_node_module(dot->graph, &nodes[i]), module) == 0) {
			put_node(dot, i);
			done[i] = true;
		}
	if (*module)
		fputs("\t}\n", dot->out);
}

static void put_nodes(struct dot *dot, bool clusters)
{
	size_t count = dot->graph->nodes.len;
	bool *done = ARENA_ARRAY(&dot->arena, bool, count + 1);

	for (size_t i = 0; i < count; i++) {
		if (!clusters)
			put_node(dot, i);
		else if (!done[i])
			put_cluster(dot, i, done);
	}
}

static void put_edge(struct dot *dot, const struct graph_edge *edge)
{
	double share = share_of(dot, edge->sum.weight);

	/* Heavy edges are to be short and straight; Graphviz wants whole weights. */
	fprintf(dot->out, "\tn%" PRIu32 " -> n%" PRIu32 " [label=\" %s\", weight=%d, penwidth=%.2f, color=\"0.02 %.3f 0.65\"%s",
		edge->caller, edge->callee, number_weight(&dot->arena, edge->sum.weight, dot->unit), 1 + (int)(share * 100),
		1 + 5 * share, redness(dot, edge->sum.weight), edge->indirect ? ", style=dashed" : "");
	fputs(", tooltip=\"", dot->out);
	put_text(dot, graph_node_name(dot->graph, &dot->graph->nodes.items[edge->caller]));
	fputs(edge->indirect ? " ... " : " calls ", dot->out);
	put_text(dot, graph_node_name(dot->graph, &dot->graph->nodes.items[edge->callee]));
	fputs("\"];\n", dot->out);
}

/* What the picture is of, and what it leaves out; lines end on the left. */
static void put_legend(struct dot *dot, const struct profile_facts *facts)
{
	const struct call_graph *graph = dot->graph;
	const struct profile_value_type *type = &graph->profile->types.items[facts->first_type];

	fputs("\tlegend [shape=box, style=filled, fillcolor=\"#f8f8f8\", color=\"#b0b0b0\", fontsize=14, label=\"", dot->out);
	if (*facts->cmdline || *facts->input) {
		put_text(dot, *facts->cmdline ? facts->cmdline : facts->input);
		fputs("\\l", dot->out);
	}
	put_text(dot, number_sum(&dot->arena, &graph->whole, "", profile_text(graph->profile, type->name), dot->unit));
	fprintf(dot->out, "\\l%zu of %" PRIu32 " functions, %zu of %" PRIu32 " calls between them\\l", graph->nodes.len,
		graph->all_nodes, graph->edges.len, graph->all_edges);
	fputs("a function's own part, then its total; dashed: functions between are left out\\l\"];\n", dot->out);
}

void graph_dot_write(const struct call_graph *graph, const struct profile_facts *facts, bool clusters, FILE *out)
{
	struct dot dot = { .graph = graph, .out = out };

	dot.unit = profile_text(graph->profile, graph->profile->types.items[facts->first_type].unit);
	for (size_t i = 0; i < graph->nodes.len; i++)
		dot.most = MAX(dot.most, (int64_t)llabs(graph->nodes.items[i].self.weight));
	fputs("digraph \"preport\" {\n"
	      "\tnode [shape=box, style=filled, fontname=\"Helvetica,Arial,sans-serif\"];\n"
	      "\tedge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=10];\n"
	      "\tgraph [fontname=\"Helvetica,Arial,sans-serif\"];\n",
	      out);
	put_legend(&dot, facts);
	put_nodes(&dot, clusters);
	for (size_t i = 0; i < graph->edges.len; i++)
		put_edge(&dot, &graph->edges.items[i]);
	fputs("}\n", out);
	arena_deinit(&dot.arena);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_graph.c - one walk over all stacks for the functions, and one for the calls between those that are kept.
 */
#include "report/view/call_graph.h"

#include "formats/base/compiler.h"
#include "formats/base/map.h"
#include "formats/base/text.h"
#include "report/print/number.h"
#include "report/print/short_name.h"
#include "report/print/stats.h"
#include "report/view/view_keys.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct builder {
	struct call_graph *graph;
	uint32_t type;
	struct view_paths paths;
	struct map nodes; /* function -> index in graph.nodes + 1; missing: left out */
	struct map edges; /* caller << 32 | callee -> index in graph.edges + 1 */
	struct map seen;  /* of the current stack: functions, or edges */
};

const char *graph_node_name(const struct call_graph *graph, const struct graph_node *node)
{
	const struct profile *p = graph->profile;

	if (node->function == PROFILE_NONE)
		return "[not named]";
	return profile_text(p, p->functions.items[node->function].name);
}

/* "" if it is not known. */
static const char *node_module(const struct call_graph *graph, const struct graph_node *node)
{
	const struct profile *p = graph->profile;

	if (node->function == PROFILE_NONE)
		return "";
	return profile_text(p, profile_module(p, p->functions.items[node->function].module)->name);
}

static void each_path(struct builder *b, void (*visit)(struct builder *b, const struct view_path *path))
{
	const struct profile *p = b->graph->profile;

	for (size_t i = 0; i < p->samples.len; i++) {
		struct view_path path;

		if (p->samples.items[i].type != b->type || !view_paths_make(&b->paths, &p->samples.items[i], &path))
			continue;
		map_clear(&b->seen);
		visit(b, &path);
	}
}

/* ---- functions ---- */

static struct graph_node *node_of(struct builder *b, uint32_t function)
{
	bool is_new;
	uint64_t *index = map_put(&b->nodes, function, &is_new);
	struct graph_node node = { .function = function };

	if (is_new) {
		vec_push(&b->graph->nodes, node);
		*index = b->graph->nodes.len;
	}
	return &b->graph->nodes.items[*index - 1];
}

static void add_functions(struct builder *b, const struct view_path *path)
{
	stats_add(&b->graph->whole, path->row);
	for (size_t i = 0; i < path->len; i++) {
		struct graph_node *node = node_of(b, path->frames[i].function);
		bool is_new;

		map_put(&b->seen, path->frames[i].function, &is_new);
		if (is_new)
			stats_add(&node->total, path->row);
		if (i == 0)
			stats_add(&node->self, path->row);
	}
}

static int compare_names(const struct call_graph *graph, const struct graph_node *a, const struct graph_node *b)
{
	int result = strcmp(graph_node_name(graph, a), graph_node_name(graph, b));

	if (result == 0)
		result = strcmp(node_module(graph, a), node_module(graph, b));
	return result ? result : COMPARE(a->function, b->function);
}

static int compare_weights(const struct profile_sum *a, const struct profile_sum *b)
{
	uint64_t x = (uint64_t)llabs(a->weight), y = (uint64_t)llabs(b->weight);

	return (x < y) - (x > y);
}

static int by_total(const void *left, const void *right, void *graph)
{
	const struct graph_node *a = left, *b = right;
	int result = compare_weights(&a->total, &b->total);

	if (result == 0)
		result = compare_weights(&a->self, &b->self);
	return result ? result : compare_names(graph, a, b);
}

static int by_self(const void *left, const void *right, void *graph)
{
	const struct graph_node *a = left, *b = right;
	int result = compare_weights(&a->self, &b->self);

	return result ? result : by_total(left, right, graph);
}

static bool is_at_least(const struct profile_sum *sum, double share, const struct profile_sum *whole)
{
	return (double)llabs(sum->weight) >= share * (double)llabs(whole->weight);
}

static void sort_nodes(struct call_graph *graph, int (*compare)(const void *, const void *, void *))
{
	qsort_r(graph->nodes.items, graph->nodes.len, sizeof(*graph->nodes.items), compare, graph);
}

/* The half of the nodes that spends most comes first, behind it the others by their totals. */
static void keep_most(struct call_graph *graph, uint64_t most)
{
	size_t half = (size_t)most / 2;

	if (!most || graph->nodes.len <= most)
		return;
	sort_nodes(graph, by_self);
	qsort_r(graph->nodes.items + half, graph->nodes.len - half, sizeof(*graph->nodes.items), by_total, graph);
	graph->nodes.len = (size_t)most;
}

static void choose_nodes(struct builder *b, const struct call_graph_limits *limits)
{
	struct call_graph *graph = b->graph;
	size_t kept = 0;

	graph->all_nodes = (uint32_t)graph->nodes.len;
	for (size_t i = 0; i < graph->nodes.len; i++)
		if (is_at_least(&graph->nodes.items[i].total, limits->node_share, &graph->whole))
			graph->nodes.items[kept++] = graph->nodes.items[i];
	graph->nodes.len = kept;
	keep_most(graph, limits->nodes);
	sort_nodes(graph, by_total);
	map_clear(&b->nodes);
	for (size_t i = 0; i < graph->nodes.len; i++)
		*map_put(&b->nodes, graph->nodes.items[i].function, NULL) = i + 1;
}

/* ---- calls ---- */

static void add_edge(struct builder *b, const struct graph_edge *edge, const struct profile_sample *row)
{
	uint64_t key = (uint64_t)edge->caller << 32 | edge->callee;
	uint64_t *index = map_put(&b->edges, key, NULL);
	bool is_new;

	if (!*index) {
		vec_push(&b->graph->edges, *edge);
		*index = b->graph->edges.len;
	}
	b->graph->edges.items[*index - 1].indirect |= edge->indirect;
	map_put(&b->seen, key, &is_new);
	if (is_new)
		stats_add(&b->graph->edges.items[*index - 1].sum, row);
}

static void add_calls(struct builder *b, const struct view_path *path)
{
	struct graph_edge edge = { .caller = PROFILE_NONE };

	for (size_t i = path->len; i-- > 0;) {
		const uint64_t *node = map_get(&b->nodes, path->frames[i].function);

		if (!node) {
			edge.indirect = true;
			continue;
		}
		edge.callee = (uint32_t)(*node - 1);
		/* A function that comes back to itself by way of others that are left out did not call itself. */
		if (edge.caller != PROFILE_NONE && !(edge.indirect && edge.caller == edge.callee))
			add_edge(b, &edge, path->row);
		edge = (struct graph_edge){ .caller = edge.callee };
	}
}

static int compare_edges(const void *left, const void *right)
{
	const struct graph_edge *a = left, *b = right;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	return COMPARE(a->callee, b->callee);
}

static void choose_edges(struct call_graph *graph, double share)
{
	size_t kept = 0;

	graph->all_edges = (uint32_t)graph->edges.len;
	for (size_t i = 0; i < graph->edges.len; i++)
		if (is_at_least(&graph->edges.items[i].sum, share, &graph->whole))
			graph->edges.items[kept++] = graph->edges.items[i];
	graph->edges.len = kept;
	vec_sort(&graph->edges, compare_edges);
}

void call_graph_build(struct call_graph *graph, const struct profile *p, uint32_t type,
		      const struct call_graph_limits *limits)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct view_levels none = { .len = 0 };
	struct view_keys *keys = view_keys_new(p, &none, &arena);
	struct builder b = {
		.graph = graph,
		.type = type,
		.paths = { .profile = p, .functions = view_keys_functions(keys), .frames_max = SIZE_MAX },
	};

	*graph = (struct call_graph){ .profile = p };
	each_path(&b, add_functions);
	choose_nodes(&b, limits);
	each_path(&b, add_calls);
	choose_edges(graph, limits->edge_share);
	view_paths_deinit(&b.paths);
	map_deinit(&b.nodes);
	map_deinit(&b.edges);
	map_deinit(&b.seen);
	view_keys_free(keys);
}

void call_graph_deinit(struct call_graph *graph)
{
	vec_deinit(&graph->nodes);
	vec_deinit(&graph->edges);
}

/* ---- a call graph in the language of Graphviz ---- */

/*
 * How a call graph looks: text as large as what the function itself spends, colour and lines by totals, as pprof's
 * graphs, so that who knows those reads ours.
 */

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
	const char *module = node_module(dot->graph, &nodes[first]);

	if (*module) {
		fprintf(dot->out, "\tsubgraph cluster_%zu {\n\tlabel=\"", first);
		put_text(dot, module);
		fputs("\"; style=rounded; color=\"#b0b0b0\"; fontcolor=\"#606060\";\n", dot->out);
	}
	for (size_t i = first; i < dot->graph->nodes.len; i++)
		if (!done[i] && strcmp(node_module(dot->graph, &nodes[i]), module) == 0) {
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

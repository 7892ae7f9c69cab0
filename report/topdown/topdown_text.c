/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topdown_text.c - text is a tree for the whole and a column for each part of level 1 in the tables below it. CSV and
 * JSON have a row for each node of each: that of the whole, each process and each function.
 */
#include "report/topdown/topdown_text.h"

#include "formats/base/text.h"
#include "report/info/facts_text.h"
#include "report/print/number.h"
#include "report/view/view.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define SUM_TOLERANCE 0.005 /* parts that differ more from the whole were cut at nothing, or miscounted */

struct printer {
	const struct topdown_tree *tree;
	const struct profile *profile;
	const struct profile_facts *facts;
	enum table_format format;
	uint64_t limit;
	const struct terminal *term;
	struct arena arena;
	struct json json;
	struct topdown_value whole[TOPDOWN_NODES_MAX];
};

static void put_line(const char *text)
{
	text_put_escaped(stdout, text);
	putchar('\n');
}

static void print_wrapped(const struct printer *p, const char *text)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	if (p->term->columns)
		text_put_wrapped(stdout, text_escape(&arena, text), 0, p->term->columns);
	else
		put_line(text);
}

/* ---- the verdict ----------------------------------------------------------------------------------- */

static unsigned index_of(const struct topdown_tree *tree, const char *key)
{
	for (unsigned i = 0; i < tree->nnodes; i++)
		if (strcmp(tree->nodes[i].node->key, key) == 0)
			return i;
	return UINT_MAX;
}

static const char *share_text(struct arena *arena, const struct measure_value *v)
{
	return arena_printf(arena, "%.0f %% (%.0f-%.0f)", 100 * v->value, 100 * v->low,
			    100 * v->high);
}

static const char *what_of(const struct topdown_tree *tree)
{
	return tree->model->width ? "slots" : "cycles";
}

static const char *no_bottleneck(const struct topdown_tree *tree, const struct topdown_value *values,
				 struct arena *arena)
{
	unsigned retiring = index_of(tree, "retiring");

	if (retiring == UINT_MAX || !values[retiring].value.known)
		return "too few samples to find the bottleneck: record for longer, or at a higher rate";
	if (values[retiring].flagged)
		return arena_printf(arena,
				    "the processor is not stalled: %s of %s do useful work; the remedy left is %s",
				    share_text(arena, &values[retiring].value), what_of(tree),
				    tree->nodes[retiring].node->advice);
	return arena_printf(arena, "no part stands out: %s of %s do work",
			    share_text(arena, &values[retiring].value), what_of(tree));
}

/* Level 1 was recorded, and there is more to know about @node. */
static bool can_go_deeper(const struct topdown_tree *tree, const struct topdown_node *node)
{
	for (size_t i = 0; i < TOPDOWN_NODES_MAX && tree->model->nodes[i].key; i++) {
		const struct topdown_node *child = &tree->model->nodes[i];

		if (child->parent && strcmp(child->parent, node->key) == 0)
			return index_of(tree, child->key) == UINT_MAX;
	}
	return false;
}

const char *topdown_text_verdict(const struct topdown_tree *tree,
				 const struct topdown_value values[TOPDOWN_NODES_MAX],
				 const char *function, const char *command, struct arena *arena)
{
	bool sure;
	unsigned at = topdown_tree_bottleneck(tree, values, &sure);
	const struct topdown_node *node;
	const char *text, *next = "";

	if (at == UINT_MAX)
		return no_bottleneck(tree, values, arena);
	node = tree->nodes[at].node;
	text = arena_printf(arena, "%s: %s %s of %s", sure ? "surely" : "probably", node->name,
			    share_text(arena, &values[at].value), what_of(tree));
	if (node->parent)
		text = arena_printf(arena, "%s, the most of %s", text,
				    tree->nodes[index_of(tree, node->parent)].node->name);
	if (can_go_deeper(tree, node))
		text = arena_printf(arena, "%s; precord --topdown=2 divides it", text);
	if (function)
		next = arena_printf(arena, "; most of it in '%s': %s annotate %s", function,
				    command, text_shell_word(arena, function));
	return arena_printf(arena, "%s; look for %s%s", text, node->advice, next);
}

const char *topdown_text_bottleneck(const struct topdown_tree *tree,
				    const struct topdown_value values[TOPDOWN_NODES_MAX],
				    struct arena *arena)
{
	bool sure;
	unsigned at = topdown_tree_bottleneck(tree, values, &sure);

	if (at == UINT_MAX)
		return "";
	return arena_printf(arena, "%s %.0f %%%s", tree->nodes[at].node->name,
			    100 * values[at].value.value, sure ? "" : " ?");
}

static const char *verdict(struct printer *p)
{
	const char *worst = topdown_tree_worst(p->tree, p->profile, p->facts->first_type, p->whole, &p->arena);

	return topdown_text_verdict(p->tree, p->whole, worst, facts_text_command(p->facts, &p->arena),
				    &p->arena);
}

/* ---- the whole ------------------------------------------------------------------------------------- */

static const char *percent(struct arena *arena, const struct measure_value *v)
{
	return v->known ? arena_printf(arena, "%.1f %%", 100 * v->value) : "-";
}

static const char *range(struct arena *arena, const struct measure_value *v)
{
	if (!v->known)
		return v->n ? arena_printf(arena, "n = %" PRIu64, v->n) : "";
	return arena_printf(arena, "%.1f-%.1f", 100 * v->low, 100 * v->high);
}

static void add_node_row(struct printer *p, struct table *table, unsigned i)
{
	const struct topdown_node *node = p->tree->nodes[i].node;
	const struct topdown_value *v = &p->whole[i];

	table_add_row(table, node->parent ? 1 : 0, v->sure ? TABLE_HOT : TABLE_PLAIN);
	table_add_cell(table, percent(&p->arena, &v->value), NULL);
	table_add_cell(table, range(&p->arena, &v->value), NULL);
	table_add_cell(table, v->flagged ? "!" : "", NULL);
	table_add_cell(table, node->name, NULL);
}

/* Each part of level 1 with those of level 2 below it. */
static void print_tree(struct printer *p)
{
	const char *of = p->tree->model->width ? "of slots" : "of cycles";
	const struct topdown_formula *nodes = p->tree->nodes;
	struct table table;

	table_init(&table, &p->arena);
	table_add_column(&table, &(struct table_column){ of, "share", TABLE_RIGHT, TABLE_KEEP, true });
	table_add_column(&table, &(struct table_column){ "95 % range", "range", TABLE_RIGHT,
							 TABLE_KEEP, true });
	table_add_column(&table, &(struct table_column){ "", "flag", TABLE_LEFT, TABLE_KEEP, false });
	table.indent_column = 3;
	table_add_column(&table, &(struct table_column){ "part", "part", TABLE_LEFT, TABLE_CUT_END, false });
	for (unsigned i = 0; i < p->tree->nnodes; i++) {
		if (nodes[i].node->parent)
			continue;
		add_node_row(p, &table, i);
		for (unsigned k = 0; k < p->tree->nnodes; k++)
			if (nodes[k].node->parent &&
			    strcmp(nodes[k].node->parent, nodes[i].node->key) == 0)
				add_node_row(p, &table, k);
	}
	table_print_text(&table, p->term, stdout);
	table_deinit(&table);
}

const char *topdown_text_method(const struct topdown_tree *tree, struct arena *arena)
{
	if (tree->measures.method == MEASURES_APART)
		return "each event sampled on its own (method 2): exact about places, wider ranges";
	return arena_printf(arena,
			    "%s; a difference is the function's in which it ended (method 1): functions "
			    "that run for less than a period at a time lean towards their neighbours",
			    counting_note(tree->counting, arena));
}

const char *topdown_text_sum(const struct topdown_tree *tree,
			     const struct topdown_value values[TOPDOWN_NODES_MAX], struct arena *arena)
{
	double sum = topdown_tree_sum(tree, values);

	if (!(fabs(sum - 1) > SUM_TOLERANCE))
		return NULL;
	return arena_printf(arena,
			    "the parts sum to %.1f %%: counters that do not agree, or a part that came "
			    "out below 0 and is shown as 0",
			    100 * sum);
}

static void print_head(struct printer *p)
{
	const struct topdown_model *model = p->tree->model;

	put_line(arena_printf(&p->arena, "top-down on %s%s", model->title,
			      model->width ? arena_printf(&p->arena, ", %u slots a cycle", model->width)
					   : ""));
	print_wrapped(p, topdown_text_method(p->tree, &p->arena));
	if (model->lacking)
		print_wrapped(p, model->lacking);
	if (*p->facts->filter)
		put_line(arena_printf(&p->arena, "only %s", p->facts->filter));
	if (topdown_text_sum(p->tree, p->whole, &p->arena))
		print_wrapped(p, topdown_text_sum(p->tree, p->whole, &p->arena));
}

/* ---- processes and functions ----------------------------------------------------------------------- */

static void add_table_columns(struct printer *p, struct table *table, enum view_by by)
{
	unsigned nfields;
	const struct view_field *fields = view_fields(by, &nfields);
	struct table_column number = { "share", "share", TABLE_RIGHT, TABLE_KEEP, true };

	table_add_column(table, &number);
	number.title = "samples";
	table_add_column(table, &number);
	for (unsigned i = 0; i < p->tree->nnodes; i++) {
		number.title = p->tree->nodes[i].node->name;
		if (!p->tree->nodes[i].node->parent)
			table_add_column(table, &number);
	}
	table_add_column(table, &(struct table_column){ "held up by", "part", TABLE_LEFT, TABLE_KEEP, false });
	table->indent_column = (unsigned)table->columns.len;
	for (unsigned i = 0; i < nfields; i++)
		table_add_column(table, &(struct table_column){ fields[i].title, fields[i].key,
								fields[i].number ? TABLE_RIGHT : TABLE_LEFT,
								TABLE_CUT_END, fields[i].number });
}

/* "23.4 ±1.2 !", "n = 12" */
static const char *part_text(struct printer *p, const struct topdown_value *v)
{
	if (!v->value.known)
		return v->value.n ? arena_printf(&p->arena, "n = %" PRIu64, v->value.n) : "-";
	return arena_printf(&p->arena, "%.1f %s%.1f %s", 100 * v->value.value,
			    p->term->utf8 ? "±" : "+-", 50 * (v->value.high - v->value.low),
			    v->flagged ? "!" : " ");
}

static void add_group_row(struct printer *p, struct table *table, const struct view *view,
			  const struct view_group *group)
{
	const struct view_key *key = view_key(view, group);
	struct topdown_value values[TOPDOWN_NODES_MAX];
	unsigned nfields;

	topdown_tree_judge_group(p->tree, view, group, values);
	view_fields(view->spec.levels.items[0].by, &nfields);
	table_add_row(table, 0, values[0].value.known ? TABLE_PLAIN : TABLE_DIM);
	table_add_cell(table,
		       number_share(&p->arena, stats_share(&group->sum, &view->whole).share), NULL);
	table_add_cell(table, number_count(&p->arena, group->sum.count), NULL);
	for (unsigned i = 0; i < p->tree->nnodes; i++)
		if (!p->tree->nodes[i].node->parent)
			table_add_cell(table, part_text(p, &values[i]), NULL);
	table_add_cell(table, topdown_text_bottleneck(p->tree, values, &p->arena), NULL);
	for (unsigned i = 0; i < nfields; i++)
		table_add_cell(table, key->fields[i], NULL);
}

static void print_groups(struct printer *p, enum view_by by, const char *title)
{
	struct table table;
	struct view view;

	topdown_tree_view(p->tree, p->profile, p->facts->first_type, by, &view);
	table_init(&table, &p->arena);
	add_table_columns(p, &table, by);
	for (uint32_t i = 0; i < view.ntop && i < p->limit; i++)
		add_group_row(p, &table, &view, &view.groups.items[view.order.items[i]]);
	printf("\n%s\n", title);
	table_print_text(&table, p->term, stdout);
	if (view.ntop > p->limit)
		put_line(arena_printf(&p->arena, "(%s more)",
				      number_count(&p->arena, view.ntop - p->limit)));
	table_deinit(&table);
	view_deinit(&view);
}

/* ---- CSV and JSON ---------------------------------------------------------------------------------- */

static const struct table_column data_columns[] = {
	{ .key = "scope" },
	{ .key = "name" },
	{ .key = "where" },
	{ .key = "share", .number = true },
	{ .key = "samples", .number = true },
	{ .key = "part" },
	{ .key = "parent" },
	{ .key = "value", .number = true },
	{ .key = "low", .number = true },
	{ .key = "high", .number = true },
	{ .key = "n", .number = true },
	{ .key = "flagged", .number = true },
	{ .key = "threshold", .number = true },
};

struct data_scope {
	const char *scope, *name, *where;
	double share;
	uint64_t samples;
};

static void add_data_rows(struct printer *p, struct table *table, const struct data_scope *scope,
			  const struct topdown_value *values)
{
	for (unsigned i = 0; i < p->tree->nnodes; i++) {
		const struct topdown_node *node = p->tree->nodes[i].node;
		const struct measure_value *v = &values[i].value;
		double numbers[] = { v->value, v->low, v->high };

		table_add_row(table, 0, TABLE_PLAIN);
		table_add_cell(table, scope->scope, NULL);
		table_add_cell(table, scope->name, NULL);
		table_add_cell(table, scope->where, NULL);
		table_add_format(table, "%.6f", scope->share);
		table_add_format(table, "%" PRIu64, scope->samples);
		table_add_cell(table, node->key, NULL);
		table_add_cell(table, node->parent ? node->parent : "", NULL);
		for (size_t k = 0; k < ARRAY_LEN(numbers); k++) {
			if (v->known)
				table_add_format(table, "%.6f", numbers[k]);
			else
				table_add_cell(table, "", NULL);
		}
		table_add_format(table, "%" PRIu64, v->n);
		table_add_cell(table, values[i].flagged ? "true" : "false", NULL);
		table_add_format(table, "%.2f", node->threshold);
	}
}

static void add_data_view(struct printer *p, struct table *table, enum view_by by, const char *scope)
{
	struct view view;

	topdown_tree_view(p->tree, p->profile, p->facts->first_type, by, &view);
	for (uint32_t i = 0; i < view.ntop && i < p->limit; i++) {
		const struct view_group *group = &view.groups.items[view.order.items[i]];
		const struct view_key *key = view_key(&view, group);
		struct topdown_value values[TOPDOWN_NODES_MAX];
		struct data_scope row = { scope, arena_strdup(&p->arena, key->fields[0]),
					  arena_strdup(&p->arena, key->fields[1]),
					  stats_share(&group->sum, &view.whole).share,
					  group->sum.count };

		topdown_tree_judge_group(p->tree, &view, group, values);
		add_data_rows(p, table, &row, values);
	}
	view_deinit(&view);
}

static void print_data(struct printer *p)
{
	struct data_scope all = { "all", "", "", 1, profile_total(p->profile, PROFILE_NONE).count };
	struct json json;
	struct table table;

	table_init(&table, &p->arena);
	table_add_columns(&table, data_columns, ARRAY_LEN(data_columns));
	add_data_rows(p, &table, &all, p->whole);
	add_data_view(p, &table, VIEW_PROCESS, "process");
	add_data_view(p, &table, VIEW_LEAF, "function");
	if (p->format == TABLE_CSV) {
		table_print_csv(&table, stdout, /* with_header= */ true);
	} else {
		json_init(&json, stdout);
		json.lines = true;
		json_open(&json, NULL, '{');
		json_string(&json, "model", p->tree->model->name);
		json_string(&json, "title", p->tree->model->title);
		json_string(&json, "source", p->tree->model->source);
		json_uint(&json, "width", p->tree->model->width);
		json_string(&json, "method", topdown_text_method(p->tree, &p->arena));
		json_string(&json, "verdict", verdict(p));
		table_print_json(&table, "rows", &json);
		json_close(&json, '}');
	}
	table_deinit(&table);
}

void topdown_text_print(const struct topdown_tree *tree, const struct profile *profile,
			const struct profile_facts *facts, enum table_format format, uint64_t limit,
			const struct terminal *term)
{
	struct printer p = { .tree = tree,
			     .profile = profile,
			     .facts = facts,
			     .format = format,
			     .limit = limit,
			     .term = term };

	topdown_tree_judge_all(tree, profile, p.whole);
	if (format != TABLE_TEXT) {
		print_data(&p);
	} else {
		print_head(&p);
		putchar('\n');
		print_tree(&p);
		print_groups(&p, VIEW_PROCESS, "processes: parts in per cent of their slots");
		print_groups(&p, VIEW_LEAF, "functions");
		putchar('\n');
		print_wrapped(&p, verdict(&p));
	}
	arena_deinit(&p.arena);
}

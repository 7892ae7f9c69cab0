/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_table.c - a line a node. A node that is its parent's only one stands right below it, without another
 * step to the right, so that a chain of wrappers costs lines, not width:
 *
 *	_start
 *	  main
 *	  ├ parse
 *	  │ read_token
 *	  └ (12 more)
 *
 * In a long chain that one set of samples goes through, the middle is folded.
 */
#include "report/table/tree_table.h"

#include "report/print/number.h"

#include <inttypes.h>
#include <string.h>

#define GUIDES_MAX 24 /* steps to the right; deeper ones are counted */
#define CHAIN_MAX  9  /* a chain of more lines is folded: */
#define CHAIN_HEAD 4  /* so many at its beginning stay */
#define CHAIN_TAIL 2  /* and at its end */

struct guides {
	const char *branch, *last, *through, *none;
};

static const struct guides box = { "\xe2\x94\x9c ", "\xe2\x94\x94 ", "\xe2\x94\x82 ", "  " };
static const struct guides ascii = { "+ ", "+ ", "| ", "  " };

struct filler {
	struct table *table;
	struct arena *arena;
	const struct call_tree *tree;
	const struct tree_table_options *options;
	const struct guides *guides;
	bool has_own;  /* a column says what functions did themselves */
	bool counted;  /* it is known how many samples the sums are of */
	uint64_t rows; /* of data, so far */
};

/* Where a node stands: what is in front of its first line, and of everything below it. */
struct place {
	const char *first, *below;
	unsigned steps;
};

static const struct call_node *child_at(const struct filler *f, const struct call_node *node,
					uint32_t i)
{
	return &f->tree->nodes.items[f->tree->order.items[node->first + i]];
}

static struct stats_share share_of(const struct filler *f, const struct profile_sum *sum)
{
	return stats_share(sum, &f->tree->nodes.items[0].sum);
}

/* Children are sorted, so those that are shown come first. */
static uint32_t count_shown(const struct filler *f, const struct call_node *node)
{
	uint32_t shown = 0;

	while (shown < node->count && shown < f->options->limit &&
	       share_of(f, &child_at(f, node, shown)->sum).share >= f->options->min_share)
		shown++;
	return shown;
}

/* ---- text ---- */

static void put_text_row(struct filler *f, const char *guides, const struct profile_sum *sum,
			 const struct profile_sum *own, const char *name, const char *module)
{
	struct stats_share share = share_of(f, sum);

	table_add_row(f->table, 0, own ? TABLE_PLAIN : TABLE_DIM);
	table_add_cell(f->table, number_share(f->arena, share.share), NULL);
	if (f->counted) {
		table_add_cell(f->table, number_interval(f->arena, &share), NULL);
		table_add_cell(f->table, number_samples(f->arena, sum), NULL);
	} else {
		table_add_cell(f->table, number_weight(f->arena, sum->weight, f->options->unit), NULL);
	}
	if (f->has_own)
		table_add_cell(f->table,
			       own ? number_share(f->arena, share_of(f, own).share) : "", NULL);
	table_add_cell(f->table, arena_printf(f->arena, "%s%s", guides, name), NULL);
	table_add_cell(f->table, module, NULL);
}

/* What the children from @shown on have together. */
static struct profile_sum rest_of(const struct filler *f, const struct call_node *node,
				  uint32_t shown)
{
	struct profile_sum rest = { 0 };

	for (uint32_t i = shown; i < node->count; i++) {
		const struct profile_sum *sum = &child_at(f, node, i)->sum;

		rest.count += sum->count;
		rest.weight += sum->weight;
		rest.weight_sq += sum->weight_sq;
		rest.exact += sum->exact;
	}
	return rest;
}

/* Is a line due for the children from @shown on? Not where even together they are below what is folded. */
static bool has_rest(const struct filler *f, const struct call_node *node, uint32_t shown)
{
	struct profile_sum rest = rest_of(f, node, shown);

	return shown < node->count && share_of(f, &rest).share >= f->options->min_share &&
	       (shown || node->parent == PROFILE_NONE);
}

static void put_rest(struct filler *f, const char *guides, const struct call_node *node,
		     uint32_t shown)
{
	struct profile_sum rest = rest_of(f, node, shown);

	put_text_row(f, guides, &rest, NULL,
		     arena_printf(f->arena, "(%s more)",
				  number_count(f->arena, node->count - shown)),
		     "");
}

static struct place step(struct filler *f, const struct place *at, bool last)
{
	const struct guides *g = f->guides;
	struct place place = { at->below, at->below, at->steps + 1 };

	if (place.steps > GUIDES_MAX)
		return place;
	place.first = arena_printf(f->arena, "%s%s", at->below, last ? g->last : g->branch);
	place.below = arena_printf(f->arena, "%s%s", at->below, last ? g->none : g->through);
	return place;
}

/* The child that stands right below @node; NULL if there is a choice, or nothing. */
static const struct call_node *only_child(const struct filler *f, const struct call_node *node)
{
	return count_shown(f, node) == 1 && !has_rest(f, node, 1) ? child_at(f, node, 0) : NULL;
}

/* How many nodes from @node on down the chain have the same samples. */
static uint32_t chain_len(const struct filler *f, const struct call_node *node)
{
	uint32_t len = 1;

	for (const struct call_node *next = only_child(f, node);
	     next && next->sum.count == node->sum.count; next = only_child(f, next))
		len++;
	return len;
}

/* Leave out the middle of the chain from @node on: the node to go on with. */
static const struct call_node *fold_chain(struct filler *f, const struct call_node *node,
					  uint32_t len, const char *guides)
{
	uint32_t folded = len - CHAIN_HEAD - CHAIN_TAIL;

	put_text_row(f, guides, &node->sum, NULL,
		     arena_printf(f->arena, "(%" PRIu32 " in between)", folded), "");
	for (uint32_t i = 0; i < folded; i++)
		node = only_child(f, node);
	return node;
}

static void put_children(struct filler *f, const struct call_node *node, const struct place *at);

/* @node, and below it the chain of only children. */
static void put_node(struct filler *f, const struct call_node *node, const struct place *at)
{
	const struct call_node *next = node;
	const char *guides = at->first;
	uint32_t len = 0, line = 0; /* of the stretch with the same samples */

	do {
		const char *name;

		node = next;
		if (line == len) {
			len = f->options->min_share > 0 ? chain_len(f, node) : 0;
			line = 0;
		}
		if (line == CHAIN_HEAD && len > CHAIN_MAX) {
			node = fold_chain(f, node, len, guides);
			line = len - CHAIN_TAIL;
		}
		name = call_tree_name(f->tree, node);
		if (at->steps > GUIDES_MAX)
			name = arena_printf(f->arena, "[%u deeper] %s", at->steps - GUIDES_MAX,
					    name);
		put_text_row(f, guides, &node->sum, &node->own, name,
			     call_tree_module(f->tree, node));
		guides = at->below;
		line += len > 0;
		next = only_child(f, node);
	} while (next);
	put_children(f, node, at);
}

static void put_children(struct filler *f, const struct call_node *node, const struct place *at)
{
	uint32_t shown = count_shown(f, node);
	bool rest = has_rest(f, node, shown);

	for (uint32_t i = 0; i < shown; i++) {
		struct place place = step(f, at, i + 1 == shown && !rest);

		put_node(f, child_at(f, node, i), &place);
	}
	if (rest)
		put_rest(f, step(f, at, true).first, node, shown);
}

static void add_text_columns(struct filler *f)
{
	const struct table_column share = { "share", "share", TABLE_RIGHT, TABLE_KEEP, true };
	const struct table_column range = { "95 % range", "range", TABLE_RIGHT, TABLE_DROP, true };
	const struct table_column samples = { "samples", "samples", TABLE_RIGHT, TABLE_DROP, true };
	const struct table_column self = { "self", "self", TABLE_RIGHT, TABLE_KEEP, true };
	const struct table_column function = { "function", "function", TABLE_LEFT, TABLE_CUT_NAME,
					       false };
	const struct table_column module = { "module", "module", TABLE_LEFT, TABLE_DROP, false };

	table_add_column(f->table, &share);
	if (f->counted) {
		table_add_column(f->table, &range);
		table_add_column(f->table, &samples);
	} else {
		table_add_column(f->table, &(struct table_column){
			number_weight_title(f->options->event, f->options->unit), "weight", TABLE_RIGHT, TABLE_DROP, true });
	}
	if (f->has_own)
		table_add_column(f->table, &self);
	table_add_column(f->table, &function);
	table_add_column(f->table, &module);
}

/* ---- data ---- */

static void add_data_columns(struct filler *f)
{
	static const char *const numbers[] = { "node",	  "parent", "depth",
					       "share",	  "low",    "high",
					       "samples", "weight", "own_share",
					       "own_samples" };
	static const char *const names[] = { "function", "module" };

	if (f->options->event)
		table_add_column(f->table,
				 &(struct table_column){ NULL, "event", TABLE_LEFT, TABLE_KEEP,
							 false });
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		table_add_column(f->table,
				 &(struct table_column){ NULL, numbers[i], TABLE_RIGHT, TABLE_KEEP,
							 true });
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		table_add_column(f->table,
				 &(struct table_column){ NULL, names[i], TABLE_LEFT, TABLE_KEEP,
							 false });
}

static void put_data(struct filler *f, const struct call_node *node, uint64_t parent,
		     uint64_t depth)
{
	struct stats_share share = share_of(f, &node->sum), own = share_of(f, &node->own);
	uint64_t number = f->rows++;
	uint32_t shown = count_shown(f, node);

	table_add_row(f->table, 0, TABLE_PLAIN);
	if (f->options->event)
		table_add_cell(f->table, f->options->event, NULL);
	table_add_format(f->table, "%" PRIu64, number);
	if (node->parent == PROFILE_NONE)
		table_add_cell(f->table, "", NULL);
	else
		table_add_format(f->table, "%" PRIu64, parent);
	table_add_format(f->table, "%" PRIu64, depth);
	table_add_format(f->table, "%.6f", share.share);
	table_add_cell(f->table, number_bound(f->arena, &share, share.low), NULL);
	table_add_cell(f->table, number_bound(f->arena, &share, share.high), NULL);
	table_add_cell(f->table, number_samples_data(f->arena, &node->sum), NULL);
	table_add_format(f->table, "%" PRId64, node->sum.weight);
	table_add_format(f->table, "%.6f", own.share);
	table_add_cell(f->table, number_samples_data(f->arena, &node->own), NULL);
	table_add_cell(f->table, call_tree_name(f->tree, node), NULL);
	table_add_cell(f->table, call_tree_module(f->tree, node), NULL);
	for (uint32_t i = 0; i < shown; i++)
		put_data(f, child_at(f, node, i), number, depth + 1);
}

void tree_table_fill(struct table *table, const struct call_tree *tree,
		     const struct tree_table_options *options)
{
	const struct place top = { "", "  ", 0 };
	const struct call_node *all = &tree->nodes.items[0];
	struct filler f = {
		.table = table,
		.arena = table->arena,
		.tree = tree,
		.options = options,
		.guides = options->utf8 ? &box : &ascii,
		.has_own = tree->direction == CALL_TREE_CALLEES,
		.counted = profile_is_counted(&all->sum),
	};

	if (options->data) {
		add_data_columns(&f);
		put_data(&f, all, 0, 0);
		return;
	}
	add_text_columns(&f);
	if (all->own.count)
		put_text_row(&f, "", &all->own, &all->own,
			     tree->spec.cut == VIEW_CALLEES   ? "[self]" :
			     tree->spec.cut == VIEW_CALLERS ? "[no caller]" :
							      "[no stack]",
			     "");
	for (uint32_t i = 0; i < count_shown(&f, all); i++)
		put_node(&f, child_at(&f, all, i), &top);
	if (has_rest(&f, all, count_shown(&f, all)))
		put_rest(&f, "", all, count_shown(&f, all));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser.c - the table is a view, and what unfolds are caller trees: one of all leaves, or one for each function
 * that is unfolded in the table of totals, made when it is asked for.
 */
#include "report/tui/browser.h"

#include "formats/base/memory.h"
#include "report/view/call_tree.h"
#include "report/view/view.h"

#include <stdlib.h>
#include <string.h>

/* A caller tree, and which of its nodes are unfolded. */
struct browser_tree {
	struct call_tree tree;
	bool *unfolded;
};

/* One step of narrowing. */
struct narrowing {
	const char *text;
	bool *rows; /* by sample row of the profile: still in, after all steps up to this one */
};

struct browser {
	const struct profile *profile;
	enum browser_table table, before; /* before: where a choice returns to */
	uint32_t event;
	uint32_t recorder_pid; /* 0: not known */
	char *search; /* on the heap */
	VEC(struct narrowing) narrowings;
	struct arena narrowed; /* their texts */

	/* Made anew by rebuild(). */
	struct view view;
	bool built;
	VEC(struct browser_tree *) trees; /* by group of the view; one for all leaves */
	VEC(struct browser_row) rows;
	struct arena arena;
};

static const enum view_by levels[] = {
	[BROWSER_LEAVES] = VIEW_LEAF,	[BROWSER_TOTALS] = VIEW_TOTAL,
	[BROWSER_THREADS] = VIEW_THREAD, [BROWSER_MODULES] = VIEW_MODULE,
	[BROWSER_PROCESSES] = VIEW_PROCESS,
};

/* ---- trees ---- */

static void tree_free(struct browser_tree *tree)
{
	if (!tree)
		return;
	call_tree_deinit(&tree->tree);
	free(tree->unfolded);
	free(tree);
}

static const bool *kept_rows(const struct browser *b)
{
	return b->narrowings.len ? b->narrowings.items[b->narrowings.len - 1].rows : NULL;
}

/* The callers of @cut_at, or, without, of every leaf. */
static struct browser_tree *tree_new(const struct browser *b, const bool *cut_at)
{
	struct browser_tree *tree = memory_zeroed(1, sizeof(*tree));
	struct view_spec spec = {
		.event = b->event,
		.rows = kept_rows(b),
		.cut = cut_at ? VIEW_CALLERS : VIEW_WHOLE,
		.cut_at = cut_at,
	};

	call_tree_build(&tree->tree, b->profile, &spec, CALL_TREE_CALLERS);
	tree->unfolded = memory_zeroed(tree->tree.nodes.len, sizeof(*tree->unfolded));
	return tree;
}

/* The functions that look like the one of @group. */
static bool *functions_like(const struct browser *b, const struct view_group *group)
{
	const struct profile *p = b->profile;
	const struct view_key *key = view_key(&b->view, group);
	bool *like = memory_zeroed(p->functions.len + 1, sizeof(*like));

	for (uint32_t i = 0; i < p->functions.len; i++) {
		const struct profile_function *function = &p->functions.items[i];

		like[i] = strcmp(profile_text(p, function->name), key->fields[0]) == 0 &&
			  strcmp(profile_text(p, profile_module(p, function->module)->name),
				 key->fields[1]) == 0;
	}
	return like;
}

static struct browser_tree *tree_of_total(struct browser *b, uint32_t group)
{
	if (!b->trees.items[group]) {
		bool *like = functions_like(b, &b->view.groups.items[group]);

		b->trees.items[group] = tree_new(b, like);
		free(like);
	}
	return b->trees.items[group];
}

/* ---- rows ---- */

static void add_callers(struct browser *b, struct browser_tree *tree, uint32_t parent,
			unsigned depth)
{
	const struct call_node *node = &tree->tree.nodes.items[parent];

	for (uint32_t i = 0; i < node->count; i++) {
		uint32_t number = tree->tree.order.items[node->first + i];
		const struct call_node *child = &tree->tree.nodes.items[number];

		vec_push(&b->rows, ((struct browser_row){
					   .name = call_tree_name(&tree->tree, child),
					   .detail = call_tree_module(&tree->tree, child),
					   .depth = depth,
					   .sum = child->sum,
					   .unfolds = child->count > 0,
					   .unfolded = tree->unfolded[number],
					   .tree = tree,
					   .node = number,
				   }));
		if (tree->unfolded[number])
			add_callers(b, tree, number, depth + 1);
	}
}

static const char *detail_of(struct browser *b, const struct view_group *group,
			     const struct view_key *key)
{
	switch (b->table) {
	case BROWSER_THREADS:
		return arena_printf(&b->arena, "pid %s, tid %s", key->fields[1], key->fields[2]);
	case BROWSER_PROCESSES:
		return arena_printf(&b->arena, "pid %s%s", key->fields[1],
				    view_recorder_mark(&b->view, group, b->recorder_pid));
	default:
		return key->fields[1];
	}
}

static bool is_found(const struct browser *b, const char *name)
{
	return !*b->search || strcasestr(name, b->search);
}

static struct browser_row row_of(struct browser *b, uint32_t number)
{
	const struct view_group *group = &b->view.groups.items[number];
	const struct view_key *key = view_key(&b->view, group);
	struct browser_row row = {
		.name = key->fields[0],
		.detail = detail_of(b, group, key),
		.sum = group->sum,
		.self = group->self,
		.unnamed = key->unnamed,
		.unfolds = b->table == BROWSER_TOTALS,
		.group = number,
	};

	if (b->table == BROWSER_TOTALS && b->trees.items[number]) {
		row.tree = b->trees.items[number];
		row.unfolded = row.tree->unfolded[0];
	}
	return row;
}

/* Leaves are the first level of their caller tree: its nodes know the children. */
static void list_leaves(struct browser *b)
{
	struct browser_tree *tree = b->trees.items[0];
	const struct call_node *all = &tree->tree.nodes.items[0];

	for (uint32_t i = 0; i < all->count; i++) {
		uint32_t number = tree->tree.order.items[all->first + i];
		const struct call_node *leaf = &tree->tree.nodes.items[number];
		const struct profile *p = b->profile;

		if (!is_found(b, call_tree_name(&tree->tree, leaf)))
			continue;
		vec_push(&b->rows,
			 ((struct browser_row){
				 .name = call_tree_name(&tree->tree, leaf),
				 .detail = call_tree_module(&tree->tree, leaf),
				 .sum = leaf->sum,
				 .unnamed = leaf->function == PROFILE_NONE ||
					    p->functions.items[leaf->function].unnamed,
				 .unfolds = leaf->count > 0,
				 .unfolded = tree->unfolded[number],
				 .tree = tree,
				 .node = number,
			 }));
		if (tree->unfolded[number])
			add_callers(b, tree, number, 1);
	}
	if (all->own.count && is_found(b, "[no stack]"))
		vec_push(&b->rows, ((struct browser_row){
					   .name = "[no stack]",
					   .detail = "",
					   .sum = all->own,
					   .unnamed = true,
				   }));
}

static void list_groups(struct browser *b)
{
	for (uint32_t i = 0; i < b->view.ntop; i++) {
		struct browser_row row = row_of(b, b->view.order.items[i]);

		if (!is_found(b, row.name))
			continue;
		vec_push(&b->rows, row);
		if (row.unfolded)
			add_callers(b, row.tree, 0, 1);
	}
}

static void list(struct browser *b)
{
	b->rows.len = 0;
	if (b->table == BROWSER_LEAVES)
		list_leaves(b);
	else
		list_groups(b);
}

static void discard(struct browser *b)
{
	if (!b->built)
		return;
	for (size_t i = 0; i < b->trees.len; i++)
		tree_free(b->trees.items[i]);
	b->trees.len = 0;
	view_deinit(&b->view);
	arena_reset(&b->arena);
	b->built = false;
}

/* After another table, event or narrowing. */
static void rebuild(struct browser *b)
{
	struct view_spec spec = {
		.levels = { .len = 1, .items = { { .by = levels[b->table] } } },
		.event = b->event,
		.rows = kept_rows(b),
	};

	discard(b);
	view_build(&b->view, b->profile, &spec);
	view_sort(&b->view, VIEW_SORT_WEIGHT);
	b->built = true;
	if (b->table == BROWSER_LEAVES)
		vec_push(&b->trees, tree_new(b, NULL));
	for (size_t i = 0; b->table == BROWSER_TOTALS && i < b->view.groups.len; i++)
		vec_push(&b->trees, NULL);
	list(b);
}

struct browser *browser_new(const struct profile *p, uint32_t event, uint32_t recorder_pid)
{
	struct browser *b = memory_zeroed(1, sizeof(*b));

	b->profile = p;
	b->event = event;
	b->recorder_pid = recorder_pid;
	b->search = memory_strdup("");
	rebuild(b);
	return b;
}

static void pop_narrowing(struct browser *b)
{
	b->narrowings.len--;
	free(b->narrowings.items[b->narrowings.len].rows);
}

void browser_free(struct browser *b)
{
	if (!b)
		return;
	discard(b);
	while (b->narrowings.len)
		pop_narrowing(b);
	vec_deinit(&b->narrowings);
	vec_deinit(&b->trees);
	vec_deinit(&b->rows);
	arena_deinit(&b->arena);
	arena_deinit(&b->narrowed);
	free(b->search);
	free(b);
}

const struct browser_row *browser_rows(struct browser *b, size_t *ret_count)
{
	*ret_count = b->rows.len;
	return b->rows.items;
}

struct profile_sum browser_whole(const struct browser *b)
{
	return b->view.whole;
}

enum browser_table browser_table(const struct browser *b)
{
	return b->table;
}

void browser_show(struct browser *b, enum browser_table table)
{
	if (table == b->table)
		return;
	if (b->table <= BROWSER_TOTALS)
		b->before = b->table;
	b->table = table;
	*b->search = 0;
	rebuild(b);
}

uint32_t browser_event(const struct browser *b)
{
	return b->event;
}

void browser_next_event(struct browser *b)
{
	const struct profile *p = b->profile;
	uint32_t event = b->event;

	do {
		event = (event + 1) % (uint32_t)p->types.len;
	} while (event != b->event && profile_total(p, event).count == 0);
	if (event == b->event)
		return;
	b->event = event;
	rebuild(b);
}

void browser_toggle(struct browser *b, size_t index)
{
	const struct browser_row *row = &b->rows.items[index];
	struct browser_tree *tree = row->tree;
	uint32_t node = row->node;

	if (!row->unfolds)
		return;
	if (!tree)
		tree = tree_of_total(b, row->group);
	tree->unfolded[node] = !tree->unfolded[node];
	list(b);
}

/* ---- narrowing ---- */

static bool is_of_thread(const struct profile *p, const struct profile_sample *row,
			 const struct profile_thread *want)
{
	const struct profile_thread *thread = &p->threads.items[row->thread];

	return thread->pid == want->pid && thread->tid == want->tid && thread->comm == want->comm;
}

static bool is_of_process(const struct profile *p, const struct profile_sample *row,
			  const struct profile_thread *want)
{
	const struct profile_thread *thread = &p->threads.items[row->thread];

	return thread->pid == want->pid && thread->process == want->process;
}

static uint32_t module_of(const struct profile *p, const struct profile_sample *row)
{
	return row->stack ? p->locations.items[p->stacks.items[row->stack].location].module
			  : PROFILE_NONE;
}

/* A sample row that is in @group of the table: views do not say which are. */
static const struct profile_sample *example_of(const struct browser *b,
					       const struct view_group *group)
{
	const struct profile *p = b->profile;
	const struct view_key *key = view_key(&b->view, group);

	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];
		const struct profile_thread *thread = &p->threads.items[row->thread];
		uint32_t module = module_of(p, row);
		uint64_t pid = strtoull(key->fields[1], NULL, 10);

		if (b->table == BROWSER_MODULES) {
			if (module != PROFILE_NONE &&
			    strcmp(profile_text(p, profile_module(p, module)->path),
				   key->fields[1]) == 0)
				return row;
		} else if (thread->pid == pid &&
			   strcmp(profile_text(p, b->table == BROWSER_THREADS ? thread->comm :
										thread->process),
				  key->fields[0]) == 0 &&
			   (b->table == BROWSER_PROCESSES ||
			    thread->tid == strtoull(key->fields[2], NULL, 10))) {
			return row;
		}
	}
	return NULL;
}

static bool is_like(const struct browser *b, const struct profile_sample *row,
		    const struct profile_sample *example)
{
	const struct profile *p = b->profile;
	const struct profile_thread *thread = &p->threads.items[example->thread];

	if (b->table == BROWSER_THREADS)
		return is_of_thread(p, row, thread);
	if (b->table == BROWSER_PROCESSES)
		return is_of_process(p, row, thread);

	uint32_t have = module_of(p, row), want = module_of(p, example);

	return have != PROFILE_NONE && profile_module(p, have)->path == profile_module(p, want)->path;
}

static const char *narrowing_text(struct browser *b, const struct browser_row *row)
{
	static const char *const nouns[] = {
		[BROWSER_THREADS] = "thread",
		[BROWSER_MODULES] = "module",
		[BROWSER_PROCESSES] = "process",
	};
	const char *before = browser_narrowed(b);
	const char *detail = b->table == BROWSER_MODULES ? "" : row->detail;

	return arena_printf(&b->narrowed, "%s%s%s %s%s%s%s", before, *before ? ", " : "",
			    nouns[b->table], row->name, *detail ? " (" : "", detail,
			    *detail ? ")" : "");
}

void browser_narrow(struct browser *b, size_t index)
{
	const struct profile *p = b->profile;
	const struct browser_row *row = &b->rows.items[index];
	const struct profile_sample *example;
	const bool *kept = kept_rows(b);

	if (b->table <= BROWSER_TOTALS)
		return;
	example = example_of(b, &b->view.groups.items[row->group]);
	if (!example)
		return;

	struct narrowing step = { .text = narrowing_text(b, row) };

	step.rows = memory_zeroed(p->samples.len + 1, sizeof(*step.rows));
	for (size_t i = 0; i < p->samples.len; i++)
		step.rows[i] = (!kept || kept[i]) && is_like(b, &p->samples.items[i], example);
	vec_push(&b->narrowings, step);
	b->table = b->before;
	*b->search = 0;
	rebuild(b);
}

bool browser_widen(struct browser *b)
{
	if (!b->narrowings.len)
		return false;
	pop_narrowing(b);
	rebuild(b);
	return true;
}

const char *browser_narrowed(const struct browser *b)
{
	return b->narrowings.len ? b->narrowings.items[b->narrowings.len - 1].text : "";
}

void browser_search(struct browser *b, const char *text)
{
	free(b->search);
	b->search = memory_strdup(text);
	list(b);
}

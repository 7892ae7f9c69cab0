/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser.c - the table is a view, and what unfolds are call trees: one of all stacks, or one for each function that is
 * unfolded in the table of sums, made when it is asked for.
 *
 * A row is known by a key, a hash of the names on the way to it; which keys are unfolded is remembered for each way round.
 */
#include "report/tui/browser.h"

#include "formats/base/memory.h"
#include "formats/profile/profile.h"
#include "formats/profile/time_series.h"
#include "report/view/call_tree.h"
#include "report/view/view.h"

#include <stdlib.h>
#include <string.h>

/* ---- the times of a thread ---- */

#define THREAD_TIMELINE_LEN 40 /* characters, each an equal part of the time between the first and the last sample */

struct extent {
	uint64_t first_ns, last_ns;
};

static bool find_extent(const struct profile *p, struct extent *ret)
{
	struct time_cursor cursor = time_series_begin(&p->times);
	struct profile_time at;

	*ret = (struct extent){ UINT64_MAX, 0 };
	while (time_series_next(&cursor, &at)) {
		ret->first_ns = MIN(ret->first_ns, at.time_ns);
		ret->last_ns = MAX(ret->last_ns, at.time_ns);
	}
	return ret->first_ns <= ret->last_ns;
}

static unsigned part_of(const struct extent *extent, uint64_t time_ns)
{
	uint64_t len = extent->last_ns - extent->first_ns + 1;

	return (unsigned)((double)(time_ns - extent->first_ns) / (double)len * THREAD_TIMELINE_LEN);
}

static const char *line_of(const double *sums, double most, struct arena *arena)
{
	static const char shades[] = ".:-=+*#%@";
	char *text = arena_alloc(arena, THREAD_TIMELINE_LEN + 1);

	for (size_t i = 0; i < THREAD_TIMELINE_LEN; i++)
		text[i] = sums[i] <= 0 ? ' ' : shades[(size_t)(sums[i] / most * ((double)sizeof(shades) - 1.001))];
	text[THREAD_TIMELINE_LEN] = '\0';
	return text;
}

/*
 * One line for each of @ngroups; @group_of says by sample row of @p which group it is in, PROFILE_NONE for none. The heavier a part
 * of the time, the darker its character; the darkest is what one group has most in a part. "no times" if @p has none. All
 * lives in @arena.
 */
static const char **thread_timelines(const struct profile *p, const uint32_t *group_of, size_t ngroups, struct arena *arena)
{
	const char **ret = ARENA_ARRAY(arena, const char *, ngroups + 1);
	double *sums = memory_zeroed(ngroups + 1, sizeof(*sums) * THREAD_TIMELINE_LEN), most = 0;
	struct time_cursor cursor = time_series_begin(&p->times);
	struct profile_time at;
	struct extent extent;
	bool known = find_extent(p, &extent);

	while (known && time_series_next(&cursor, &at)) {
		unsigned part = MIN(part_of(&extent, at.time_ns), THREAD_TIMELINE_LEN - 1u);

		if (group_of[at.row] == PROFILE_NONE)
			continue;
		double *sum = &sums[(size_t)group_of[at.row] * THREAD_TIMELINE_LEN + part];

		*sum += (double)at.weight;
		most = MAX(most, *sum);
	}
	for (size_t i = 0; i < ngroups; i++)
		ret[i] = known ? line_of(&sums[i * THREAD_TIMELINE_LEN], most, arena) : "no times";
	free(sums);
	return ret;
}

#define UNFOLD_DEPTH 200 /* of chains: deeper ones are unfolded in steps */

struct browser_tree {
	struct call_tree tree;
};

/* One step of narrowing: a group of a level, or a function on the stacks. */
struct narrowing {
	const char *text; /* of this step and those before */
	enum view_by level;
	bool function;
	const char *fields[VIEW_FIELDS_MAX]; /* NULL from the last one on */
};

struct browser {
	const struct profile *profile;
	enum browser_table table, before; /* before: where a choice returns to */
	bool callees;                     /* sums unfold into */
	uint32_t event;
	uint32_t recorder_pid; /* 0: not known */
	char *search;          /* on the heap */
	VEC(struct narrowing) narrowings;
	struct arena narrowed; /* their texts */
	struct map unfolded;   /* keys of rows */

	/* Made anew by rebuild(). */
	bool *kept; /* by sample row, NULL: all */
	struct view view;
	bool built;
	VEC(struct browser_tree *) trees; /* by group of the view; one for all stacks */
	const char **timelines; /* by group; NULL: not of this table */
	VEC(struct browser_row) rows;
	struct arena arena;
};

static const struct {
	const char *name;
	enum view_by level;
} tables[] = {
	[BROWSER_LEAVES] = { "leaves", VIEW_LEAF },	     [BROWSER_TOTALS] = { "sums", VIEW_TOTAL },
	[BROWSER_CALLS] = { "calls", VIEW_LEAF },	     [BROWSER_THREADS] = { "threads", VIEW_THREAD },
	[BROWSER_TIMELINE] = { "timeline", VIEW_THREAD },    [BROWSER_PROCESSES] = { "processes", VIEW_PROCESS },
	[BROWSER_PROGRAMS] = { "programs", VIEW_PROGRAM },   [BROWSER_MODULES] = { "modules", VIEW_MODULE },
	[BROWSER_LINES] = { "lines", VIEW_LINE },	     [BROWSER_CGROUPS] = { "cgroups", VIEW_CGROUP },
};

const char *browser_table_name(enum browser_table table)
{
	return tables[table].name;
}

bool browser_table_chooses(enum browser_table table)
{
	return table >= BROWSER_THREADS;
}

/* ---- keys ---- */

static uint64_t hash_text(uint64_t key, const char *text)
{
	for (; *text; text++)
		key = map_hash(key ^ (unsigned char)*text);
	return map_hash(key + 1);
}

static uint64_t key_of(uint64_t above, const char *name, const char *detail)
{
	return hash_text(hash_text(above, name), detail);
}

/* What rows of the table begin with: what is unfolded in one table is not in another. */
static uint64_t root_key(const struct browser *b)
{
	return map_hash((uint64_t)b->table * 2 + b->callees);
}

static bool is_unfolded(const struct browser *b, uint64_t key)
{
	const uint64_t *value = map_get(&b->unfolded, key);

	return value && *value;
}

static void set_unfolded(struct browser *b, uint64_t key, bool unfolded)
{
	*map_put(&b->unfolded, key, NULL) = unfolded;
}

/* ---- trees ---- */

static void tree_free(struct browser_tree *tree)
{
	if (!tree)
		return;
	call_tree_deinit(&tree->tree);
	free(tree);
}

/* The callers or callees of @cut_at, or, without, of every stack. */
static struct browser_tree *tree_new(const struct browser *b, const bool *cut_at, bool callees)
{
	struct browser_tree *tree = memory_zeroed(1, sizeof(*tree));
	struct view_spec spec = {
		.event = b->event,
		.rows = b->kept,
		.cut = !cut_at ? VIEW_WHOLE : callees ? VIEW_CALLEES : VIEW_CALLERS,
		.cut_at = cut_at,
	};

	call_tree_build(&tree->tree, b->profile, &spec, callees ? CALL_TREE_CALLEES : CALL_TREE_CALLERS);
	return tree;
}

/* The functions that are called @name in @module. */
static bool *functions_like(const struct profile *p, const char *name, const char *module)
{
	bool *like = memory_zeroed(p->functions.len + 1, sizeof(*like));

	for (uint32_t i = 0; i < p->functions.len; i++) {
		const struct profile_function *function = &p->functions.items[i];

		like[i] = strcmp(profile_text(p, function->name), name) == 0 &&
			  strcmp(profile_text(p, profile_module(p, function->module)->name), module) == 0;
	}
	return like;
}

static struct browser_tree *tree_of_total(struct browser *b, uint32_t group)
{
	if (!b->trees.items[group]) {
		const struct view_key *key = view_key(&b->view, &b->view.groups.items[group]);
		bool *like = functions_like(b->profile, key->fields[0], key->fields[1]);

		b->trees.items[group] = tree_new(b, like, b->callees);
		free(like);
	}
	return b->trees.items[group];
}

/* A tree from the cut function on has that function as the only node below its root; its callees are what unfolds. */
static uint32_t top_of(const struct browser *b, const struct browser_tree *tree)
{
	const struct call_node *root = &tree->tree.nodes.items[0];

	return b->table == BROWSER_TOTALS && b->callees && root->count == 1 ? tree->tree.order.items[root->first] : 0;
}

/* ---- rows ---- */

static struct browser_row row_of_node(const struct browser *b, struct browser_tree *tree, uint32_t number,
				      uint64_t above)
{
	const struct call_node *node = &tree->tree.nodes.items[number];
	const struct profile *p = b->profile;
	const char *name = call_tree_name(&tree->tree, node), *module = call_tree_module(&tree->tree, node);
	uint64_t key = key_of(above, name, module);

	return (struct browser_row){
		.name = name,
		.detail = module,
		.sum = node->sum,
		.self = node->own,
		.unnamed = node->function == PROFILE_NONE || p->functions.items[node->function].unnamed,
		.unfolds = node->count > 0,
		.unfolded = node->count > 0 && is_unfolded(b, key),
		.tree = tree,
		.node = number,
		.key = key,
	};
}

static void add_below(struct browser *b, struct browser_tree *tree, uint32_t parent, unsigned depth, uint64_t above)
{
	const struct call_node *node = &tree->tree.nodes.items[parent];

	for (uint32_t i = 0; i < node->count; i++) {
		struct browser_row row = row_of_node(b, tree, tree->tree.order.items[node->first + i], above);

		row.depth = depth;
		vec_push(&b->rows, row);
		if (row.unfolded)
			add_below(b, tree, row.node, depth + 1, row.key);
	}
}

static const char *detail_of(struct browser *b, const struct view_group *group, const struct view_key *key)
{
	switch (b->table) {
	case BROWSER_THREADS:
		return arena_printf(&b->arena, "pid %s, tid %s", key->fields[1], key->fields[2]);
	case BROWSER_PROCESSES:
		return arena_printf(&b->arena, "pid %s%s", key->fields[1],
				    view_recorder_mark(&b->view, group, b->recorder_pid));
	case BROWSER_TIMELINE:
		return b->timelines[group - b->view.groups.items];
	case BROWSER_PROGRAMS:
	case BROWSER_CGROUPS:
		return "";
	default:
		return key->fields[1];
	}
}

static bool is_found(const struct browser *b, const char *name)
{
	return !*b->search || strcasestr(name, b->search);
}

static struct browser_row row_of_group(struct browser *b, uint32_t number)
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

	row.key = key_of(root_key(b), row.name, row.detail);
	row.unfolded = row.unfolds && is_unfolded(b, row.key);
	return row;
}

/* Leaves and calls are the first level of their tree: its nodes know the children. */
static void list_tree(struct browser *b)
{
	struct browser_tree *tree = b->trees.items[0];
	const struct call_node *all = &tree->tree.nodes.items[0];

	for (uint32_t i = 0; i < all->count; i++) {
		struct browser_row row = row_of_node(b, tree, tree->tree.order.items[all->first + i], root_key(b));

		if (!is_found(b, row.name))
			continue;
		vec_push(&b->rows, row);
		if (row.unfolded)
			add_below(b, tree, row.node, 1, row.key);
	}
	if (all->own.count && is_found(b, "[no stack]"))
		vec_push(&b->rows, ((struct browser_row){
					   .name = "[no stack]",
					   .detail = "",
					   .sum = all->own,
					   .self = all->own,
					   .unnamed = true,
				   }));
}

static void list_groups(struct browser *b)
{
	for (uint32_t i = 0; i < b->view.ntop; i++) {
		struct browser_row row = row_of_group(b, b->view.order.items[i]);

		if (!is_found(b, row.name))
			continue;
		if (row.unfolded)
			row.tree = tree_of_total(b, row.group);
		vec_push(&b->rows, row);
		if (row.unfolded)
			add_below(b, row.tree, top_of(b, row.tree), 1, row.key);
	}
}

static bool is_tree(const struct browser *b)
{
	return b->table == BROWSER_LEAVES || b->table == BROWSER_CALLS;
}

static void list(struct browser *b)
{
	b->rows.len = 0;
	if (is_tree(b))
		list_tree(b);
	else
		list_groups(b);
}

/* ---- narrowing ---- */

static void keep(bool **kept, const struct profile *p, const bool *fits)
{
	bool *before = *kept;

	*kept = memory_zeroed(p->samples.len + 1, sizeof(**kept));
	for (size_t i = 0; i < p->samples.len; i++)
		(*kept)[i] = (!before || before[i]) && fits[i];
	free(before);
}

static bool is_on_stack(const struct profile *p, uint32_t stack, const bool *like)
{
	for (; stack; stack = p->stacks.items[stack].parent) {
		const struct profile_location *at = &p->locations.items[p->stacks.items[stack].location];

		for (uint32_t i = 0; i < at->nlines; i++)
			if (like[p->lines.items[at->first_line + i].function])
				return true;
	}
	return false;
}

static void fit_function(const struct browser *b, const struct narrowing *step, bool *fits)
{
	const struct profile *p = b->profile;
	bool *like = functions_like(p, step->fields[0], step->fields[1]);

	for (size_t i = 0; i < p->samples.len; i++)
		fits[i] = is_on_stack(p, p->samples.items[i].stack, like);
	free(like);
}

static bool has_fields(const struct view_key *key, const struct narrowing *step)
{
	for (size_t i = 0; i < VIEW_FIELDS_MAX && step->fields[i]; i++)
		if (!key->fields[i] || strcmp(key->fields[i], step->fields[i]) != 0)
			return false;
	return true;
}

/* Of every event, so that the next one is narrowed in the same way. */
static void fit_group(const struct browser *b, const struct narrowing *step, bool *fits)
{
	const struct profile *p = b->profile;
	uint32_t *group_of = memory_zeroed(p->samples.len + 1, sizeof(*group_of));

	for (uint32_t event = 0; event < p->types.len; event++) {
		struct view_spec spec = {
			.levels = { .len = 1, .items = { { .by = step->level } } },
			.event = event,
			.group_of = group_of,
		};
		struct view view;

		for (size_t i = 0; i < p->samples.len; i++)
			group_of[i] = PROFILE_NONE;
		view_build(&view, p, &spec);
		for (size_t i = 0; i < p->samples.len; i++)
			fits[i] |= group_of[i] != PROFILE_NONE &&
				   has_fields(view_key(&view, &view.groups.items[group_of[i]]), step);
		view_deinit(&view);
	}
	free(group_of);
}

static void narrow_as_before(struct browser *b)
{
	free(b->kept);
	b->kept = NULL;
	for (size_t i = 0; i < b->narrowings.len; i++) {
		const struct narrowing *step = &b->narrowings.items[i];
		bool *fits = memory_zeroed(b->profile->samples.len + 1, sizeof(*fits));

		if (step->function)
			fit_function(b, step, fits);
		else
			fit_group(b, step, fits);
		keep(&b->kept, b->profile, fits);
		free(fits);
	}
}

/* ---- the whole ---- */

static void discard(struct browser *b)
{
	if (!b->built)
		return;
	for (size_t i = 0; i < b->trees.len; i++)
		tree_free(b->trees.items[i]);
	b->trees.len = 0;
	b->rows.len = 0;
	view_deinit(&b->view);
	arena_reset(&b->arena);
	b->built = false;
}

/* After another table, event or narrowing. */
static void rebuild(struct browser *b)
{
	struct view_spec spec = {
		.levels = { .len = 1, .items = { { .by = tables[b->table].level } } },
		.event = b->event,
		.rows = b->kept,
	};
	uint32_t *group_of = NULL;

	discard(b);
	if (b->table == BROWSER_TIMELINE)
		group_of = memory_zeroed(b->profile->samples.len + 1, sizeof(*group_of));
	spec.group_of = group_of;
	for (size_t i = 0; group_of && i < b->profile->samples.len; i++)
		group_of[i] = PROFILE_NONE;
	view_build(&b->view, b->profile, &spec);
	view_sort(&b->view, VIEW_SORT_WEIGHT);
	b->built = true;
	if (is_tree(b))
		vec_push(&b->trees, tree_new(b, NULL, b->table == BROWSER_CALLS));
	for (size_t i = 0; b->table == BROWSER_TOTALS && i < b->view.groups.len; i++)
		vec_push(&b->trees, NULL);
	b->timelines = group_of ? thread_timelines(b->profile, group_of, b->view.groups.len, &b->arena) : NULL;
	free(group_of);
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

void browser_free(struct browser *b)
{
	if (!b)
		return;
	discard(b);
	free(b->kept);
	map_deinit(&b->unfolded);
	vec_deinit(&b->narrowings);
	vec_deinit(&b->trees);
	vec_deinit(&b->rows);
	arena_deinit(&b->arena);
	arena_deinit(&b->narrowed);
	free(b->search);
	free(b);
}

void browser_look_at(struct browser *b, const struct profile *p, uint32_t event)
{
	discard(b); /* it refers to the profile before */
	b->profile = p;
	b->event = event;
	narrow_as_before(b);
	rebuild(b);
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
	if (!browser_table_chooses(b->table))
		b->before = b->table;
	b->table = table;
	*b->search = 0;
	rebuild(b);
}

bool browser_shows_callees(const struct browser *b)
{
	return b->table == BROWSER_CALLS || (b->table == BROWSER_TOTALS && b->callees);
}

void browser_turn_round(struct browser *b)
{
	b->callees = !b->callees;
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

/* ---- folding ---- */

void browser_toggle(struct browser *b, size_t index)
{
	const struct browser_row *row = &b->rows.items[index];

	if (!row->unfolds)
		return;
	set_unfolded(b, row->key, !row->unfolded);
	list(b);
}

/* The tree of @row and its node there. */
static struct browser_tree *tree_of_row(struct browser *b, const struct browser_row *row, uint32_t *ret_node)
{
	bool is_group = b->table == BROWSER_TOTALS && row->depth == 0;
	struct browser_tree *tree = is_group ? tree_of_total(b, row->group) : row->tree;

	*ret_node = is_group ? top_of(b, tree) : row->node;
	return tree;
}

void browser_unfold_chain(struct browser *b, size_t index)
{
	struct browser_row row = b->rows.items[index];
	struct browser_tree *tree;
	uint32_t node;

	if (!row.unfolds)
		return;
	tree = tree_of_row(b, &row, &node);
	set_unfolded(b, row.key, true);
	for (unsigned i = 0; i < UNFOLD_DEPTH && tree->tree.nodes.items[node].count == 1; i++) {
		row = row_of_node(b, tree, tree->tree.order.items[tree->tree.nodes.items[node].first], row.key);
		node = row.node;
		set_unfolded(b, row.key, true);
	}
	list(b);
}

static void unfold_below(struct browser *b, struct browser_tree *tree, uint32_t parent, uint64_t above, int64_t least)
{
	const struct call_node *node = &tree->tree.nodes.items[parent];

	for (uint32_t i = 0; i < node->count; i++) {
		struct browser_row row = row_of_node(b, tree, tree->tree.order.items[node->first + i], above);

		if (row.sum.weight < least || !row.unfolds)
			continue;
		set_unfolded(b, row.key, true);
		unfold_below(b, tree, row.node, row.key, least);
	}
}

void browser_unfold_all(struct browser *b, double share)
{
	int64_t least = (int64_t)((double)browser_whole(b).weight * share);

	if (is_tree(b))
		unfold_below(b, b->trees.items[0], 0, root_key(b), least);
	for (size_t i = 0; b->table == BROWSER_TOTALS && i < b->rows.len; i++) {
		const struct browser_row *row = &b->rows.items[i];

		if (row->depth == 0 && row->unfolded)
			unfold_below(b, row->tree, top_of(b, row->tree), row->key, least);
	}
	list(b);
}

void browser_fold_all(struct browser *b)
{
	map_clear(&b->unfolded);
	list(b);
}

/* ---- steps ---- */

static void add_step(struct browser *b, struct narrowing *step, const char *noun, const struct browser_row *row,
		     const char *detail)
{
	const char *before = browser_narrowed(b);

	for (size_t i = 0; i < VIEW_FIELDS_MAX && step->fields[i]; i++)
		step->fields[i] = arena_strdup(&b->narrowed, step->fields[i]);
	step->text = arena_printf(&b->narrowed, "%s%s%s %s%s%s%s", before, *before ? ", " : "", noun, row->name,
				  *detail ? " (" : "", detail, *detail ? ")" : "");
	vec_push(&b->narrowings, *step);
	narrow_as_before(b);
}

void browser_narrow(struct browser *b, size_t index)
{
	static const char *const nouns[BROWSER_TABLES] = {
		[BROWSER_THREADS] = "thread", [BROWSER_TIMELINE] = "thread", [BROWSER_PROCESSES] = "process",
		[BROWSER_PROGRAMS] = "program", [BROWSER_MODULES] = "module", [BROWSER_LINES] = "line",
		[BROWSER_CGROUPS] = "cgroup",
	};
	const struct browser_row *row = &b->rows.items[index];
	bool with_detail = b->table == BROWSER_THREADS || b->table == BROWSER_PROCESSES || b->table == BROWSER_LINES;
	struct narrowing step = { .level = tables[b->table].level };

	if (!browser_table_chooses(b->table))
		return;
	const struct view_key *key = view_key(&b->view, &b->view.groups.items[row->group]);

	memcpy(step.fields, key->fields, sizeof(step.fields));
	add_step(b, &step, nouns[b->table], row, with_detail ? row->detail : "");
	b->table = b->before;
	*b->search = 0;
	rebuild(b);
}

bool browser_zoom(struct browser *b, size_t index)
{
	const struct browser_row *row = &b->rows.items[index];
	struct narrowing step = { .function = true, .fields = { row->name, row->detail } };

	if (browser_table_chooses(b->table) || *row->name == '[')
		return false;
	add_step(b, &step, "stacks with", row, "");
	rebuild(b);
	return true;
}

bool browser_widen(struct browser *b)
{
	if (!b->narrowings.len)
		return false;
	b->narrowings.len--;
	narrow_as_before(b);
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

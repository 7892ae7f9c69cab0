/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_tree.c - first the tree in the order in which it is found, each stack of the profile once; then everything
 * gets its final number.
 */
#include "report/page/flame_tree.h"

#include "report/view/path_tree.h"
#include "report/view/view_keys.h"

#include <string.h>

#define BINS_MAX 4096
#define MS       1000000u

struct builder {
	struct flame_tree *tree;
	const struct profile_facts *facts;
	const struct profile *p;
	struct arena arena;
	struct view_keys *keys;
	uint32_t *functions; /* by function of the profile: its number, or PROFILE_NONE */
	uint32_t *threads;   /* by thread of the profile */
	uint32_t *stacks;    /* by stack of the profile: its node; 0 for those without samples */
	struct path_tree found; /* of function << 1 | inlined */
	uint32_t *nodes; /* by found node: its number */
	uint32_t *rows;  /* by row of the profile */
};

/* ---- functions ---- */

static int compare_functions(const void *a, const void *b, void *context)
{
	const struct profile *p = context;
	const struct profile_function *fa = &p->functions.items[*(const uint32_t *)a];
	const struct profile_function *fb = &p->functions.items[*(const uint32_t *)b];
	int order = strcmp(profile_text(p, fa->name), profile_text(p, fb->name));

	return order ? order
		     : strcmp(profile_text(p, profile_module(p, fa->module)->path),
			      profile_text(p, profile_module(p, fb->module)->path));
}

/* Mark the stacks that have samples, and all below them. */
static void mark_stacks(struct builder *b)
{
	for (size_t i = 0; i < b->p->samples.len; i++) {
		uint32_t stack = b->p->samples.items[i].stack;

		for (; stack && !b->stacks[stack]; stack = b->p->stacks.items[stack].parent)
			b->stacks[stack] = 1;
	}
}

static void number_functions(struct builder *b)
{
	const struct profile *p = b->p;

	for (uint32_t i = 1; i < p->stacks.len; i++) {
		const struct profile_location *at = &p->locations.items[p->stacks.items[i].location];

		for (uint32_t line = 0; b->stacks[i] && line < at->nlines; line++) {
			uint32_t function = view_keys_function(
				b->keys, p->lines.items[at->first_line + line].function);

			if (b->functions[function] != PROFILE_NONE)
				continue;
			b->functions[function] = 0;
			vec_push(&b->tree->functions, function);
		}
	}
	if (b->tree->functions.len)
		qsort_r(b->tree->functions.items, b->tree->functions.len, sizeof(uint32_t),
			compare_functions, (void *)p);
	for (uint32_t i = 0; i < b->tree->functions.len; i++)
		b->functions[b->tree->functions.items[i]] = i;
}

/* ---- nodes ---- */

static void find_nodes(struct builder *b)
{
	const struct profile *p = b->p;

	for (uint32_t i = 1; i < p->stacks.len; i++) {
		const struct profile_location *at = &p->locations.items[p->stacks.items[i].location];
		uint32_t node = b->stacks[p->stacks.items[i].parent];

		if (!b->stacks[i])
			continue;
		for (uint32_t line = at->nlines; line-- > 0;) {
			uint32_t function = view_keys_function(
				b->keys, p->lines.items[at->first_line + line].function);
			bool inlined = line + 1 < at->nlines;

			node = path_tree_child(&b->found, node, b->functions[function] << 1 | inlined);
		}
		b->stacks[i] = node;
	}
}

static int compare_frames(const void *context, uint32_t a, uint32_t b)
{
	const struct path_tree *tree = context;

	return tree->nodes.items[a].key < tree->nodes.items[b].key ? -1 : 1;
}

/* From the root on, each node before its children, and those before its next brother. */
static void number_nodes(struct builder *b)
{
	struct flame_tree *tree = b->tree;
	const struct path_node *found = b->found.nodes.items;
	VEC(uint32_t) left = { 0 };

	path_tree_sort(&b->found, compare_frames, &b->found);
	b->nodes = ARENA_ARRAY(&b->arena, uint32_t, b->found.nodes.len);
	vec_push(&left, 0);
	while (left.len) {
		uint32_t at = left.items[--left.len], parent = found[at].parent;
		struct flame_tree_node node = { .function = PROFILE_NONE };

		if (at)
			node = (struct flame_tree_node){
				.parent = b->nodes[parent],
				.depth = tree->nodes.items[b->nodes[parent]].depth + 1,
				.function = found[at].key >> 1,
				.inlined = found[at].key & 1,
			};
		b->nodes[at] = (uint32_t)tree->nodes.len;
		vec_push(&tree->nodes, node);
		for (uint32_t i = found[at].count; i-- > 0;)
			vec_push(&left, b->found.order.items[found[at].first + i]);
	}
	vec_deinit(&left);
}

/* ---- rows ---- */

struct keyed_row {
	struct flame_tree_row row;
	uint32_t from; /* row of the profile */
};

static int compare_rows(const void *a, const void *b)
{
	const struct flame_tree_row *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (int)x->stop - (int)y->stop;
}

static uint32_t thread_of(struct builder *b, uint32_t thread)
{
	if (b->threads[thread] == PROFILE_NONE) {
		b->threads[thread] = (uint32_t)b->tree->threads.len;
		vec_push(&b->tree->threads, thread);
	}
	return b->threads[thread];
}

static void number_rows(struct builder *b)
{
	VEC(struct keyed_row) rows = { 0 };

	for (uint32_t i = 0; i < b->p->samples.len; i++) {
		const struct profile_sample *sample = &b->p->samples.items[i];
		struct keyed_row keyed = { .from = i };

		keyed.row.node = b->nodes[b->stacks[sample->stack]];
		keyed.row.thread = thread_of(b, sample->thread);
		keyed.row.cpu = sample->cpu;
		keyed.row.stop = sample->stop;
		vec_push(&rows, keyed);
	}
	vec_sort(&rows, compare_rows);
	for (size_t i = 0; i < rows.len; i++) {
		struct flame_tree *tree = b->tree;

		if (i == 0 || compare_rows(&rows.items[i - 1].row, &rows.items[i].row))
			vec_push(&tree->rows, rows.items[i].row);
		b->rows[rows.items[i].from] = (uint32_t)tree->rows.len - 1;
	}
	vec_deinit(&rows);
}

/* ---- time ---- */

static void set_clock(struct builder *b)
{
	static const uint32_t steps[] = { 1, 2, 5 };
	struct flame_tree_clock *clock = &b->tree->clock;
	uint64_t start_ns = b->facts->start_ns;
	uint64_t from_ns = MAX(start_ns, b->facts->from_ns);
	uint64_t to_ns = MIN(start_ns + b->facts->duration_ns, b->facts->to_ns);

	*clock = (struct flame_tree_clock){ .nbins = 1 };
	if (!b->p->times.len)
		return;
	to_ns = MAX(to_ns, b->p->times.last.time_ns + 1);
	from_ns -= start_ns;
	to_ns -= start_ns;
	clock->bin_ns = MS;
	for (unsigned i = 0; (to_ns - from_ns) / clock->bin_ns >= BINS_MAX - 1; i++) {
		clock->bin_ns = MS * steps[i % 3];
		for (unsigned tens = i / 3; tens; tens--)
			clock->bin_ns *= 10;
	}
	clock->start_ns = from_ns / clock->bin_ns * clock->bin_ns;
	clock->nbins = (uint32_t)((to_ns - 1 - clock->start_ns) / clock->bin_ns) + 1;
}

static uint32_t bin_of(const struct builder *b, uint64_t time_ns)
{
	const struct flame_tree_clock *clock = &b->tree->clock;
	uint64_t first_ns = b->facts->start_ns + clock->start_ns;

	return time_ns < first_ns ? 0 : (uint32_t)((time_ns - first_ns) / clock->bin_ns);
}

static int compare_samples(const void *a, const void *b)
{
	const struct flame_tree_sample *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->bin != y->bin)
		return x->bin < y->bin ? -1 : 1;
	return x->weight < y->weight ? -1 : x->weight > y->weight;
}

/* Equal ones that stand together become one with their sum of counts. */
static void merge_samples(struct flame_tree *tree)
{
	size_t kept = 0;

	vec_sort(&tree->samples, compare_samples);
	for (size_t i = 0; i < tree->samples.len; i++) {
		struct flame_tree_sample *sample = &tree->samples.items[i];

		if (kept && !compare_samples(&tree->samples.items[kept - 1], sample))
			tree->samples.items[kept - 1].count += sample->count;
		else
			tree->samples.items[kept++] = *sample;
	}
	tree->samples.len = kept;
}

/* Where no times were kept the mean stands for each weight. */
static void add_samples(struct builder *b)
{
	struct flame_tree *tree = b->tree;
	struct time_cursor cursor = time_series_begin(&b->p->times);
	struct profile_time when;

	while (time_series_next(&cursor, &when)) {
		struct flame_tree_sample sample = { b->p->samples.items[when.row].type,
						    b->rows[when.row], bin_of(b, when.time_ns), 1,
						    when.weight };

		vec_push(&tree->samples, sample);
	}
	for (uint32_t i = 0; !b->p->times.len && i < b->p->samples.len; i++) {
		const struct profile_sample *row = &b->p->samples.items[i];
		struct flame_tree_sample sample = { row->type, b->rows[i], 0, row->count,
						    row->weight / MAX(row->count, 1) };

		vec_push(&tree->samples, sample);
	}
	merge_samples(tree);
}

static uint32_t *numbers(struct arena *arena, size_t len, int byte)
{
	uint32_t *array = ARENA_ARRAY(arena, uint32_t, len + 1);

	memset(array, byte, (len + 1) * sizeof(*array));
	return array;
}

void flame_tree_init(struct flame_tree *tree, const struct profile *p, const struct profile_facts *facts)
{
	struct builder b = { .tree = tree, .facts = facts, .p = p };

	*tree = (struct flame_tree){ 0 };
	b.keys = view_keys_new(p, &(struct view_levels){ 0 }, &b.arena);
	b.functions = numbers(&b.arena, p->functions.len, 0xff);
	b.threads = numbers(&b.arena, p->threads.len, 0xff);
	b.stacks = numbers(&b.arena, p->stacks.len, 0);
	b.rows = numbers(&b.arena, p->samples.len, 0);

	path_tree_init(&b.found);
	mark_stacks(&b);
	number_functions(&b);
	find_nodes(&b);
	number_nodes(&b);
	number_rows(&b);
	set_clock(&b);
	add_samples(&b);

	path_tree_deinit(&b.found);
	view_keys_free(b.keys);
	arena_deinit(&b.arena);
}

void flame_tree_deinit(struct flame_tree *tree)
{
	vec_deinit(&tree->functions);
	vec_deinit(&tree->threads);
	vec_deinit(&tree->nodes);
	vec_deinit(&tree->rows);
	vec_deinit(&tree->samples);
}

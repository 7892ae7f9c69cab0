/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_tree.c - parents may have larger numbers than their children, and in a damaged recording parents may form a ring:
 * a process that cannot be reached from the top is put there.
 */
#include "report/view/process_tree.h"

#include "report/view/stats.h"

#include <stdlib.h>

#define DEPTH_MAX 1000 /* deeper ones are drawn at this depth */

struct walk {
	const struct profile *p;
	uint32_t *by_parent; /* processes from 1 on, those of one parent together, in order */
	uint32_t *first;     /* by process: where its children begin in @by_parent */
	bool *visited;
	VEC(struct process_row) todo;
	VEC(struct process_row) order; /* all of them, depth first */
};

static uint64_t begin_of(const struct profile_process *process)
{
	return process->has_start ? process->start_ns : 0;
}

static int by_parent_and_begin(const void *a, const void *b, void *profile)
{
	const struct profile *p = profile;
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
	const struct profile_process *x = &p->processes.items[one], *y = &p->processes.items[other];

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (begin_of(x) != begin_of(y))
		return begin_of(x) < begin_of(y) ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return one < other ? -1 : one > other;
}

static void sort_children(struct walk *walk)
{
	const struct profile *p = walk->p;
	size_t count = p->processes.len;

	for (uint32_t i = 1; i < count; i++)
		walk->by_parent[i - 1] = i;
	qsort_r(walk->by_parent, count - 1, sizeof(uint32_t), by_parent_and_begin, (void *)p);
	for (size_t i = count - 1; i-- > 0;)
		walk->first[p->processes.items[walk->by_parent[i]].parent] = (uint32_t)i;
}

static void push_children(struct walk *walk, uint32_t parent, uint32_t depth)
{
	size_t from = walk->first[parent], to = from;
	const struct profile *p = walk->p;

	while (to < p->processes.len - 1 && p->processes.items[walk->by_parent[to]].parent == parent)
		to++;
	/* The first one is taken first. */
	while (to-- > from)
		vec_push(&walk->todo, ((struct process_row){ walk->by_parent[to], depth }));
}

static void visit_all(struct walk *walk)
{
	while (walk->todo.len) {
		struct process_row row = walk->todo.items[--walk->todo.len];

		if (walk->visited[row.process])
			continue;
		walk->visited[row.process] = true;
		vec_push(&walk->order, row);
		push_children(walk, row.process, MIN(row.depth + 1, (uint32_t)DEPTH_MAX));
	}
}

static void walk_tree(struct walk *walk)
{
	sort_children(walk);
	push_children(walk, 0, 0);
	visit_all(walk);
	for (uint32_t i = 1; i < walk->p->processes.len; i++) {
		vec_push(&walk->todo, ((struct process_row){ i, 0 }));
		visit_all(walk);
	}
}

static void add_samples(struct process_tree *tree, uint32_t event)
{
	const struct profile *p = tree->profile;

	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];

		if (row->type != event)
			continue;
		stats_add(&tree->nodes[p->threads.items[row->thread].life].own, row);
		stats_add(&tree->all, row);
	}
}

/* From the leaves up. Parents come before their children, but for rings, whose sums stay below. */
static void add_up(struct process_tree *tree, const struct walk *walk, bool all)
{
	for (size_t i = walk->order.len; i-- > 0;) {
		uint32_t number = walk->order.items[i].process;
		const struct profile_process *process = &tree->profile->processes.items[number];
		struct process_node *node = &tree->nodes[number];
		struct process_node *parent = &tree->nodes[process->parent];

		stats_add_sum(&node->whole, &node->own);
		node->shown |= all || process->has_start || process->has_exec ||
			       process->has_exit || node->whole.count;
		if (!walk->order.items[i].depth)
			continue;
		stats_add_sum(&parent->whole, &node->whole);
		parent->shown |= node->shown;
	}
}

void process_tree_build(struct process_tree *tree, const struct profile *p, uint32_t event, bool all)
{
	struct walk walk = { .p = p };
	size_t count = p->processes.len;

	*tree = (struct process_tree){ .profile = p };
	tree->nodes = memory_zeroed(count + 1, sizeof(*tree->nodes));
	walk.by_parent = memory_zeroed(count + 1, sizeof(*walk.by_parent));
	walk.first = memory_zeroed(count + 1, sizeof(*walk.first));
	walk.visited = memory_zeroed(count + 1, sizeof(*walk.visited));
	for (size_t i = 0; i < count; i++)
		walk.first[i] = (uint32_t)count; /* no children */
	walk_tree(&walk);
	add_samples(tree, event);
	add_up(tree, &walk, all);
	for (size_t i = 0; i < walk.order.len; i++) {
		if (tree->nodes[walk.order.items[i].process].shown)
			vec_push(&tree->rows, walk.order.items[i]);
	}
	free(walk.by_parent);
	free(walk.first);
	free(walk.visited);
	vec_deinit(&walk.todo);
	vec_deinit(&walk.order);
}

void process_tree_deinit(struct process_tree *tree)
{
	free(tree->nodes);
	vec_deinit(&tree->rows);
}

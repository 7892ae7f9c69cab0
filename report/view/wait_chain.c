/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_chain.c - the waits of each thread in order of time, so that those that lie within another's are found at once.
 */
#include "report/view/wait_chain.h"

#include "formats/base/bisect.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"
#include "report/view/view_keys.h"
#include "report/view/wait_frames.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define RUNS UINT32_MAX /* in place of a function */

struct span {
	uint64_t from_ns, to_ns;
	uint32_t row;
};

/* Spans of one thread; they follow each other. */
struct thread_spans {
	uint32_t thread; /* of the profile, under its latest name */
	VEC(struct span) spans;
};

/* What a row of the profile says. */
struct meaning {
	uint32_t function; /* group of its leaf */
	enum wait_kind kind;
	uint32_t waker;	   /* thread's number; 0: not known */
};

struct node {
	uint32_t thread_name, function, kind;
	uint64_t waits, ns, longest_ns;
	unsigned depth;
	VEC(uint32_t) below;
};

struct collector {
	const struct profile *p;
	struct map numbers; /* tid -> number in threads + 1 */
	VEC(struct thread_spans) threads;
	struct meaning *meanings; /* by row */
	VEC(const char *) functions;
	struct map places; /* parent, name, function, kind -> node */
	VEC(struct node) nodes; /* [0] is the root */
	uint32_t path[WAIT_CHAIN_DEPTH]; /* tids */
	uint64_t steps;
};

/* ---- who waited when ---- */

static uint32_t tid_of(const struct collector *c, uint32_t row)
{
	return c->p->threads.items[c->p->samples.items[row].thread].tid;
}

static struct thread_spans *spans_of(struct collector *c, uint32_t tid, uint32_t thread)
{
	bool fresh;
	uint64_t *number = map_put(&c->numbers, tid, &fresh);

	if (fresh) {
		vec_push(&c->threads, ((struct thread_spans){ .thread = thread }));
		*number = c->threads.len;
	}
	return &c->threads.items[*number - 1];
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return COMPARE(x->from_ns, y->from_ns);
}

static void gather(struct collector *c, uint32_t event)
{
	struct time_cursor cursor = time_series_begin(&c->p->times);
	struct profile_time at;

	while (time_series_next(&cursor, &at)) {
		const struct profile_sample *row = &c->p->samples.items[at.row];

		if (at.has_duration && row->type == event)
			vec_push(&spans_of(c, tid_of(c, at.row), row->thread)->spans,
				 ((struct span){ at.time_ns, at.time_ns + at.duration_ns, at.row }));
	}
	for (size_t i = 0; i < c->threads.len; i++) {
		struct thread_spans *t = &c->threads.items[i];

		vec_sort(&t->spans, compare_spans);
		t->thread = c->p->samples.items[t->spans.items[t->spans.len - 1].row].thread;
	}
}

/* "name 1234" */
static uint32_t waker_of(const struct profile *p, const struct profile_sample *row)
{
	const struct profile_label_set *set = &p->label_sets.items[row->labels];

	for (uint32_t i = 0; i < set->count; i++) {
		const struct profile_label *label = &p->labels.items[set->first + i];
		const char *number = strrchr(profile_text(p, label->text), ' ');
		uint64_t tid;

		if (!strcmp(profile_text(p, label->key), "waker") && number &&
		    text_parse_u64(number + 1, &tid) && tid < UINT32_MAX)
			return (uint32_t)tid;
	}
	return 0;
}

static void find_meanings(struct collector *c, struct wait_chain *chain, uint32_t event)
{
	struct view_levels levels = { .items = { { VIEW_LEAF, 0 } }, .len = 1 };
	struct view_keys *keys = view_keys_new(c->p, &levels, &chain->arena);
	struct view_paths paths = { .profile = c->p, .functions = view_keys_functions(keys), .frames_max = SIZE_MAX };
	struct view_path path;

	c->meanings = memory_zeroed(c->p->samples.len + 1, sizeof(*c->meanings));
	for (uint32_t i = 0; i < c->p->samples.len; i++) {
		const struct profile_sample *row = &c->p->samples.items[i];
		struct meaning *meaning = &c->meanings[i];

		if (row->type != event || !view_paths_make(&paths, row, &path))
			continue;
		meaning->function = view_keys_find(keys, 0, &path, 0);
		meaning->kind = wait_frames_kind(c->p, row);
		if (row->state == PROFILE_STATE_BLOCKED && wait_kind_is_ended_by_thread(meaning->kind))
			meaning->waker = waker_of(c->p, row);
		while (c->functions.len <= meaning->function)
			vec_push(&c->functions, "");
		c->functions.items[meaning->function] = view_keys_get(keys, 0, meaning->function)->fields[0];
		chain->with_wakers |= waker_of(c->p, row) != 0;
	}
	view_paths_deinit(&paths);
	view_keys_free(keys);
}

/* ---- chains ---- */

static uint32_t add_node(struct collector *c, uint32_t parent, uint32_t thread, uint32_t function,
			 enum wait_kind kind)
{
	uint32_t name = c->p->threads.items[thread].comm;
	uint64_t key = map_hash((uint64_t)parent << 32 | name) ^ ((uint64_t)function << 8 | kind);
	bool fresh;
	uint64_t *number = map_put(&c->places, map_hash(key), &fresh);

	if (fresh) {
		*number = c->nodes.len;
		vec_push(&c->nodes, ((struct node){ .thread_name = name, .function = function, .kind = kind,
						    .depth = parent ? c->nodes.items[parent].depth + 1 : 0 }));
		vec_push(&c->nodes.items[parent].below, (uint32_t)*number);
	}
	return (uint32_t)*number;
}

static void count_into(struct collector *c, uint32_t node, uint64_t ns)
{
	struct node *n = &c->nodes.items[node];

	n->waits++;
	n->ns += ns;
	n->longest_ns = MAX(n->longest_ns, ns);
}

/* The first span that ends after @from_ns. */
static size_t first_span(const struct thread_spans *t, uint64_t from_ns)
{
	return BISECT(t->spans.len, i, t->spans.items[i].to_ns <= from_ns);
}

static bool is_on_path(const struct collector *c, unsigned depth, uint32_t tid)
{
	for (unsigned i = 0; i < depth; i++)
		if (c->path[i] == tid)
			return true;
	return false;
}

static void descend(struct collector *c, uint32_t parent, const struct span *wait, unsigned depth);

/* What the thread of @t did from @from_ns to @to_ns, below @parent. */
static void tell(struct collector *c, uint32_t parent, const struct thread_spans *t, const struct span *window,
		 unsigned depth)
{
	uint64_t runs_ns = window->to_ns - window->from_ns;

	for (size_t i = first_span(t, window->from_ns); i < t->spans.len && c->steps < WAIT_CHAIN_STEPS; i++) {
		struct span part = t->spans.items[i];
		const struct meaning *meaning = &c->meanings[part.row];
		uint32_t node;

		if (part.from_ns >= window->to_ns)
			break;
		c->steps++;
		part.from_ns = MAX(part.from_ns, window->from_ns);
		part.to_ns = MIN(part.to_ns, window->to_ns);
		node = add_node(c, parent, c->p->samples.items[part.row].thread, meaning->function, meaning->kind);
		count_into(c, node, part.to_ns - part.from_ns);
		runs_ns -= MIN(runs_ns, part.to_ns - part.from_ns);
		descend(c, node, &part, depth);
	}
	if (runs_ns)
		count_into(c, add_node(c, parent, t->thread, RUNS, WAIT_ON_CPU), runs_ns);
}

/* Recursion as deep as WAIT_CHAIN_DEPTH. */
static void descend(struct collector *c, uint32_t parent, const struct span *wait, unsigned depth)
{
	uint32_t waker = c->meanings[wait->row].waker;
	const uint64_t *number = waker ? map_get(&c->numbers, waker) : NULL;

	c->path[depth] = tid_of(c, wait->row);
	if (!number || depth + 1 >= WAIT_CHAIN_DEPTH || is_on_path(c, depth + 1, waker))
		return;
	tell(c, parent, &c->threads.items[*number - 1], wait, depth + 1);
}

static bool is_meant(const struct collector *c, const struct thread_spans *t, const struct span *span, const char *who)
{
	const struct profile_thread *thread = &c->p->threads.items[t->thread];
	const char *name = profile_text(c->p, c->p->threads.items[c->p->samples.items[span->row].thread].comm);
	uint64_t tid;

	if (text_parse_u64(who, &tid))
		return thread->tid == tid;
	return fnmatch(who, name, 0) == 0 || !strcmp(who, c->functions.items[c->meanings[span->row].function]);
}

static void tell_waits(struct collector *c, struct wait_chain *chain, const char *who)
{
	for (size_t i = 0; i < c->threads.len; i++) {
		const struct thread_spans *t = &c->threads.items[i];

		for (size_t j = 0; j < t->spans.len && c->steps < WAIT_CHAIN_STEPS; j++) {
			const struct span *span = &t->spans.items[j];
			const struct meaning *meaning = &c->meanings[span->row];
			uint32_t node;

			if (!is_meant(c, t, span, who))
				continue;
			c->steps++;
			node = add_node(c, 0, c->p->samples.items[span->row].thread, meaning->function, meaning->kind);
			count_into(c, node, span->to_ns - span->from_ns);
			chain->waits++;
			chain->ns += span->to_ns - span->from_ns;
			descend(c, node, span, 0);
		}
	}
	chain->cut = c->steps >= WAIT_CHAIN_STEPS;
}

/* ---- rows ---- */

struct order {
	const char *thread, *function;
	uint64_t ns;
	uint32_t node;
};

static const char *function_of(const struct collector *c, const struct node *n)
{
	return n->function == RUNS ? NULL : c->functions.items[n->function];
}

static int compare_orders(const void *left, const void *right)
{
	const struct order *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	int order = strcmp(a->thread, b->thread);

	return order ? order : strcmp(a->function ? a->function : "", b->function ? b->function : "");
}

static void put_rows(struct collector *c, struct wait_chain *chain, uint32_t parent)
{
	const struct node *above = &c->nodes.items[parent];
	VEC(struct order) orders = { 0 };

	for (size_t i = 0; i < above->below.len; i++) {
		const struct node *n = &c->nodes.items[above->below.items[i]];

		vec_push(&orders, ((struct order){ profile_text(c->p, n->thread_name), function_of(c, n), n->ns,
						   above->below.items[i] }));
	}
	vec_sort(&orders, compare_orders);
	for (size_t i = 0; i < orders.len; i++) {
		const struct order *at = &orders.items[i];
		const struct node *n = &c->nodes.items[at->node];

		vec_push(&chain->rows, ((struct wait_chain_row){
					       .depth = n->depth,
					       .thread = at->thread,
					       .function = at->function,
					       .kind = n->function == RUNS ? "" : wait_kind_name((enum wait_kind)n->kind),
					       .waits = n->waits,
					       .ns = n->ns,
					       .longest_ns = n->longest_ns }));
		put_rows(c, chain, at->node);
	}
	vec_deinit(&orders);
}

void wait_chain_collect(struct wait_chain *chain, const struct profile *p, uint32_t event, const char *who)
{
	struct collector c = { .p = p };

	vec_push(&c.nodes, ((struct node){ 0 }));
	gather(&c, event);
	find_meanings(&c, chain, event);
	tell_waits(&c, chain, who);
	put_rows(&c, chain, 0);
	for (size_t i = 0; i < c.threads.len; i++)
		vec_deinit(&c.threads.items[i].spans);
	for (size_t i = 0; i < c.nodes.len; i++)
		vec_deinit(&c.nodes.items[i].below);
	vec_deinit(&c.threads);
	vec_deinit(&c.nodes);
	vec_deinit(&c.functions);
	map_deinit(&c.numbers);
	map_deinit(&c.places);
	free(c.meanings);
}

void wait_chain_deinit(struct wait_chain *chain)
{
	vec_deinit(&chain->rows);
	arena_deinit(&chain->arena);
}

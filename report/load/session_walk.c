/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_walk.c - batches of events: prepared in order, walked by anybody, taken in order.
 *
 *	owner     prepare 5      take 2   prepare 6      take 3 …
 *	walkers   walk 3 ─────────► walk 5 …
 *	          walk 4 ───────────────► walk 6 …
 *
 * The owner's part is what depends on order: names of threads, the filter, the trie. While it waits it walks, too.
 */
#include "report/load/session_walk.h"

#include "formats/base/memory.h"
#include "symbolize/unwind/walkers.h"

#include <stdlib.h>

/* More would wait for the one that puts everything in order, and cost memory. */
#define THREADS_MAX 8

/* What prepare() found out of an event that passes. */
struct ready {
	uint32_t number; /* of the event in its batch */
	struct space_thread thread;
};

struct ready_list {
	VEC(struct ready) items;
};

unsigned session_walk_threads(const struct session *s)
{
	if (!event_source_has_batches(s->source))
		return 1;
	return (unsigned)MIN(MAX(s->args->threads, 1), THREADS_MAX);
}

static void prepare(struct session *s, const struct session_walk *walk, struct walk_batch *batch)
{
	struct ready_list *list = batch->context;

	if (!list)
		batch->context = list = memory_zeroed(1, sizeof(*list));
	list->items.len = 0;
	for (uint32_t i = 0; i < batch->events.events.len; i++) {
		const struct event *ev = batch->events.events.items[i];
		const struct space_thread *thread;
		bool passes = walk->passes(s, ev, &thread);

		vec_push(&batch->wanted, passes && ev->kind == EVENT_SAMPLE);
		if (passes)
			vec_push(&list->items, ((struct ready){ i, *thread }));
	}
}

/* The stack of a sample, and how its chain ended. */
static uint32_t add_stack(struct session *s, const struct walked *walked,
			  struct session_stacks *stacks, const struct chain_node *fresh,
			  struct unwind_chain *ret)
{
	*ret = (struct unwind_chain){ .stop = walked->stop };
	if (walked->stop_module)
		ret->stop_module = module_table_get(s->modules, walked->stop_module - 1);
	session_stacks_add(s, stacks, fresh, walked->nfresh);
	return stacks->of.items[walked->leaf];
}

static struct err *take(struct session *s, const struct session_walk *walk,
			struct session_stacks *stacks, struct walk_batch *batch,
			const struct session_visitor *visitor)
{
	const struct ready_list *list = batch->context;
	const struct walked *walked = batch->walked.items;
	const struct chain_node *fresh = batch->fresh.items;
	struct unwind_chain chain;
	size_t next = 0;

	for (uint32_t i = 0; i < batch->events.events.len; i++) {
		const struct event *ev = batch->events.events.items[i];
		struct session_event event = { .ev = ev };
		struct err *err;

		walk->count(s, ev);
		if (next == list->items.len || list->items.items[next].number != i)
			continue;
		event.thread = &list->items.items[next++].thread;
		if (batch->wanted.items[i]) {
			event.stack = add_stack(s, walked, stacks, fresh, &chain);
			event.chain = &chain;
			fresh += walked++->nfresh;
		}
		err = walk->take(s, &event, visitor);
		if (err)
			return err;
	}
	return NULL;
}

/* Hand the next batch over; false if there is no room, or no more events. */
static bool hand_over(struct session *s, const struct session_walk *walk, struct walkers *walkers)
{
	struct walk_batch *batch = walkers_room(walkers);

	if (!batch || !event_source_next_batch(s->source, WALKERS_BATCH, &batch->events))
		return false;
	prepare(s, walk, batch);
	walkers_submit(walkers, batch);
	return true;
}

/* A batch that is walked is taken before more is prepared: what comes of it may give others work. */
static struct err *walk_all(struct session *s, const struct session_walk *walk,
			    struct walkers *walkers, struct session_stacks stacks[],
			    const struct session_visitor *visitor)
{
	struct walk_batch *batch;

	for (;;) {
		struct err *err;

		while (!walkers_ready(walkers) && hand_over(s, walk, walkers))
			;
		batch = walkers_oldest(walkers);
		if (!batch)
			return NULL;
		err = take(s, walk, &stacks[batch->worker], batch, visitor);
		if (err)
			return err;
		event_source_release(s->source, &batch->events);
		walkers_done(walkers, batch);
	}
}

static void free_ready(struct session *s, struct walkers *walkers)
{
	struct walk_batch *batch;
	size_t pos = 0;

	while (walkers_each(walkers, &pos, &batch)) {
		struct ready_list *list = batch->context;

		event_source_release(s->source, &batch->events);
		if (list)
			vec_deinit(&list->items);
		free(list);
	}
}

struct err *session_walk(struct session *s, const struct session_walk *walk,
			 const struct session_visitor *visitor)
{
	struct session_stacks stacks[POOL_THREADS_MAX] = { 0 }; /* of each walker's trie */
	struct walkers *walkers = walkers_new(s->modules, s->search, s->pool);
	struct err *err;

	event_source_use_pool(s->source, s->pool);
	err = walk_all(s, walk, walkers, stacks, visitor);
	walkers_settle(walkers);
	free_ready(s, walkers);
	walkers_free(walkers);
	event_source_use_pool(s->source, NULL);
	for (unsigned i = 0; i < POOL_THREADS_MAX; i++)
		vec_deinit(&stacks[i].of);
	return err;
}

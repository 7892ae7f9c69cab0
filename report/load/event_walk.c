/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_walk.c - batches of events: prepared in order, walked by any thread, taken in order.
 *
 *	owner     prepare 5      take 2   prepare 6      take 3 …
 *	walkers   walk 3 ─────────► walk 5 …
 *	          walk 4 ───────────────► walk 6 …
 *
 * The owner's part is what depends on order: names of threads, the filter, the trie. While it waits it walks, too.
 */
#include "report/load/event_walk.h"

#include "formats/base/memory.h"
#include "symbolize/unwind/walkers.h"

#include <stdlib.h>

/* What prepare() found out of an event that passes. */
struct ready {
	uint32_t number; /* of the event in its batch */
	struct space_thread thread;
};

struct ready_list {
	VEC(struct ready) items;
};

static void prepare(const struct event_walk *walk, struct walk_batch *batch)
{
	struct ready_list *list = batch->context;

	if (!list)
		batch->context = list = memory_zeroed(1, sizeof(*list));
	list->items.len = 0;
	for (uint32_t i = 0; i < batch->events.events.len; i++) {
		const struct event *ev = batch->events.events.items[i];
		const struct space_thread *thread;
		bool passes = walk->passes(walk->context, ev, &thread);

		vec_push(&batch->wanted, passes && ev->kind == EVENT_SAMPLE);
		if (passes)
			vec_push(&list->items, ((struct ready){ i, *thread }));
	}
}

/* The stack of a sample, and how its chain ended. */
static uint32_t add_stack(const struct event_walk *walk, const struct walked *walked,
			  struct event_walk_stacks *stacks, const struct chain_node *fresh,
			  struct unwind_chain *ret)
{
	*ret = (struct unwind_chain){ .stop = walked->stop, .folded = walked->folded };
	if (walked->stop_module)
		ret->stop_module = module_table_get(walk->modules, walked->stop_module - 1);
	walk->add_stacks(walk->context, stacks, fresh, walked->nfresh);
	return stacks->of.items[walked->leaf];
}

static struct err *take(const struct event_walk *walk, struct event_walk_stacks *stacks,
			struct walk_batch *batch)
{
	const struct ready_list *list = batch->context;
	const struct walked *walked = batch->walked.items;
	const struct chain_node *fresh = batch->fresh.items;
	struct unwind_chain chain;
	size_t next = 0;

	for (uint32_t i = 0; i < batch->events.events.len; i++) {
		const struct event *ev = batch->events.events.items[i];
		struct walked_event event = { .ev = ev };
		struct err *err;

		walk->count(walk->context, ev);
		if (next == list->items.len || list->items.items[next].number != i)
			continue;
		event.thread = &list->items.items[next++].thread;
		if (batch->wanted.items[i]) {
			event.stack = add_stack(walk, walked, stacks, fresh, &chain);
			event.chain = &chain;
			fresh += walked++->nfresh;
		}
		err = walk->take(walk->context, &event);
		if (err)
			return err;
	}
	return NULL;
}

/* Hand the next batch over; false if there is no room, or no more events. */
static bool hand_over(const struct event_walk *walk, struct walkers *walkers)
{
	struct walk_batch *batch = walkers_room(walkers);

	if (!batch || !event_source_next_batch(walk->source, WALKERS_BATCH, &batch->events))
		return false;
	prepare(walk, batch);
	walkers_submit(walkers, batch);
	return true;
}

/* A batch that is walked is taken before more is prepared: what comes of it may give others work. */
static struct err *walk_all(const struct event_walk *walk, struct walkers *walkers,
			    struct event_walk_stacks stacks[])
{
	struct walk_batch *batch;

	for (;;) {
		struct err *err;

		while (!walkers_ready(walkers) && hand_over(walk, walkers))
			;
		batch = walkers_oldest(walkers);
		if (!batch)
			return NULL;
		err = take(walk, &stacks[batch->worker], batch);
		if (err)
			return err;
		event_source_release(walk->source, &batch->events);
		walkers_done(walkers, batch);
	}
}

static void free_ready(const struct event_walk *walk, struct walkers *walkers)
{
	struct walk_batch *batch;
	size_t pos = 0;

	while (walkers_each(walkers, &pos, &batch)) {
		struct ready_list *list = batch->context;

		event_source_release(walk->source, &batch->events);
		if (list)
			vec_deinit(&list->items);
		free(list);
	}
}

static struct err *walk_alone(const struct event_walk *walk)
{
	struct unwind_chain chain;
	struct event ev;

	while (event_source_next(walk->source, &ev)) {
		struct walked_event event = { .ev = &ev };
		struct err *err;

		walk->count(walk->context, &ev);
		if (!walk->passes(walk->context, &ev, &event.thread))
			continue;
		if (ev.kind == EVENT_SAMPLE && !walk->flat) {
			unwinder_walk(walk->unwinder, &ev, &chain);
			event.chain = &chain;
			event.stack = walk->add_chain(walk->context, &chain);
		}
		err = walk->take(walk->context, &event);
		if (err)
			return err;
	}
	return NULL;
}

static struct err *walk_with_threads(const struct event_walk *walk)
{
	struct event_walk_stacks stacks[POOL_THREADS_MAX] = { 0 }; /* of each walker's trie */
	struct walkers *walkers = walkers_new(walk->modules, walk->search, walk->pool);
	struct err *err;

	event_source_use_pool(walk->source, walk->pool);
	err = walk_all(walk, walkers, stacks);
	walkers_settle(walkers);
	free_ready(walk, walkers);
	walkers_free(walkers);
	event_source_use_pool(walk->source, NULL);
	for (unsigned i = 0; i < POOL_THREADS_MAX; i++)
		vec_deinit(&stacks[i].of);
	return err;
}

struct err *event_walk(const struct event_walk *walk)
{
	return walk->pool && !walk->flat ? walk_with_threads(walk) : walk_alone(walk);
}

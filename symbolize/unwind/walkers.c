/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walkers.c - a ring of batches, and a machine for each thread.
 *
 * Whoever takes up a batch first takes in the side-band of those before it that it has not seen. Before a batch leaves
 * the ring, its owner makes sure that every machine has.
 */
#include "symbolize/unwind/walkers.h"

#include "formats/base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define BATCHES_MAX (8 * POOL_THREADS_MAX + 4)

struct machine {
	pthread_mutex_t lock;	    /* the pool gives it to one thread at a time, but the owner catches up too */
	_Atomic uint64_t seen;	    /* batches whose side-band was taken in, or is just being */
	struct diag diag;	    /* repeated by the caller's table, so not needed */
	struct module_table *modules;
	struct space_table *spaces;
	struct unwinder *unwinder;
	struct chain_trie trie;
};

struct walkers {
	struct module_table *modules;
	struct pool *pool;
	unsigned nmachines;
	struct machine *machines;
	size_t nbatches;
	uint64_t submitted, done; /* batches so far */
	struct walk_batch batches[BATCHES_MAX];
};

static struct walk_batch *batch_of(struct walkers *w, uint64_t number)
{
	return &w->batches[number % w->nbatches];
}

struct walkers *walkers_new(struct module_table *modules, const struct module_search *search,
			    struct pool *pool)
{
	struct walkers *w = memory_zeroed(1, sizeof(*w));

	w->modules = modules;
	module_table_prepare(modules);
	w->pool = pool;
	w->nmachines = pool_threads(pool);
	w->nbatches = 8 * w->nmachines + 4;
	w->machines = memory_zeroed(w->nmachines, sizeof(*w->machines));
	for (unsigned i = 0; i < w->nmachines; i++) {
		struct machine *m = &w->machines[i];

		pthread_mutex_init(&m->lock, NULL);
		m->modules = module_table_new(module_table_recording(modules), search, &m->diag);
		module_table_prepare(m->modules); /* not when the first walker needs one */
		m->spaces = space_table_new(m->modules);
		m->unwinder = unwinder_new(m->modules, m->spaces, NULL);
		chain_trie_add(&m->trie, &(struct unwind_chain){ 0 }); /* the root */
	}
	return w;
}

static void free_machine(struct machine *m)
{
	chain_trie_deinit(&m->trie);
	unwinder_free(m->unwinder);
	space_table_free(m->spaces);
	module_table_free(m->modules);
	diag_deinit(&m->diag);
	pthread_mutex_destroy(&m->lock);
}

/* In the order of modules, whichever thread opened them. */
static void open_what_was_opened(struct walkers *w)
{
	size_t count = module_table_len(w->modules);

	for (uint32_t id = 0; id < count; id++) {
		bool opened = false;

		for (unsigned i = 0; i < w->nmachines && !opened; i++) {
			const struct module_table *own = w->machines[i].modules;

			opened = id < module_table_len(own) &&
				 module_status(module_table_get(own, id)) != MODULE_NOT_TRIED;
		}
		if (!opened)
			continue;
		module_image(w->modules, module_table_get(w->modules, id));
		for (unsigned i = 0; i < w->nmachines; i++) {
			const struct module_table *own = w->machines[i].modules;

			if (id < module_table_len(own))
				module_take_defects(module_table_get(w->modules, id),
						    module_table_get(own, id));
		}
	}
}

void walkers_settle(struct walkers *w)
{
	for (; w->done < w->submitted; w->done++)
		pool_wait(w->pool, &batch_of(w, w->done)->task);
}

void walkers_free(struct walkers *w)
{
	if (!w)
		return;
	walkers_settle(w);
	open_what_was_opened(w);
	for (unsigned i = 0; i < w->nmachines; i++)
		free_machine(&w->machines[i]);
	for (size_t i = 0; i < w->nbatches; i++) {
		event_batch_deinit(&w->batches[i].events);
		vec_deinit(&w->batches[i].wanted);
		vec_deinit(&w->batches[i].walked);
		vec_deinit(&w->batches[i].fresh);
	}
	free(w->machines);
	free(w);
}

/* ---- walking, in any thread ------------------------------------------------------------------------- */

static void take_in(struct machine *m, const struct walk_batch *batch)
{
	for (size_t i = 0; i < batch->events.events.len; i++) {
		if (batch->events.events.items[i]->kind != EVENT_SAMPLE)
			space_table_apply(m->spaces, batch->events.events.items[i]);
	}
}

/* Locked. */
static void catch_up(struct machine *m, struct walkers *w, uint64_t number)
{
	uint64_t seen = atomic_load_explicit(&m->seen, memory_order_relaxed);

	for (; seen < number; seen++)
		take_in(m, batch_of(w, seen));
	atomic_store_explicit(&m->seen, number, memory_order_release);
}

static void keep(struct machine *m, struct walk_batch *batch, const struct unwind_chain *chain)
{
	size_t known = m->trie.nodes.len;
	struct walked walked = { .leaf = chain_trie_add(&m->trie, chain), .stop = chain->stop, .folded = chain->folded };

	walked.nfresh = (uint32_t)(m->trie.nodes.len - known);
	walked.stop_module = chain->stop_module ? chain->stop_module->id + 1 : 0;
	vec_push(&batch->walked, walked);
	vec_append(&batch->fresh, m->trie.nodes.items + known, walked.nfresh);
}

static void walk(struct pool_task *task, unsigned worker)
{
	struct walk_batch *batch = (struct walk_batch *)(void *)task;
	struct walkers *w = batch->walkers;
	struct machine *m = &w->machines[worker];
	struct unwind_chain chain;

	batch->worker = worker;
	pthread_mutex_lock(&m->lock);
	catch_up(m, w, batch->number);
	atomic_store_explicit(&m->seen, batch->number + 1, memory_order_release);
	for (size_t i = 0; i < batch->events.events.len; i++) {
		const struct event *ev = batch->events.events.items[i];

		if (ev->kind != EVENT_SAMPLE) {
			space_table_apply(m->spaces, ev);
		} else if (batch->wanted.items[i]) {
			unwinder_walk(m->unwinder, ev, &chain);
			keep(m, batch, &chain);
		}
	}
	pthread_mutex_unlock(&m->lock);
}

/* ---- the owner -------------------------------------------------------------------------------------- */

struct walk_batch *walkers_room(struct walkers *w)
{
	struct walk_batch *batch = batch_of(w, w->submitted);

	if (w->submitted - w->done == w->nbatches)
		return NULL;
	batch->walkers = w;
	batch->number = w->submitted;
	batch->task.run = walk;
	batch->wanted.len = batch->walked.len = batch->fresh.len = 0;
	return batch;
}

void walkers_submit(struct walkers *w, struct walk_batch *batch)
{
	w->submitted++;
	pool_submit(w->pool, &batch->task);
}

bool walkers_ready(const struct walkers *w)
{
	return w->done < w->submitted &&
	       pool_done(w->pool, &w->batches[w->done % w->nbatches].task);
}

struct walk_batch *walkers_oldest(struct walkers *w)
{
	struct walk_batch *batch = batch_of(w, w->done);

	if (w->done == w->submitted)
		return NULL;
	pool_wait(w->pool, &batch->task);
	for (unsigned i = 0; i < w->nmachines; i++) {
		struct machine *m = &w->machines[i];

		if (atomic_load_explicit(&m->seen, memory_order_acquire) > w->done)
			continue;
		pthread_mutex_lock(&m->lock);
		if (atomic_load_explicit(&m->seen, memory_order_relaxed) <= w->done)
			catch_up(m, w, w->done + 1);
		pthread_mutex_unlock(&m->lock);
	}
	return batch;
}

void walkers_done(struct walkers *w, struct walk_batch *batch)
{
	(void)batch;
	w->done++;
}

bool walkers_each(struct walkers *w, size_t *pos, struct walk_batch **ret)
{
	if (*pos == w->nbatches)
		return false;
	*ret = &w->batches[(*pos)++];
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walkers.h - several unwinders over one stream of events: batches in, stacks out, in the order of the stream.
 *
 *	while ((batch = walkers_room(w)) && event_source_next_batch(source, WALKERS_BATCH, &batch->events))
 *		... mark which samples are wanted ...
 *		walkers_submit(w, batch);
 *	batch = walkers_oldest(w);
 *	... batch->walked and batch->fresh, in order ...
 *	event_source_release(source, &batch->events);
 *	walkers_done(w, batch);
 *
 * A walker has modules, address spaces and an unwinder of its own. It takes in the side-band of every
 * batch, walks the samples of those that fall to it, and puts their chains into a trie of its own. What a chain holds does not
 * depend on who walked it, so the result is the same for any number of threads. Modules have the same numbers in all tables, because each sees the
 * same mappings in the same order.
 */
#ifndef SYMBOLIZE_WALKERS_H
#define SYMBOLIZE_WALKERS_H

#include "formats/base/pool.h"
#include "formats/base/vec.h"
#include "symbolize/unwind/chain_trie.h"
#include "symbolize/unwind/unwind.h"

#define WALKERS_BATCH 512 /* events that are worth handing over together */

/* What became of a sample. */
struct walked {
	uint32_t leaf;	 /* node of its walker's trie */
	uint32_t nfresh; /* nodes that came up with it: the next ones of walk_batch.fresh */
	enum stack_stop stop;
	uint32_t stop_module; /* id + 1, 0 for none */
	bool folded;
};

struct walk_batch {
	struct pool_task task; /* private; must be first */
	struct walkers *walkers;
	uint64_t number; /* from 0 */
	unsigned worker; /* who walked it: its trie's number */
	struct event_batch events;
	VEC(bool) wanted; /* the caller's: of each event, is it a sample to be walked? */
	void *context;	  /* the caller's */
	VEC(struct walked) walked;    /* the wanted ones, in order */
	VEC(struct chain_node) fresh; /* numbered on from those of the walker's batches before */
};

struct walkers;

/*
 * As many walkers as @pool has threads. @modules is the caller's table, with nothing in it yet; it must have taken
 * in the events of a batch when that is asked for. All must outlive the walkers.
 */
struct walkers *walkers_new(struct module_table *modules, const struct module_search *search,
			    struct pool *pool);

/* Wait for what is under way and drop it. */
void walkers_settle(struct walkers *w);

/*
 * What the walkers opened is opened in the caller's table too, so that it has the same status
 * and the same warnings.
 */
void walkers_free(struct walkers *w);

/* A batch to fill and submit; NULL while too many are under way. Emptied but for .context. */
struct walk_batch *walkers_room(struct walkers *w);
void walkers_submit(struct walkers *w, struct walk_batch *batch);

/* Is the oldest batch walked? */
bool walkers_ready(const struct walkers *w);

/* The oldest batch that was submitted, walked; NULL if there is none. */
struct walk_batch *walkers_oldest(struct walkers *w);

/* The caller is through with the oldest batch. Its events are released by now. */
void walkers_done(struct walkers *w, struct walk_batch *batch);

/* Each batch there is, for the caller to clean up its context; false at the end. *@pos is 0 at first. */
bool walkers_each(struct walkers *w, size_t *pos, struct walk_batch **ret);

#endif

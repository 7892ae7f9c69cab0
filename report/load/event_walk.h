/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_walk.h - the events of a source in order, the stacks of their samples unwound by one thread or several.
 *
 * What is done with an event is the callbacks', which are all called by one thread and in the order of the stream.
 */
#ifndef REPORT_EVENT_WALK_H
#define REPORT_EVENT_WALK_H

#include "formats/base/pool.h"
#include "formats/event.h"
#include "symbolize/module/module.h"
#include "symbolize/module/space.h"
#include "symbolize/unwind/chain_trie.h"
#include "symbolize/unwind/unwind.h"

/* One event that passes the filter; all of it lasts until the call returns, ids stay. */
struct walked_event {
	const struct event *ev;
	const struct space_thread *thread; /* names as of now */
	const struct unwind_chain *chain;  /* samples only, else NULL */
	uint32_t stack;			   /* samples only: the leaf in the profile */
	uint32_t place;			   /* of stacks of waits, see derive_event; 0: none */
};

/* Nodes of a trie to stacks of the profile. Empty when zeroed. */
struct event_walk_stacks {
	VEC(uint32_t) of;
};

struct event_walk {
	struct event_source *source;
	struct module_table *modules;
	const struct module_search *search;
	struct unwinder *unwinder; /* of the one thread */
	struct pool *pool;	   /* NULL: one thread does everything */
	bool flat;		   /* samples come without chain and stack; one thread */
	void *context;

	/* Every event, before the others are called for it. */
	void (*count)(void *context, const struct event *ev);
	/* Take @ev in; false if it does not pass the filter. *@ret_thread is its thread as of now. */
	bool (*passes)(void *context, const struct event *ev, const struct space_thread **ret_thread);
	/* @event is complete. */
	struct err *(*take)(void *context, const struct walked_event *event);
	/* The stack of @chain, which one thread walked. */
	uint32_t (*add_chain)(void *context, const struct unwind_chain *chain);
	/* @nodes are the next @count of their trie, numbered from 1 on: several threads walk. */
	void (*add_stacks)(void *context, struct event_walk_stacks *stacks, const struct chain_node *nodes, size_t count);
};

/* All events. With several threads .passes() is ahead of the others. What .take() returns ends it. */
MUST_USE struct err *event_walk(const struct event_walk *walk);

#endif

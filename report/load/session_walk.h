/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_walk.h - the events of a source, their stacks walked by several threads.
 *
 * It knows no session: what is done with an event in the order of the stream is the callbacks'.
 */
#ifndef REPORT_SESSION_WALK_H
#define REPORT_SESSION_WALK_H

#include "formats/base/pool.h"
#include "report/load/session_event.h"
#include "symbolize/module/module.h"
#include "symbolize/module/space.h"
#include "symbolize/unwind/chain_trie.h"
#include "symbolize/unwind/unwind.h"

/* Nodes of a trie to stacks of the profile. Empty when zeroed. */
struct session_stacks {
	VEC(uint32_t) of;
};

/* What is done with each event in the order of the stream; the same with one thread. */
struct session_walk {
	struct event_source *source;
	struct module_table *modules;
	const struct module_search *search;
	struct pool *pool;
	void *context;

	/* Take @ev in; false if it does not pass the filter. *@ret_thread is its thread as of now. */
	bool (*passes)(void *context, const struct event *ev,
		       const struct space_thread **ret_thread);
	/* @event is complete. */
	struct err *(*take)(void *context, const struct session_event *event);
	void (*count)(void *context, const struct event *ev);
	/* @nodes are the next @count of their trie, numbered from 1 on. */
	void (*add_stacks)(void *context, struct session_stacks *stacks,
			   const struct chain_node *nodes, size_t count);
};

/* All events, with the threads of the pool. What .take() returns ends it. */
MUST_USE struct err *session_walk(const struct session_walk *walk);

#endif

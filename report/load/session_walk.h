/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_walk.h - the events of a session walked by several threads, for session.c only.
 */
#ifndef REPORT_SESSION_WALK_H
#define REPORT_SESSION_WALK_H

#include "report/load/session.h"
#include "symbolize/unwind/chain_trie.h"

/* Nodes of a trie to stacks of the profile. Empty when zeroed. */
struct session_stacks {
	VEC(uint32_t) of;
};

/* @nodes are the next @count of their trie, numbered from 1 on. */
void session_stacks_add(struct session *s, struct session_stacks *stacks,
			const struct chain_node *nodes, size_t count);

/* How many threads there are to be; 1 if the source cannot work ahead. */
unsigned session_walk_threads(const struct session *s);

/* What is done with each event in the order of the stream; the same with one thread. */
struct session_walk {
	/* Take @ev in; false if it does not pass the filter. *@ret_thread is its thread as of now. */
	bool (*passes)(struct session *s, const struct event *ev,
		       const struct space_thread **ret_thread);
	/* @event is complete. */
	struct err *(*take)(struct session *s, struct session_event *event,
			    const struct session_visitor *visitor);
	void (*count)(struct session *s, const struct event *ev);
};

/* All events, with the threads of s->pool. What @visitor returns ends it. */
MUST_USE struct err *session_walk(struct session *s, const struct session_walk *walk,
				  const struct session_visitor *visitor);

#endif

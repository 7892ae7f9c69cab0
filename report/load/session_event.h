/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_event.h - what a listener is handed of an event.
 */
#ifndef REPORT_SESSION_EVENT_H
#define REPORT_SESSION_EVENT_H

#include "formats/event.h"

struct space_thread;
struct unwind_chain;

/* One event that passes the filter; all of it lasts until the call returns, ids stay. */
struct session_event {
	const struct event *ev;
	const struct space_thread *thread; /* names as of now */
	const struct unwind_chain *chain;  /* samples only, else NULL */
	uint32_t stack;                    /* samples only: the leaf in the profile */
	uint32_t place;			   /* of stacks of waits, see derive_event; 0: none */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counting.h - measures that fill while a session loads.
 *
 *	counting_open(&c, s);			// after session_open()
 *	counting_add(&c, &measures);		// each that is to be filled; all before session_load()
 *	...
 *	counting_close(&c);
 */
#ifndef REPORT_COUNTING_H
#define REPORT_COUNTING_H

#include "report/view/measures.h"
#include "report/load/session.h"

struct counting {
	struct group_deltas deltas;
	VEC(struct measures *) sets;
	struct loader_listener listener;
};

/* Of an imported profile nothing will ever be counted. */
void counting_open(struct counting *c, struct session *s);
void counting_add(struct counting *c, struct measures *m);
void counting_close(struct counting *c);

/* How differences from sample to sample came about: how many, what was left out, counters that were shared. */
const char *counting_note(const struct counting *c, struct arena *arena);

#endif

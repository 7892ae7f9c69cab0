/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_quiet.h - since when no code, bytecode or function of a V8 heap can have been freed or moved.
 *
 *	sample        look        read
 *	──┼────────────┼───────────┼──►	 what is read was there at the sample if no garbage was collected in between
 *	   since ─►
 *
 * Code that a thread executes or returns to is alive, and only mark-compact collections free or move objects in these spaces. A heap counts
 * them; an object's page leads to its heap. A collection in progress counts as one after each look.
 */
#ifndef RUNTIME_V8_QUIET_H
#define RUNTIME_V8_QUIET_H

#include "record/runtime/v8_layout.h"

#define V8_HEAPS_MAX 64 /* one for each thread that runs JavaScript */

/* Times are CLOCK_MONOTONIC's. */
struct v8_quiet_heap {
	uint64_t addr;
	uint32_t marked;   /* collections by marking that it had counted at the last look */
	uint64_t region;   /* a number that is drawn for each heap */
	bool known;	   /* that could be read, and none was going on */
	bool ended;	   /* with the thread that ran JavaScript */
	uint64_t since_ns; /* all that the heap has is there */
	uint64_t full_ns;  /* the last look before its first collection by marking: nothing had been freed yet; 0: it came later */
};

/* Zeroed, but for the layout, no heap is known. */
struct v8_quiet {
	const struct v8_layout *layout;
	uint64_t age_ns; /* of the process, when this was made; 0: not known */
	struct v8_quiet_heap heaps[V8_HEAPS_MAX];
	size_t nheaps;
	uint64_t added_ns; /* when the last one was met */
	uint64_t ended_ns; /* when it was noticed that one has ended, whose memory others have since then; 0: all are there */
};

/* Read the heap of address @addr, bypassing the pages cached in @view. NULL: unknown, and so is the age of its objects. */
const struct v8_quiet_heap *v8_quiet_look(struct v8_quiet *q, struct managed_view *view, uint64_t addr);

/*
 * Since when what lies at @addr was there, if it could be read; now, where that is not known. *@ret_region, if not NULL, is that of its heap,
 * or 0.
 */
uint64_t v8_quiet_since(struct v8_quiet *q, struct managed_view *view, uint64_t addr, uint64_t *ret_region);

/* Until when all that the heap with @region, as in struct v8_quiet_heap, ever had was there for certain; 0: it is not known. */
uint64_t v8_quiet_full_ns(const struct v8_quiet *q, uint64_t region);

/* At all that are known: the more often, the less is uncertain. */
void v8_quiet_look_at_all(struct v8_quiet *q, struct managed_view *view);

#endif

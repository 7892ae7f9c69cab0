/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_places.h - which memory samples accessed (precord -d), as profile_data: told apart as finely as a table needs.
 *
 *	s.data = &places;	// between session_open() and session_load(); the session walks alone then
 *
 * and each row of the profile has its .data, and in places.latencies what the accesses took (precord --weight).
 */
#ifndef REPORT_DATA_PLACES_H
#define REPORT_DATA_PLACES_H

#include "formats/base/vec.h"
#include "formats/event.h"
#include "formats/profile/profile.h"
#include "report/view/latency.h"
#include "report/view/view.h"

struct session;

#define DATA_LINE_LEN 64 /* bytes of a cache line, on all processors that tell data addresses so far */

struct data_places {
	bool objects, addresses, lines, sources; /* what to tell apart; addresses and lines imply objects */
	VEC(struct latency) latencies;           /* by row of the profile */
	uint64_t samples, with_address, with_source, with_latency;
};

/* What @levels ask for; false if they ask for no memory at all. */
bool data_places_wanted(const struct view_levels *levels, struct data_places *ret);
void data_places_deinit(struct data_places *places);

/* The memory that sample @ev accessed, which session @s is at: an index in the profile's data, never 0. */
uint32_t data_places_find(struct data_places *places, struct session *s, const struct event *ev);

/* Sample @ev went into row @row. */
void data_places_row(struct data_places *places, const struct event *ev, uint32_t row);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_places.h - which memory samples accessed (precord -d), as profile_data: distinguished as finely as a table needs.
 *
 *	data_places_listen(&places, s);		// between session_open() and session_load()
 *
 * and each row of the profile has its .data, and in places.latencies what the accesses took (precord --weight).
 */
#ifndef REPORT_DATA_PLACES_H
#define REPORT_DATA_PLACES_H

#include "formats/base/vec.h"
#include "formats/event.h"
#include "formats/profile/profile.h"
#include "report/load/session.h"
#include "report/view/latency.h"
#include "report/view/view_levels.h"

struct data_places {
	bool objects, addresses, lines, sources; /* what to tell apart; addresses and lines imply objects */
	VEC(struct latency) latencies;           /* by row of the profile */
	uint64_t samples, with_address, with_source, with_latency;
	struct session *s; /* private, as below */
	struct loader_listener listener;
};

/* What @levels ask for; false if they ask for no memory at all. */
bool data_places_wanted(const struct view_levels *levels, struct data_places *ret);
void data_places_deinit(struct data_places *places);

/* Between session_open() and session_load(); the session walks alone then. @places must outlive session_load(). */
void data_places_listen(struct data_places *places, struct session *s);

#endif

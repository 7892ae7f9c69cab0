/* SPDX-License-Identifier: Apache-2.0 */
/*
 * point_pairs.h - spans between two tracepoints: what one began, by a key, another one ends.
 *
 *	begin(key)           end(key)   begin(key)      end of the recording
 *	   │  one span          │           │   not over     │
 *	   ├───────────────────►┤           ├───────────────►┤
 *	   ▲ whose it is, with its stack
 *
 * A span is the thread's that began it, whoever ends it. An end without its beginning is left out, since nothing tells how
 * long it took; so is a beginning that another one of the same key follows: its end was lost.
 */
#ifndef REPORT_POINT_PAIRS_H
#define REPORT_POINT_PAIRS_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "report/load/derive/derive_kind.h"

struct open_point;

struct point_pairs {
	const struct derive_request *request;
	const struct derive_out *out;
	uint32_t type; /* of the profile, of the spans */
	struct map numbers; /* key -> number in open + 1 */
	VEC(struct open_point) open;
	VEC(uint32_t) unused; /* in open */
	uint64_t newest_ns;
};

/* Spans of the event @name, which is added to the profile. */
void point_pairs_init(struct point_pairs *pairs, const struct derive_request *request, const struct derive_out *out,
		      const char *name);
void point_pairs_deinit(struct point_pairs *pairs);

/* @event, a sample, begins a span of @key; of @span the state and what it is about are given. */
void point_pairs_begin(struct point_pairs *pairs, uint64_t key, const struct derive_event *event, const struct derived *span);

/* The span of @key that is under way, to be looked at until the next call; NULL: there is none. */
const struct derived *point_pairs_find(const struct point_pairs *pairs, uint64_t key);

/* It ends at @time_ns, with @error (a string of the profile; 0: with none). */
void point_pairs_end(struct point_pairs *pairs, uint64_t key, uint64_t time_ns, uint32_t error);

/* The same goes on under another key. */
void point_pairs_rename(struct point_pairs *pairs, uint64_t key, uint64_t now);

/* The stream ended: what is not over counts until then. */
void point_pairs_finish(struct point_pairs *pairs);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branches.h - the branches that samples carry (precord -b), counted by where they lead from and to.
 *
 *	branches_init(&b, s, BRANCHES_BY_FUNCTION);
 *	... for each sample, while the session is at it: branches_take(&b, ev);
 *	... b.rows ...
 *	branches_deinit(&b);
 *
 * Processors record the last branches that were taken, a dozen or two before each sample. Each is one count, so that
 * shares are of recorded branches, not of time. Those of one sample are alike, which intervals allow for (stats_ratio).
 */
#ifndef REPORT_BRANCHES_H
#define REPORT_BRANCHES_H

#include "formats/base/map.h"
#include "report/load/session.h"
#include "report/print/stats.h"

enum branches_by {
	BRANCHES_BY_FUNCTION,
	BRANCHES_BY_LINE,
	BRANCHES_BY_ADDRESS,
	BRANCHES_BY_LOCATION, /* without names; a filter's functions and modules do not matter */
};

/* Counts within one sample. */
struct branches_bunch {
	uint64_t number; /* of the sample */
	uint64_t count, known, missed, timed, cycles;
};

struct branches_row {
	uint32_t from, to;         /* places */
	struct stats_ratio count;  /* of all branches; complete after branches_finish() */
	struct stats_ratio missed; /* of those where that is known */
	struct stats_ratio cycles; /* of those where they are known */
	struct branches_bunch now; /* private */
};

struct branches_place {
	uint32_t location; /* the first that lies there; PROFILE_NONE: nothing is mapped there */
};

/* How a location is looked at. */
struct branches_seen {
	uint32_t place; /* + 1; 0: not asked for yet */
	bool passes;    /* the filter's conditions on functions and modules */
};

struct branches {
	struct session *s;
	struct loader_listener listener; /* private */
	enum branches_by by;
	VEC(struct branches_row) rows;
	VEC(struct branches_place) places;
	struct stats_ratio all; /* branches of each sample: .whole is how many, .nbunches of how many samples */
	uint64_t samples;       /* asked, with and without branches */

	/* Private. */
	struct map index;                /* both places -> row + 1 */
	struct map names;                /* string -> place + 1 */
	VEC(struct branches_seen) seen;  /* by location, the first for nowhere */
	VEC(uint32_t) touched;           /* rows of the current sample */
};

void branches_init(struct branches *b, struct session *s, enum branches_by by);
void branches_deinit(struct branches *b);

/*
 * Count the branches of sample @ev, which @b's session is at: see loader_locate(). Of a filter with functions or
 * modules those count that have an end there.
 */
void branches_take(struct branches *b, const struct event *ev);

/* Or have it called for each sample that session_load() takes; @b must outlive that. */
void branches_listen(struct branches *b, struct session *s);

/* After the last sample. */
void branches_finish(struct branches *b);

/* The line of the profile at @place, NULL if nothing is known there. */
const struct profile_line *branches_line(const struct branches *b, uint32_t place);

/* "parse", "[unknown]" */
const char *branches_function(const struct branches *b, uint32_t place);
/* "libxml2.so.2", "" */
const char *branches_module(const struct branches *b, uint32_t place);
/* Most branches first, or by the names of both ends; ties by name and address. */
enum branches_sort { BRANCHES_SORT_COUNT, BRANCHES_SORT_NAME };
void branches_sort(struct branches *b, enum branches_sort by);

#endif

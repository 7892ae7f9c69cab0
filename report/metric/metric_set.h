/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_set.h - metrics by name: those that come with preport (report/metric/metrics.txt, which says what a file looks
 * like), the user's files, and NAME=FORMULA from a command line. A later one of the same name takes its place.
 */
#ifndef REPORT_METRIC_SET_H
#define REPORT_METRIC_SET_H

#include "formats/base/vec.h"
#include "formats/metric_expr.h"

struct metric_def {
	const char *name, *formula;
	const char *words; /* what it means; "" if not documented */
	const char *place; /* "FILE:LINE", or "--metric" */
	bool percent;
	struct metric_expr *expr;
	uint8_t state; /* private: while references are followed */
};

struct metric_set {
	struct arena arena;
	VEC(struct metric_def *) defs;
	VEC(const char *) events; /* that formulas may speak of */
	unsigned depth;           /* private: of references that are being followed */
};

/* The metrics that come with preport. */
MUST_USE struct err *metric_set_init(struct metric_set *set);
void metric_set_deinit(struct metric_set *set);

/*
 * Add what @text says, of which @place is the name. ERR_USAGE: a line is not well-formed; the message begins with
 * "PLACE:LINE".
 */
MUST_USE struct err *metric_set_add_text(struct metric_set *set, const char *place,
					 const char *text, size_t len);
/* ERR_SYSTEM: it cannot be read. */
MUST_USE struct err *metric_set_add_file(struct metric_set *set, const char *path);

/* "NAME=FORMULA", with "NAME%=" for a percentage. */
MUST_USE struct err *metric_set_add_definition(struct metric_set *set, const char *text);

/* An event that formulas may speak of. */
void metric_set_add_event(struct metric_set *set, const char *name);

/*
 * Put metrics in place of their names, when everything has been added. ERR_USAGE: one leads back to itself, or a name
 * is neither metric nor event; near names are the remedy.
 */
MUST_USE struct err *metric_set_check(struct metric_set *set);

/* ERR_USAGE: there is none; near names are the remedy. */
MUST_USE struct err *metric_set_find(const struct metric_set *set, const char *name,
				     const struct metric_def **ret);

#endif

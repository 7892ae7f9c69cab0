/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_expr.h - formulas over counts, as metrics and top-down tables write them.
 *
 *	sum    = term { ("+" | "-") term }
 *	term   = factor { ("*" | "/") factor }
 *	factor = ["-"] ( NUMBER | NAME | "'" ANYTHING "'" | "(" sum ")" | ("min" | "max") "(" sum "," sum ")" )
 *
 * Names hold letters, digits and any of _ - . : so that "a-b" is one name, "a - b" a difference. What divides by
 * zero has no value: NaN.
 */
#ifndef FORMATS_METRIC_EXPR_H
#define FORMATS_METRIC_EXPR_H

#include "formats/base/arena.h"
#include "formats/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* A formula with all that it refers to may have so many parts, and be nested so deep. */
#define METRIC_EXPR_PARTS_MAX 10000
#define METRIC_EXPR_DEPTH_MAX 100

enum metric_op {
	METRIC_NUMBER,
	METRIC_NAME, /* of an event: @term once it is bound */
	METRIC_REFER, /* what @left says, which has a name of its own */
	METRIC_ADD,
	METRIC_SUBTRACT,
	METRIC_MULTIPLY,
	METRIC_DIVIDE,
	METRIC_MIN,
	METRIC_MAX,
};

struct metric_expr {
	enum metric_op op;
	double number;
	const char *name; /* as written, without quotes */
	bool quoted;      /* surely an event */
	uint32_t term;    /* index in the terms of metric_expr_value() */
	unsigned parts;   /* in all, this one included */
	unsigned depth;
	struct metric_expr *left, *right;
};

/* ERR_USAGE: it is not well-formed, or divides by the number 0; says at which character. */
MUST_USE struct err *metric_expr_parse(const char *text, struct arena *arena,
				       struct metric_expr **ret);

/*
 * Call @visit for each name in @e from left to right, not for those behind what was referred to. An error ends it.
 * @visit may make the node a METRIC_REFER; parts and depth are made right on the way back.
 */
MUST_USE struct err *metric_expr_each_name(struct metric_expr *e,
					   struct err *(*visit)(void *context,
								struct metric_expr *name),
					   void *context);

/* A copy whose names can be bound apart from those of @e; references are put in. */
struct metric_expr *metric_expr_copy(const struct metric_expr *e, struct arena *arena);

/* The value where term i counted @terms[i]; NaN where that is not defined. */
double metric_expr_value(const struct metric_expr *e, const double *terms);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topdown_formula.h - the nodes of a top-down model as formulas over those of its events that were counted.
 */
#ifndef FORMATS_TOPDOWN_FORMULA_H
#define FORMATS_TOPDOWN_FORMULA_H

#include "formats/metric_expr.h"
#include "formats/topdown.h"

#define TOPDOWN_NOT_COUNTED UINT32_MAX

/* The term of metric_expr_value() that each event of a model is; TOPDOWN_NOT_COUNTED for one that is missing. */
struct topdown_terms {
	uint32_t items[TOPDOWN_EVENTS_MAX];
};

struct topdown_formula {
	const struct topdown_node *node;
	struct metric_expr *expr; /* in the arena */
};

/* The model that an event of this name ("zen4.no-ops", with or without a modifier behind) was counted for, or NULL. */
const struct topdown_model *topdown_of_event(const char *name);

/*
 * Put the nodes that can be computed into @ret, as in the model, and return their number. A definition takes the place of an
 * event of its name that is missing.
 */
unsigned topdown_formulas(const struct topdown_model *model, const struct topdown_terms *terms, struct arena *arena,
			  struct topdown_formula ret[TOPDOWN_NODES_MAX]);

/* Index of the parent of formula @i, UINT_MAX at level 1. */
unsigned topdown_formula_parent(const struct topdown_formula *formulas, unsigned len, unsigned i);

#endif

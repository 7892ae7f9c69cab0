/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_topdown.h - where the issue slots went, from counts of the events that topdown_events_add() put into the list.
 */
#ifndef RECORD_STAT_TOPDOWN_H
#define RECORD_STAT_TOPDOWN_H

#include "formats/topdown_formula.h"
#include "record/stat/stat_table.h"

struct stat_topdown {
	const struct topdown_model *model;
	struct topdown_formula formulas[TOPDOWN_NODES_MAX];
	double values[TOPDOWN_NODES_MAX]; /* fractions; NaN: not to be had from these counts */
	unsigned len;                     /* 0: no model, or nothing of it was counted at this place */
};

/* The model that events of @list were chosen for; NULL for none. */
const struct topdown_model *stat_topdown_model(const struct event_list *list);

/* Of the place whose first row is number @first of @t, which has one for each event. Formulas are made in @arena. */
void stat_topdown_of(const struct stat_table *t, size_t first, struct arena *arena, struct stat_topdown *ret);

/* It and its parent pass the model's thresholds: worth a look. */
bool stat_topdown_stands_out(const struct stat_topdown *td, unsigned i);

/* Was it counted for a tree, rather than for itself? */
bool stat_topdown_is_part(const struct event_desc *desc);

#endif

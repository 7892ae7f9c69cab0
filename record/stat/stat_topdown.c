/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_topdown.c - counts of groups that were multiplexed are scaled up; each formula divides within its group.
 */
#include "record/stat/stat_topdown.h"

#include <limits.h>
#include <string.h>

bool stat_topdown_is_part(const struct event_desc *desc)
{
	return topdown_of_event(desc->name) != NULL;
}

const struct topdown_model *stat_topdown_model(const struct event_list *list)
{
	const struct topdown_model *model = NULL;

	for (size_t i = 0; i < list->len && !model; i++)
		model = topdown_of_event(list->items[i].name);
	return model;
}

/* The number of the event of @model that @name is, UINT_MAX for none. */
static unsigned number_of(const struct topdown_model *model, const char *name)
{
	size_t len = strlen(model->name);

	if (topdown_of_event(name) != model)
		return UINT_MAX;
	for (unsigned i = 0; model->events[i].label; i++)
		if (strcmp(model->events[i].label, name + len + 1) == 0)
			return i;
	return UINT_MAX;
}

void stat_topdown_of(const struct stat_table *t, size_t first, struct arena *arena, struct stat_topdown *ret)
{
	struct topdown_terms terms;
	double counts[TOPDOWN_EVENTS_MAX] = { 0 };

	*ret = (struct stat_topdown){ .model = stat_topdown_model(t->list) };
	if (!ret->model)
		return;
	for (size_t i = 0; i < TOPDOWN_EVENTS_MAX; i++)
		terms.items[i] = TOPDOWN_NOT_COUNTED;
	for (size_t i = first; i < first + t->list->len; i++) {
		const struct stat_row *row = &t->rows.items[i];
		unsigned number = number_of(ret->model, t->list->items[row->event].name);

		if (number == UINT_MAX || row->state != STAT_COUNTED)
			continue;
		terms.items[number] = number;
		counts[number] = stat_row_mean(row);
	}
	ret->len = topdown_formulas(ret->model, &terms, arena, ret->formulas);
	for (unsigned i = 0; i < ret->len; i++)
		ret->values[i] = metric_expr_value(ret->formulas[i].expr, counts);
}

bool stat_topdown_stands_out(const struct stat_topdown *td, unsigned i)
{
	while (i != UINT_MAX && td->values[i] > td->formulas[i].node->threshold)
		i = topdown_formula_parent(td->formulas, td->len, i);
	return i == UINT_MAX;
}

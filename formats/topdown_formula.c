/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topdown_formula.c - a name in a formula is an event, a definition or a node, looked for in this order.
 */
#include "formats/topdown_formula.h"

#include <limits.h>
#include <string.h>

struct binder {
	const struct topdown_model *model;
	const struct topdown_terms *terms;
	struct arena *arena;
	unsigned depth; /* of definitions that refer to each other */
};

const struct topdown_model *topdown_of_event(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot ? topdown_find(name, (size_t)(dot - name)) : NULL;
}

static uint32_t term_of(const struct binder *b, const char *label)
{
	for (size_t i = 0; b->model->events[i].label; i++)
		if (strcmp(b->model->events[i].label, label) == 0)
			return b->terms->items[i];
	return TOPDOWN_NOT_COUNTED;
}

/* What @name is defined as, NULL for nothing. */
static const char *formula_of(const struct topdown_model *model, const char *name)
{
	for (size_t i = 0; i < TOPDOWN_DEFS_MAX && model->defs[i].name; i++)
		if (strcmp(model->defs[i].name, name) == 0)
			return model->defs[i].formula;
	for (size_t i = 0; i < TOPDOWN_NODES_MAX && model->nodes[i].key; i++)
		if (strcmp(model->nodes[i].key, name) == 0)
			return model->nodes[i].formula;
	return NULL;
}

static struct err *bind_name(void *context, struct metric_expr *name);

static struct err *bind_formula(struct binder *b, const char *formula, struct metric_expr **ret)
{
	struct err *err = metric_expr_parse(formula, b->arena, ret);

	if (!err && b->depth == METRIC_EXPR_DEPTH_MAX)
		err = err_new(ERR_USAGE, "'%s' leads back to itself", formula);
	b->depth++;
	if (!err)
		err = metric_expr_each_name(*ret, bind_name, b);
	b->depth--;
	return err;
}

/* An event that was not counted ends it. */
static struct err *bind_name(void *context, struct metric_expr *name)
{
	struct binder *b = context;
	const char *formula;

	name->term = term_of(b, name->name);
	if (name->term != TOPDOWN_NOT_COUNTED)
		return NULL;
	formula = formula_of(b->model, name->name);
	if (!formula)
		return err_new(ERR_UNSUPPORTED, "'%s' was not counted", name->name);
	name->op = METRIC_REFER;
	return bind_formula(b, formula, &name->left);
}

unsigned topdown_formulas(const struct topdown_model *model, const struct topdown_terms *terms, struct arena *arena,
			  struct topdown_formula ret[TOPDOWN_NODES_MAX])
{
	struct binder b = { .model = model, .terms = terms, .arena = arena };
	unsigned len = 0;

	for (size_t i = 0; i < TOPDOWN_NODES_MAX && model->nodes[i].key; i++) {
		struct metric_expr *expr;
		struct err *err = bind_formula(&b, model->nodes[i].formula, &expr);

		if (!err)
			ret[len++] = (struct topdown_formula){ &model->nodes[i], metric_expr_copy(expr, arena) };
		err_free(err);
	}
	return len;
}

unsigned topdown_formula_parent(const struct topdown_formula *formulas, unsigned len, unsigned i)
{
	const char *parent = formulas[i].node->parent;

	for (unsigned k = 0; parent && k < len; k++)
		if (strcmp(formulas[k].node->key, parent) == 0)
			return k;
	return UINT_MAX;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topdown_tree.c - binds a model's formulas to the value types that hold the counts of its events.
 */
#include "report/topdown/topdown_tree.h"

#include "report/metric/metrics.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* The recorded event of @label, PROFILE_NONE if there is none. */
static uint32_t event_of(const struct topdown_model *model, const char *label,
			 const struct profile *p, struct arena *arena)
{
	const char *name = arena_printf(arena, "%s.%s", model->name, label);

	for (uint32_t i = 0; i < p->types.len; i++)
		if (metrics_event_matches(profile_text(p, p->types.items[i].name), name))
			return i;
	return PROFILE_NONE;
}

static const struct topdown_model *model_of(const struct profile *p)
{
	const struct topdown_model *model = NULL;

	for (size_t i = 0; i < p->types.len && !model; i++)
		model = topdown_of_event(profile_text(p, p->types.items[i].name));
	return model;
}

static void find_events(struct topdown_tree *tree, const struct profile *p, struct topdown_terms *ret)
{
	struct measures *m = &tree->measures;
	bool read = false;

	m->term_of = ARENA_ARRAY(&tree->arena, uint32_t, p->types.len + 1);
	for (size_t i = 0; tree->model->events[i].label; i++) {
		const char *label = tree->model->events[i].label;
		uint32_t event = event_of(tree->model, label, p, &tree->arena);

		ret->items[i] = event == PROFILE_NONE ? TOPDOWN_NOT_COUNTED : m->nterms;
		if (event == PROFILE_NONE)
			continue;
		m->names[m->nterms++] = label;
		m->term_of[event] = m->nterms;
		read |= p->types.items[event].counts_only;
	}
	m->method = read ? MEASURES_GROUP : MEASURES_APART;
}

void topdown_tree_open(struct topdown_tree *tree, const struct profile *p, struct counting *counting)
{
	struct topdown_terms terms;

	*tree = (struct topdown_tree){ .model = model_of(p), .counting = counting };
	if (!tree->model)
		return;
	tree->shown = &tree->measures;
	find_events(tree, p, &terms);
	tree->nnodes = topdown_formulas(tree->model, &terms, &tree->arena, tree->nodes);
	counting_add(counting, &tree->measures);
}

void topdown_tree_close(struct topdown_tree *tree)
{
	measures_deinit(&tree->measures);
	arena_deinit(&tree->arena);
	*tree = (struct topdown_tree){ 0 };
}

static unsigned parent_of(const struct topdown_tree *tree, unsigned i)
{
	return topdown_formula_parent(tree->nodes, tree->nnodes, i);
}

void topdown_tree_judge(const struct topdown_tree *tree, const double *sums,
			struct topdown_value values[TOPDOWN_NODES_MAX])
{
	for (unsigned i = 0; i < tree->nnodes; i++) {
		const struct topdown_node *node = tree->nodes[i].node;
		unsigned parent = parent_of(tree, i);
		struct topdown_value *v = &values[i];

		v->value = measures_value(&tree->measures, sums, tree->nodes[i].expr);
		v->value.low = fmax(v->value.low, 0);
		v->flagged = v->value.known && v->value.value > node->threshold &&
			     (parent == UINT_MAX || values[parent].flagged);
		v->sure = v->flagged && v->value.low > node->threshold;
	}
}

double topdown_tree_sum(const struct topdown_tree *tree,
			const struct topdown_value values[TOPDOWN_NODES_MAX])
{
	double sum = 0;

	for (unsigned i = 0; i < tree->nnodes; i++)
		if (!tree->nodes[i].node->parent)
			sum += values[i].value.known ? values[i].value.value : NAN;
	return sum;
}

/* The largest flagged child of @parent (UINT_MAX: of level 1, work done aside). */
static unsigned largest(const struct topdown_tree *tree, const struct topdown_value *values,
			unsigned parent, bool *ret_sure)
{
	unsigned best = UINT_MAX;

	for (unsigned i = 0; i < tree->nnodes; i++) {
		if (!values[i].flagged || parent_of(tree, i) != parent ||
		    strcmp(tree->nodes[i].node->key, "retiring") == 0)
			continue;
		if (best == UINT_MAX || values[i].value.value > values[best].value.value)
			best = i;
	}
	*ret_sure = best != UINT_MAX && values[best].sure;
	for (unsigned i = 0; i < tree->nnodes && *ret_sure; i++)
		if (i != best && parent_of(tree, i) == parent &&
		    strcmp(tree->nodes[i].node->key, "retiring") != 0)
			*ret_sure = values[i].value.high < values[best].value.low;
	return best;
}

unsigned topdown_tree_bottleneck(const struct topdown_tree *tree,
				 const struct topdown_value values[TOPDOWN_NODES_MAX],
				 bool *ret_sure)
{
	unsigned best = largest(tree, values, UINT_MAX, ret_sure), child = best;
	bool child_sure;

	while (child != UINT_MAX) {
		best = child;
		child = largest(tree, values, best, &child_sure);
		if (child != UINT_MAX)
			*ret_sure &= child_sure;
	}
	return best;
}

void topdown_tree_judge_all(const struct topdown_tree *tree, const struct profile *p,
			    struct topdown_value values[TOPDOWN_NODES_MAX])
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	double *sums = ARENA_ARRAY(&arena, double, measures_len(&tree->measures));

	for (uint32_t i = 0; i < p->samples.len; i++)
		measures_sum_row(&tree->measures, i, sums);
	topdown_tree_judge(tree, sums, values);
}

void topdown_tree_judge_group(const struct topdown_tree *tree, const struct view *view,
			      const struct view_group *group,
			      struct topdown_value values[TOPDOWN_NODES_MAX])
{
	topdown_tree_judge(tree, view_measured(view, group, 0), values);
}

void topdown_tree_view(const struct topdown_tree *tree, const struct profile *p, uint32_t type,
		       enum view_by by, struct view *ret)
{
	struct view_spec spec = {
		.levels = { .items = { { by, 0 } }, .len = 1 },
		.event = type,
		.measures = &tree->shown,
		.nmeasures = 1,
	};

	view_build(ret, p, &spec);
	view_sort(ret, VIEW_SORT_WEIGHT);
}

const char *topdown_tree_worst(const struct topdown_tree *tree, const struct profile *p, uint32_t type,
			       const struct topdown_value whole[TOPDOWN_NODES_MAX],
			       struct arena *arena)
{
	bool sure;
	unsigned at = topdown_tree_bottleneck(tree, whole, &sure);
	const char *name = NULL;
	double most = 0;
	struct view view;

	if (at == UINT_MAX)
		return NULL;
	topdown_tree_view(tree, p, type, VIEW_LEAF, &view);
	for (uint32_t i = 0; i < view.ntop; i++) {
		const struct view_group *group = &view.groups.items[view.order.items[i]];
		struct topdown_value values[TOPDOWN_NODES_MAX];

		topdown_tree_judge_group(tree, &view, group, values);
		double part = values[at].value.known
				      ? values[at].value.value * (double)group->sum.weight
				      : 0;

		if (part <= most)
			continue;
		most = part;
		name = arena_strdup(arena, view_key(&view, group)->fields[0]);
	}
	view_deinit(&view);
	return name;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.c - sums become values by each side's scale; each value is compared with that of the first side.
 */
#include "report/diff/diff.h"

#include "report/diff/diff_groups.h"
#include "report/view/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OUTSIDE_NOISE 1  /* relative, of interrupts: they may come twice as often, or not at all */
#define TYPICAL_ROWS  5  /* as few say what is typical */
#define NOISE_ROWS    5  /* and as few what the noise is */
#define NOISE_COUNT   300 /* with so many samples on each side: more rows, but hardly more known */
#define TYPICAL_COUNT 30 /* samples on each side for a function to count there */

/* ---- scales ---- */

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* The median of how much more side 0 has of each function than @side. */
static struct err *typical_ratio(const struct diff_groups *leaves, uint32_t side, double *ret)
{
	VEC(double) ratios = { 0 };
	struct err *err = NULL;

	for (uint32_t i = 0; i < leaves->count; i++) {
		const struct profile_sum *a = diff_groups_sum(leaves, i, 0);
		const struct profile_sum *b = diff_groups_sum(leaves, i, side);

		if (a->count >= TYPICAL_COUNT && b->count >= TYPICAL_COUNT)
			vec_push(&ratios, (double)a->weight / (double)b->weight);
	}
	if (ratios.len < TYPICAL_ROWS) {
		err = err_remedy(err_new(ERR_UNSUPPORTED,
					 "%zu functions have %d samples in both recordings; "
					 "--scale=typical needs %d",
					 ratios.len, TYPICAL_COUNT, TYPICAL_ROWS),
				 "record longer, or compare with --scale=share or none");
	} else {
		vec_sort(&ratios, compare_doubles);
		*ret = (ratios.items[(ratios.len - 1) / 2] + ratios.items[ratios.len / 2]) / 2;
	}
	vec_deinit(&ratios);
	return err;
}

static struct err *set_typical(struct diff *d, const struct diff_input *inputs)
{
	struct diff_groups leaves;
	struct err *err = NULL;

	diff_groups_init(&leaves, d->merge, inputs, VIEW_LEAF);
	d->sides[0].scale = 1;
	for (uint32_t i = 1; i < d->nsides && !err; i++)
		err = typical_ratio(&leaves, i, &d->sides[i].scale);
	diff_groups_deinit(&leaves);
	return err;
}

static struct err *set_scales(struct diff *d, const struct diff_input *inputs)
{
	if (d->options.scale == DIFF_TYPICAL)
		return set_typical(d, inputs);
	for (uint32_t i = 0; i < d->nsides; i++) {
		struct diff_side *side = &d->sides[i];

		side->scale = 1;
		if (d->options.scale == DIFF_SHARE)
			side->scale = side->whole.weight ? 1 / (double)side->whole.weight : 0;
		if (d->options.scale != DIFF_TIME)
			continue;
		if (!side->duration_ns)
			return err_remedy(err_new(ERR_UNSUPPORTED,
						  "how long '%s' was recorded is not known",
						  inputs[i].facts->input),
					  "--scale=share needs no time");
		side->scale = 1e9 / (double)side->duration_ns;
	}
	return NULL;
}

/* The window's length where there is one, else the recording's. */
static uint64_t duration_of(const struct profile_facts *facts)
{
	uint64_t start_ns = facts->start_ns, end_ns = start_ns + facts->duration_ns;

	if (!start_ns || !facts->duration_ns)
		return facts->duration_ns;
	start_ns = MAX(start_ns, facts->from_ns);
	end_ns = MIN(end_ns, facts->to_ns);
	return end_ns > start_ns ? end_ns - start_ns : 0;
}

static struct err *make_sides(struct diff *d, const struct diff_input *inputs)
{
	struct err *err;

	d->sides = ARENA_ARRAY(&d->arena, struct diff_side, d->nsides);
	for (uint32_t i = 0; i < d->nsides; i++)
		d->sides[i] = (struct diff_side){
			.whole = d->groups->wholes[i],
			.duration_ns = duration_of(inputs[i].facts),
			.has_times = d->groups->has_times[i],
		};
	err = set_scales(d, inputs);
	for (uint32_t i = 0; i < d->nsides && !err; i++) {
		struct diff_side *side = &d->sides[i];
		double n = stats_effective_count(&side->whole);

		/* Where it is not known how many samples there were, nothing may be more than noise: as of one. */
		if (!profile_is_counted(&side->whole))
			n = 1;
		side->unit = n > 0 ? (double)side->whole.weight / n * side->scale : side->scale;
	}
	return err;
}

/* ---- rows ---- */

double diff_value(const struct diff *d, const struct diff_row *row, uint32_t side)
{
	return (double)row->sums[side].weight * d->sides[side].scale;
}

static struct diff_how how_of(const struct diff *d)
{
	return (struct diff_how){ .shares = d->options.scale == DIFF_SHARE,
				  .run_noise = d->options.run_noise,
				  .whole = (double)d->sides[0].whole.weight * d->sides[0].scale };
}

static struct diff_how how_of_group(const struct diff *d, uint32_t group)
{
	struct diff_how how = how_of(d);

	if (diff_groups_is_outside(d->groups, group))
		how.run_noise = fmax(how.run_noise, OUTSIDE_NOISE);
	return how;
}

static struct diff_amount amount_of(const struct diff *d, uint32_t group, uint32_t side)
{
	const struct profile_sum *sum = diff_groups_sum(d->groups, group, side);
	struct diff_amount amount = {
		.value = (double)sum->weight * d->sides[side].scale,
		.unit = d->sides[side].unit,
		.effect = diff_groups_effect(d->groups, group, side),
	};

	if (how_of(d).shares) /* hostile weights overflow */
		amount.value = fmin(1, amount.value);
	return amount;
}

static void compare_row(struct diff *d, uint32_t group)
{
	struct diff_how how = how_of_group(d, group);
	struct diff_amount first = amount_of(d, group, 0);
	struct diff_row row = {
		.key = view_keys_get(d->groups->keys, 0, group),
		.sums = d->groups->sums + (size_t)group * d->nsides,
		.changes = ARENA_ARRAY(&d->arena, struct diff_compared, d->nsides),
		.group = group,
	};

	for (uint32_t side = 1; side < d->nsides; side++) {
		struct diff_amount amount = amount_of(d, group, side);

		row.changes[side] = diff_compare(&first, &amount, &how);
	}
	vec_push(&d->rows, row);
}

static void correct(struct diff *d)
{
	VEC(struct diff_compared *) all = { 0 };

	for (size_t i = 0; i < d->rows.len; i++)
		for (uint32_t side = 1; side < d->nsides; side++)
			vec_push(&all, &d->rows.items[i].changes[side]);
	d->tested = diff_holm(all.items, all.len);
	vec_deinit(&all);
	for (size_t i = 0; i < d->rows.len; i++)
		for (uint32_t side = 1; side < d->nsides; side++)
			d->rows.items[i].sure |= d->rows.items[i].changes[side].sure;
}

static double mean_effect(const struct diff *d)
{
	double sum = 0, values = 0;

	for (size_t i = 0; i < d->rows.len; i++)
		for (uint32_t side = 0; side < d->nsides; side++) {
			const struct diff_row *row = &d->rows.items[i];
			struct diff_amount amount = amount_of(d, row->group, side);

			if (!row->changes[MAX(side, 1)].tested)
				continue;
			sum += amount.value * amount.effect;
			values += amount.value;
		}
	return values > 0 ? sum / values : 1;
}

static double largest_change(const struct diff_row *row, uint32_t nsides)
{
	double largest = 0;

	for (uint32_t side = 1; side < nsides; side++)
		largest = fmax(largest, fabs(row->changes[side].change));
	return largest;
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct diff *d = context;
	const struct diff_row *a = left, *b = right;
	double a_size = largest_change(a, d->nsides), b_size = largest_change(b, d->nsides);

	if (a->sure != b->sure)
		return a->sure ? -1 : 1;
	if (a_size != b_size)
		return a_size > b_size ? -1 : 1;
	for (int i = 0; i < VIEW_FIELDS_MAX; i++) {
		const char *a_text = a->key->fields[i], *b_text = b->key->fields[i];
		int order = a_text && b_text ? strcmp(a_text, b_text) : 0;

		if (order)
			return order;
	}
	return 0;
}

struct err *diff_init(struct diff *d, const struct diff_merge *merge,
		      const struct diff_input *inputs, const struct diff_options *options)
{
	struct err *err;

	*d = (struct diff){ .options = *options,
			    .merge = merge,
			    .nsides = (uint32_t)merge->profile->types.len };
	d->groups = memory_zeroed(1, sizeof(*d->groups));
	diff_groups_init(d->groups, merge, inputs, options->by);
	err = make_sides(d, inputs);
	if (err)
		return err;
	for (uint32_t i = 0; i < d->groups->count; i++)
		compare_row(d, i);
	correct(d);
	d->effect = mean_effect(d);
	if (d->rows.len > 1)
		qsort_r(d->rows.items, d->rows.len, sizeof(*d->rows.items), compare_rows, d);
	return NULL;
}

void diff_deinit(struct diff *d)
{
	if (d->groups) {
		diff_groups_deinit(d->groups);
		free(d->groups);
	}
	vec_deinit(&d->rows);
	arena_deinit(&d->arena);
	*d = (struct diff){ 0 };
}

/* ---- what would have been found ---- */

/* A share that goes from p to q while all else stays has (q - p) / (p (1 - q)) more to do. */
static struct diff_least least(const struct diff *d, const struct diff_amount *a,
			       const struct diff_amount *b, const struct diff_how *how)
{
	struct diff_least ret = { .change = diff_detectable(a, b, how, d->tested) };
	double grown = a->value + ret.change;

	ret.slower = INFINITY;
	if (a->value > 0 && (!how->shares || grown < 1))
		ret.slower = ret.change / a->value / (how->shares ? 1 - grown : 1);
	return ret;
}

struct diff_least diff_least_of_row(const struct diff *d, const struct diff_row *row, uint32_t side)
{
	struct diff_amount a = amount_of(d, row->group, 0), b = amount_of(d, row->group, side);
	struct diff_how how = how_of_group(d, row->group);

	return least(d, &a, &b, &how);
}

struct diff_least diff_least_of_value(const struct diff *d, double value, uint32_t side)
{
	struct diff_amount a = { value, d->sides[0].unit, d->effect };
	struct diff_amount b = { value, d->sides[side].unit, d->effect };
	struct diff_how how = how_of(d);

	return least(d, &a, &b, &how);
}

double diff_function_effect(const struct diff *d, uint32_t function, uint32_t side)
{
	uint32_t group = d->groups->by_function[function];

	if (group == PROFILE_NONE)
		return 1;
	if (diff_groups_is_outside(d->groups, group))
		return INFINITY;

	struct diff_amount a = amount_of(d, group, 0), b = amount_of(d, group, side);

	return diff_common_effect(&a, &b);
}

bool diff_run_noise(const struct diff *d, uint32_t side, struct diff_noise *ret)
{
	VEC(struct diff_amount) a = { 0 }, b = { 0 };
	struct diff_how how = how_of(d);

	for (uint32_t group = 0; group < d->groups->count; group++) {
		if (diff_groups_sum(d->groups, group, 0)->count < NOISE_COUNT ||
		    diff_groups_sum(d->groups, group, side)->count < NOISE_COUNT ||
		    diff_groups_is_outside(d->groups, group))
			continue;
		vec_push(&a, amount_of(d, group, 0));
		vec_push(&b, amount_of(d, group, side));
	}

	bool enough = a.len >= NOISE_ROWS && d->options.by != VIEW_TOTAL;

	if (enough)
		*ret = diff_noise_of(a.items, b.items, a.len, &how);
	vec_deinit(&a);
	vec_deinit(&b);
	return enough;
}

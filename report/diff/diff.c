/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.c - sums become values by each side's scale; each value is compared with that of the first side.
 */
#include "report/diff/diff.h"

#include "report/diff/diff_merge.h"
#include "report/diff/diff_stats.h"
#include "report/diff/diff_threads.h"
#include "report/print/stats.h"
#include "report/view/view.h"
#include "report/view/view_keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the groups of one level over all merged recordings ---- */

/* Each merged row is looked at once for its groups; its sums and its times then go to all of them. */

struct diff_groups {
	struct view_keys *keys;
	struct arena arena;
	uint32_t count, nsides;
	struct profile_sum *sums;   /* [group * nsides + side] */
	struct profile_sum *wholes; /* [side] */
	bool *has_times;            /* [side] */
	float *blocks;       /* [(group * nsides + side) * DIFF_BLOCKS + block]: weight */
	double *whole_blocks; /* [side * DIFF_BLOCKS + block] */
	double *by_threads;   /* [group * nsides + side]: variance of the weight, by threads of one name */
	double *outside;      /* [group]: weight that ran within hardware interrupts */
	uint32_t *by_function; /* VIEW_TOTAL only: group of the first function that looks the same; PROFILE_NONE */
};

static inline const struct profile_sum *diff_groups_sum(const struct diff_groups *groups,
							uint32_t group, uint32_t side)
{
	return &groups->sums[(size_t)group * groups->nsides + side];
}

#define OUTSIDE_SHARE 0.9 /* of a group's weight that must lie within interrupts */

struct builder {
	struct diff_groups *groups;
	const struct diff_merge *merge;
	enum view_by by;
	VEC(uint32_t) members; /* row after row: its groups */
	VEC(size_t) first;     /* by row, and the end */
	struct map visits;     /* group -> row + 1 that counted it last */
};

static void add_member(struct builder *b, const struct view_path *path, size_t frame, uint32_t row)
{
	uint32_t group = view_keys_find(b->groups->keys, 0, path, frame);
	bool is_new;

	if (b->by == VIEW_TOTAL && path->len && path->frames[frame].function != PROFILE_NONE)
		b->groups->by_function[path->frames[frame].function] = group;

	uint64_t *visit = map_put(&b->visits, group, &is_new);

	if (!is_new && *visit == row + 1u)
		return;
	*visit = row + 1u;
	b->groups->count = MAX(b->groups->count, group + 1);
	vec_push(&b->members, group);
}

static void find_members(struct builder *b)
{
	const struct profile *p = b->merge->profile;
	CLEANUP(view_paths_deinit)
	struct view_paths paths = {
		.profile = p,
		.functions = view_keys_functions(b->groups->keys),
		.frames_max = b->by == VIEW_TOTAL ? SIZE_MAX : 2,
	};

	for (uint32_t row = 0; row < p->samples.len; row++) {
		struct view_path path;

		vec_push(&b->first, b->members.len);
		view_paths_make(&paths, &p->samples.items[row], &path);
		add_member(b, &path, 0, row);
		for (size_t i = 1; b->by == VIEW_TOTAL && i < path.len; i++)
			add_member(b, &path, i, row);
	}
	vec_push(&b->first, b->members.len);
}

/* The kernel's entries for hardware interrupts, x86-64 and aarch64. */
static bool is_interrupt(const struct profile *p, const struct profile_function *function)
{
	static const char *const names[] = { "asm_sysvec_",  "sysvec_",     "asm_common_interrupt",
					     "common_interrupt", "__irqentry_text", "el1h_64_irq",
					     "el0t_64_irq",  "asm_exc_nmi", "irq_exit_rcu" };
	const char *name = profile_text(p, function->name);

	if (profile_module(p, function->module)->kind != PROFILE_KERNEL)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Is such an entry on the stack? */
static bool within_interrupt(const struct profile *p, uint32_t stack)
{
	for (; stack; stack = p->stacks.items[stack].parent) {
		const struct profile_location *at =
			&p->locations.items[p->stacks.items[stack].location];

		if (profile_module(p, at->module)->kind != PROFILE_KERNEL)
			return false;
		for (uint32_t i = 0; i < at->nlines; i++) {
			const struct profile_line *line = &p->lines.items[at->first_line + i];

			if (is_interrupt(p, &p->functions.items[line->function]))
				return true;
		}
	}
	return false;
}

static void add_sums(struct builder *b)
{
	struct diff_groups *g = b->groups;
	const struct profile *p = b->merge->profile;

	g->sums = memory_zeroed((size_t)g->count * g->nsides + 1, sizeof(*g->sums));
	g->outside = memory_zeroed((size_t)g->count + 1, sizeof(*g->outside));
	for (uint32_t row = 0; row < p->samples.len; row++) {
		const struct profile_sample *sample = &p->samples.items[row];
		bool outside = within_interrupt(p, sample->stack);

		stats_add(&g->wholes[sample->type], sample);
		for (size_t i = b->first.items[row]; i < b->first.items[row + 1]; i++) {
			uint32_t group = b->members.items[i];

			stats_add(&g->sums[(size_t)group * g->nsides + sample->type], sample);
			g->outside[group] += outside ? (double)sample->weight : 0;
		}
	}
}

/* Threads are distinguished only in the recording's own profile. */
static void add_threads(struct builder *b, const struct profile *p, uint32_t side)
{
	struct diff_groups *g = b->groups;
	struct diff_threads threads;

	diff_threads_init(&threads, p, b->merge->events.items[side]);
	for (uint32_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *sample = &p->samples.items[i];
		uint32_t row = diff_merge_row(b->merge, side, i);

		for (size_t m = row == PROFILE_NONE ? 0 : b->first.items[row];
		     row != PROFILE_NONE && m < b->first.items[row + 1]; m++)
			diff_threads_add(&threads, b->members.items[m], sample->thread,
					 (double)sample->weight);
	}
	diff_threads_variances(&threads, g->count, g->by_threads + side, g->nsides);
	diff_threads_deinit(&threads);
}

static void add_times(struct builder *b, const struct profile *p, uint32_t side)
{
	struct diff_groups *g = b->groups;
	uint64_t start_ns = p->start_ns;
	uint64_t len_ns = p->end_ns - start_ns + 1;
	struct time_cursor cursor = time_series_begin(&p->times);
	struct profile_time when;

	while (time_series_next(&cursor, &when)) {
		uint32_t row = diff_merge_row(b->merge, side, when.row);
		double at = (double)(when.time_ns - start_ns) / (double)len_ns;
		unsigned block = (unsigned)(at * DIFF_BLOCKS);

		if (row == PROFILE_NONE)
			continue;
		block = MIN(block, DIFF_BLOCKS - 1);
		g->whole_blocks[side * DIFF_BLOCKS + block] += (double)when.weight;
		for (size_t i = b->first.items[row]; i < b->first.items[row + 1]; i++) {
			size_t at_group = (size_t)b->members.items[i] * g->nsides + side;

			g->blocks[at_group * DIFF_BLOCKS + block] += (float)when.weight;
		}
	}
}

/* Group by @by. The profile of each recording gives the times, if it has them. */
static void diff_groups_init(struct diff_groups *groups, const struct diff_merge *merge,
		      const struct diff_input *inputs, enum view_by by)
{
	const struct view_levels levels = { .items = { { by, 0 } }, .len = 1 };
	struct builder b = { .groups = groups, .merge = merge, .by = by };

	*groups = (struct diff_groups){ .nsides = (uint32_t)merge->profile->types.len };
	groups->keys = view_keys_new(merge->profile, &levels, &groups->arena);
	groups->wholes = ARENA_ARRAY(&groups->arena, struct profile_sum, groups->nsides + 1);
	groups->has_times = ARENA_ARRAY(&groups->arena, bool, groups->nsides + 1);
	groups->whole_blocks =
		ARENA_ARRAY(&groups->arena, double, (size_t)(groups->nsides + 1) * DIFF_BLOCKS);
	if (by == VIEW_TOTAL) {
		size_t count = merge->profile->functions.len;

		groups->by_function = ARENA_ARRAY(&groups->arena, uint32_t, count + 1);
		for (size_t i = 0; i < count; i++)
			groups->by_function[i] = PROFILE_NONE;
	}
	find_members(&b);
	add_sums(&b);
	groups->blocks = memory_zeroed(((size_t)groups->count * groups->nsides + 1) * DIFF_BLOCKS,
				       sizeof(*groups->blocks));
	groups->by_threads = memory_zeroed((size_t)groups->count * groups->nsides + 1,
					   sizeof(*groups->by_threads));
	for (uint32_t side = 0; side < groups->nsides; side++) {
		add_threads(&b, inputs[side].profile, side);
		groups->has_times[side] = inputs[side].profile->times.len > 0;
		add_times(&b, inputs[side].profile, side);
	}
	vec_deinit(&b.members);
	vec_deinit(&b.first);
	map_deinit(&b.visits);
}

static void diff_groups_deinit(struct diff_groups *groups)
{
	view_keys_free(groups->keys);
	free(groups->sums);
	free(groups->blocks);
	free(groups->by_threads);
	free(groups->outside);
	arena_deinit(&groups->arena);
	*groups = (struct diff_groups){ 0 };
}

/* The design effect of @group in recording @side, 1 where it is not known; see diff_stats.h. */
static double diff_groups_effect(const struct diff_groups *groups, uint32_t group, uint32_t side)
{
	const struct profile_sum *sum = diff_groups_sum(groups, group, side);
	const struct profile_sum *whole = &groups->wholes[side];
	const float *blocks =
		groups->blocks + ((size_t)group * groups->nsides + side) * DIFF_BLOCKS;
	float residuals[DIFF_BLOCKS];
	double share, independent, threads;

	if (!whole->weight || !profile_is_counted(whole))
		return 1;
	share = fmin(1, (double)sum->weight / (double)whole->weight);
	independent = whole->weight_sq * share * (1 - share);
	threads = groups->by_threads[(size_t)group * groups->nsides + side];
	threads = independent > 0 ? threads / independent : 1;
	if (!groups->has_times[side])
		return fmax(1, threads);

	for (unsigned i = 0; i < DIFF_BLOCKS; i++)
		residuals[i] = (float)(blocks[i] -
				       share * groups->whole_blocks[side * DIFF_BLOCKS + i]);
	return fmax(threads, diff_effect(residuals, independent));
}

/* Is what the group is made of the work of interrupts, which come whether the program changed or not? */
static bool diff_groups_is_outside(const struct diff_groups *groups, uint32_t group)
{
	double weight = 0;

	for (uint32_t side = 0; side < groups->nsides; side++)
		weight += (double)diff_groups_sum(groups, group, side)->weight;
	return groups->outside[group] > OUTSIDE_SHARE * weight;
}

/* ---- the comparison ---- */

#define OUTSIDE_NOISE 1  /* relative, of interrupts: they may come twice as often, or not at all */
#define TYPICAL_ROWS  5  /* as few say what is typical */
#define NOISE_ROWS    5  /* and as few what the noise is */
#define NOISE_COUNT   300 /* with so many samples on each side: more rows, but hardly more known */
#define TYPICAL_COUNT 30 /* samples on each side for a function to count there */

/* ---- scales ---- */

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return COMPARE(a, b);
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

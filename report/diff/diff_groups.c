/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_groups.c - each merged row is looked at once for its groups; its sums and its times then go to all of them.
 */
#include "report/diff/diff_groups.h"

#include "report/diff/diff_threads.h"
#include "report/view/stats.h"

#include <math.h>
#include <string.h>

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

void diff_groups_init(struct diff_groups *groups, const struct diff_merge *merge,
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

void diff_groups_deinit(struct diff_groups *groups)
{
	view_keys_free(groups->keys);
	free(groups->sums);
	free(groups->blocks);
	free(groups->by_threads);
	free(groups->outside);
	arena_deinit(&groups->arena);
	*groups = (struct diff_groups){ 0 };
}

double diff_groups_effect(const struct diff_groups *groups, uint32_t group, uint32_t side)
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

bool diff_groups_is_outside(const struct diff_groups *groups, uint32_t group)
{
	double weight = 0;

	for (uint32_t side = 0; side < groups->nsides; side++)
		weight += (double)diff_groups_sum(groups, group, side)->weight;
	return groups->outside[group] > OUTSIDE_SHARE * weight;
}

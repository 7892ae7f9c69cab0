/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_lengths.c - rows are given their groups once, waits go by their rows.
 */
#include "report/view/wait_lengths.h"

#include "formats/base/memory.h"
#include "report/view/idle_waits.h"
#include "report/view/view_keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add(struct wait_group *group, uint64_t len_ns, bool failed)
{
	unsigned bucket = len_ns ? 63u - (unsigned)__builtin_clzll(len_ns) : 0;

	vec_push(&group->lengths_ns, len_ns);
	group->total_ns += len_ns;
	group->errors += failed;
	group->buckets[MIN(bucket, WAIT_BUCKETS - 1u)]++;
}

static int compare_lengths(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int compare_groups(const void *left, const void *right)
{
	const struct wait_group *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	for (unsigned i = 0; i < VIEW_FIELDS_MAX && a->fields[i] && b->fields[i]; i++) {
		int order = strcmp(a->fields[i], b->fields[i]);

		if (order)
			return order;
	}
	return 0;
}

/* A system call that failed says with what. */
static bool has_failed(const struct profile *p, const struct profile_sample *row)
{
	const struct profile_label_set *set = &p->label_sets.items[row->labels];

	if (row->state != PROFILE_STATE_CALL)
		return false;
	for (uint32_t i = 0; i < set->count; i++)
		if (strcmp(profile_text(p, p->labels.items[set->first + i].key), "error") == 0)
			return true;
	return false;
}

/* The group of each row of the profile; those of other events have none. */
static uint32_t *group_rows(struct wait_lengths *w, const struct profile *p, const bool *idle,
			    const struct wait_lengths_request *request)
{
	struct view_levels levels = { .items = { request->level }, .len = 1 };
	struct view_keys *keys = view_keys_new(p, &levels, &w->arena);
	struct view_paths paths = { .profile = p, .functions = view_keys_functions(keys), .native = request->native, .idle = idle,
				    .frames_max = SIZE_MAX };
	uint32_t *groups = memory_zeroed(p->samples.len + 1, sizeof(*groups));
	struct view_path path;

	for (uint32_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];

		groups[i] = PROFILE_NONE;
		if (row->type != request->event || !view_paths_make(&paths, row, &path))
			continue;
		groups[i] = view_keys_find(keys, 0, &path, 0);
		while (w->groups.len <= groups[i])
			vec_push(&w->groups, ((struct wait_group){ 0 }));
		memcpy(w->groups.items[groups[i]].fields, view_keys_get(keys, 0, groups[i])->fields,
		       sizeof(w->groups.items[0].fields));
	}
	view_paths_deinit(&paths);
	view_keys_free(keys);
	return groups;
}

void wait_lengths_collect(struct wait_lengths *w, const struct profile *p, const struct profile_facts *facts,
			  const struct wait_lengths_request *request)
{
	bool *idle = request->idle ? NULL : idle_waits_find(p, facts->lives.window_ns);
	uint32_t *groups = group_rows(w, p, idle, request);

	struct time_cursor cursor = time_series_begin(&p->times);
	struct profile_time when;

	while (time_series_next(&cursor, &when)) {
		if (!when.has_duration || groups[when.row] == PROFILE_NONE)
			continue;
		bool failed = has_failed(p, &p->samples.items[when.row]);

		add(&w->groups.items[groups[when.row]], when.duration_ns, failed);
		add(&w->all, when.duration_ns, failed);
	}
	free(groups);
	free(idle);
	for (size_t i = 0; i < w->groups.len; i++)
		vec_sort(&w->groups.items[i].lengths_ns, compare_lengths);
	vec_sort(&w->all.lengths_ns, compare_lengths);
	vec_sort(&w->groups, compare_groups);
}

void wait_lengths_deinit(struct wait_lengths *w)
{
	for (size_t i = 0; i < w->groups.len; i++)
		vec_deinit(&w->groups.items[i].lengths_ns);
	vec_deinit(&w->all.lengths_ns);
	vec_deinit(&w->groups);
	arena_deinit(&w->arena);
}

uint64_t wait_group_quantile(const struct wait_group *group, double part)
{
	size_t count = group->lengths_ns.len;
	size_t rank = (size_t)ceil(part * (double)count);

	return count ? group->lengths_ns.items[rank ? MIN(rank, count) - 1 : 0] : 0;
}

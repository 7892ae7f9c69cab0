/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_table.c - rows are made when the counters are open, so that they stand in the
 * order of CPUs or threads, then of events.
 */
#include "record/stat/stat_table.h"

#include "formats/event.h"
#include "record/system/text_file.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TOPOLOGY   "/sys/devices/system/cpu/cpu%d/topology/%s"
#define CORE_SHIFT 32 /* of the package in a core's key */

void stat_table_init(struct stat_table *t, const struct event_list *list, enum stat_by by)
{
	*t = (struct stat_table){ .list = list, .by = by };
}

void stat_table_deinit(struct stat_table *t)
{
	vec_deinit(&t->rows);
	arena_deinit(&t->arena);
}

void stat_table_reset(struct stat_table *t)
{
	for (size_t i = 0; i < t->rows.len; i++) {
		struct stat_row *row = &t->rows.items[i];

		row->value = (struct counter_value){ 0 };
		row->sum = row->sum_sq = row->run = 0;
		row->runs = 0;
		if (row->state == STAT_COUNTED || row->state == STAT_IMPOSSIBLE)
			row->state = STAT_NOT_COUNTED;
	}
}

static uint64_t topology(int cpu, const char *what)
{
	char path[128];
	uint64_t number = 0;

	snprintf(path, sizeof(path), TOPOLOGY, cpu, what);
	return text_file_u64(path, &number) ? number : 0;
}

static uint64_t key_of(const struct stat_table *t, const struct counter *counter)
{
	switch (t->by) {
	case STAT_BY_CPU:
		return (uint64_t)counter->cpu;
	case STAT_BY_CORE:
		return topology(counter->cpu, "physical_package_id") << CORE_SHIFT |
		       topology(counter->cpu, "core_id");
	case STAT_BY_SOCKET:
		return topology(counter->cpu, "physical_package_id");
	case STAT_BY_THREAD:
		return (uint64_t)counter->tid;
	default:
		return 0;
	}
}

static const char *thread_name(struct arena *arena, uint64_t tid)
{
	char path[64];
	const char *name = "";

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/comm", tid);
	err_free(text_file_read(path, arena, &name));
	return arena_printf(arena, "%" PRIu64 " %s", tid, name);
}

static const char *place_of(struct stat_table *t, uint64_t key)
{
	switch (t->by) {
	case STAT_BY_CPU:
	case STAT_BY_SOCKET:
		return arena_printf(&t->arena, "%" PRIu64, key);
	case STAT_BY_CORE:
		return arena_printf(&t->arena, "%" PRIu64 "/%" PRIu64, key >> CORE_SHIFT,
				    key & UINT32_MAX);
	case STAT_BY_THREAD:
		return thread_name(&t->arena, key);
	default:
		return "";
	}
}

/* The first row of the place, which has one for each event; they are made if there are none yet. */
static size_t rows_of(struct stat_table *t, uint64_t key, const struct counter_set *set)
{
	size_t first = t->rows.len;

	/* Counters come by place: it is the last one, or the next. */
	for (size_t i = 0; i < t->rows.len; i += t->list->len) {
		size_t at = (t->at + i) % t->rows.len;

		if (t->rows.items[at].key == key)
			return t->at = at;
	}
	const char *place = place_of(t, key);

	for (uint32_t i = 0; i < t->list->len; i++)
		vec_push(&t->rows, ((struct stat_row){
					   .place = place,
					   .key = key,
					   .event = i,
					   .state = set->refusals[i] ? STAT_NOT_SUPPORTED
								     : STAT_NOT_COUNTED,
				   }));
	return t->at = first;
}

void stat_table_prepare(struct stat_table *t, const struct counter_set *set)
{
	if (!set->items.len)
		rows_of(t, 0, set);
	for (size_t i = 0; i < set->items.len; i++)
		rows_of(t, key_of(t, &set->items.items[i]), set);
}

static bool is_possible(const struct event_desc *desc, const struct counter_value *value)
{
	bool of_core = desc->type == PERF_TYPE_HARDWARE || desc->type == PERF_TYPE_HW_CACHE ||
		       desc->type == PERF_TYPE_RAW || (desc->pmu && desc->pmu->is_core);

	return !of_core || event_count_is_possible(value->value, value->running_ns);
}

void stat_table_add(struct stat_table *t, struct counter_set *set)
{
	struct counter_value value;

	for (size_t i = 0; i < set->items.len; i++) {
		const struct counter *counter = &set->items.items[i];
		size_t first = rows_of(t, key_of(t, counter), set);
		struct stat_row *row = &t->rows.items[first + counter->event];

		if (!counter_set_delta(set, i, &value))
			continue;
		row->value.value += value.value;
		row->value.enabled_ns += value.enabled_ns;
		row->value.running_ns += value.running_ns;
		row->run += counter_value_scaled(&value);
		if (!is_possible(&t->list->items[row->event], &value))
			row->state = STAT_IMPOSSIBLE;
		else if (value.running_ns && row->state != STAT_IMPOSSIBLE)
			row->state = STAT_COUNTED;
	}
}

void stat_table_end_run(struct stat_table *t)
{
	for (size_t i = 0; i < t->rows.len; i++) {
		struct stat_row *row = &t->rows.items[i];

		row->sum += row->run;
		row->sum_sq += row->run * row->run;
		row->run = 0;
		row->runs++;
	}
}

static int compare_places(const void *left, const void *right)
{
	const struct stat_row *a = *(const struct stat_row *const *)left;
	const struct stat_row *b = *(const struct stat_row *const *)right;

	return a->sum != b->sum ? (a->sum < b->sum ? 1 : -1) : COMPARE(a->key, b->key);
}

void stat_table_sort(struct stat_table *t)
{
	size_t len = t->list->len, places = len ? t->rows.len / len : 0;
	CLEANUP(memory_freep) const struct stat_row **order = memory_zeroed(places + 1, sizeof(*order));
	CLEANUP(memory_freep) struct stat_row *sorted = memory_zeroed(t->rows.len + 1, sizeof(*sorted));

	for (size_t i = 0; i < places; i++)
		order[i] = &t->rows.items[i * len];
	qsort(order, places, sizeof(*order), compare_places);
	for (size_t i = 0; i < places; i++)
		memcpy(&sorted[i * len], order[i], len * sizeof(*sorted));
	memcpy(t->rows.items, sorted, places * len * sizeof(*sorted));
}

double stat_row_mean(const struct stat_row *row)
{
	return row->runs ? row->sum / row->runs : 0;
}

double stat_row_spread(const struct stat_row *row)
{
	double n = row->runs, mean = stat_row_mean(row);

	if (row->runs < 2 || mean <= 0)
		return 0;
	double variance = fmax(0, (row->sum_sq - n * mean * mean) / (n - 1));

	return 100 * sqrt(variance / n) / mean;
}

double stat_row_share(const struct stat_row *row)
{
	if (!row->value.enabled_ns)
		return 0;
	return fmin(1, (double)row->value.running_ns / (double)row->value.enabled_ns);
}

const struct stat_row *stat_table_find(const struct stat_table *t, const struct stat_row *row,
				       uint32_t type, uint64_t config)
{
	const struct event_desc *own = &t->list->items[row->event];
	size_t first = (size_t)(row - t->rows.items) - row->event;

	for (size_t i = first; i < first + t->list->len; i++) {
		const struct stat_row *other = &t->rows.items[i];
		const struct event_desc *desc = &t->list->items[other->event];
		bool same_levels = desc->exclude_user == own->exclude_user &&
				   desc->exclude_kernel == own->exclude_kernel;

		if (other->state == STAT_COUNTED && desc->type == type &&
		    (desc->config & UINT32_MAX) == config &&
		    (desc->pmu == own->pmu || !desc->pmu || !own->pmu) &&
		    (same_levels || type == PERF_TYPE_SOFTWARE))
			return other;
	}
	return NULL;
}

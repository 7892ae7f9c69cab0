/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_metric.c - a table of pairs of events; an event without a pair gets a rate over CPU time.
 */
#include "record/stat/stat_metric.h"

#include "formats/base/text.h"

#include <linux/perf_event.h>
#include <string.h>

#define FULL_SHARE 0.995 /* not multiplexed, allowing for rounding */

#define HW PERF_TYPE_HARDWARE
#define SW PERF_TYPE_SOFTWARE
#define CACHE(cache, op, result) \
	PERF_TYPE_HW_CACHE, (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
			     PERF_COUNT_HW_CACHE_RESULT_##result << 16)

struct ratio {
	uint32_t type;
	uint64_t config;
	uint32_t base_type;
	uint64_t base_config;
	double factor;
	const char *unit;
};

static const struct ratio ratios[] = {
	{ HW, PERF_COUNT_HW_INSTRUCTIONS, HW, PERF_COUNT_HW_CPU_CYCLES, 1, "a cycle" },
	{ HW, PERF_COUNT_HW_CPU_CYCLES, SW, PERF_COUNT_SW_TASK_CLOCK, 1, "GHz" },
	{ HW, PERF_COUNT_HW_CPU_CYCLES, SW, PERF_COUNT_SW_CPU_CLOCK, 1, "GHz" },
	{ HW, PERF_COUNT_HW_BRANCH_MISSES, HW, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100,
	  "% of branches" },
	{ HW, PERF_COUNT_HW_CACHE_MISSES, HW, PERF_COUNT_HW_CACHE_REFERENCES, 100,
	  "% of cache references" },
	{ HW, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, HW, PERF_COUNT_HW_CPU_CYCLES, 100,
	  "% of cycles" },
	{ HW, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, HW, PERF_COUNT_HW_CPU_CYCLES, 100,
	  "% of cycles" },
	{ CACHE(L1D, READ, MISS), CACHE(L1D, READ, ACCESS), 100, "% of L1 loads" },
	{ CACHE(LL, READ, MISS), CACHE(LL, READ, ACCESS), 100, "% of LLC loads" },
	{ CACHE(DTLB, READ, MISS), CACHE(DTLB, READ, ACCESS), 100, "% of TLB loads" },
};

static const struct {
	const char *name, *events;
} names[] = {
	{ "ipc", "cycles,instructions" },
	{ "ghz", "task-clock,cycles" },
	{ "cpus", "task-clock" },
	{ "branch-miss-rate", "branches,branch-misses" },
	{ "cache-miss-rate", "cache-references,cache-misses" },
	{ "l1d-miss-rate", "L1-dcache-loads,L1-dcache-load-misses" },
	{ "llc-miss-rate", "LLC-loads,LLC-load-misses" },
	{ "dtlb-miss-rate", "dTLB-loads,dTLB-load-misses" },
	{ "frontend-stalls", "cycles,stalled-cycles-frontend" },
	{ "backend-stalls", "cycles,stalled-cycles-backend" },
};

static bool is_clock(const struct event_desc *desc)
{
	return desc->type == SW && (desc->config == PERF_COUNT_SW_TASK_CLOCK ||
				    desc->config == PERF_COUNT_SW_CPU_CLOCK);
}

static bool find_ratio(const struct stat_table *t, const struct stat_row *row,
		       struct stat_metric *ret)
{
	const struct event_desc *desc = &t->list->items[row->event];

	for (size_t i = 0; i < ARRAY_LEN(ratios); i++) {
		const struct ratio *ratio = &ratios[i];

		if (desc->type != ratio->type || (desc->config & UINT32_MAX) != ratio->config)
			continue;
		const struct stat_row *base =
			stat_table_find(t, row, ratio->base_type, ratio->base_config);

		if (!base || stat_row_mean(base) <= 0)
			continue;
		/* Ratios of multiplexed counts: the two may cover different times. */
		ret->apart = desc->leader != t->list->items[base->event].leader &&
			     (stat_row_share(row) < FULL_SHARE || stat_row_share(base) < FULL_SHARE);
		ret->value = ratio->factor * stat_row_mean(row) / stat_row_mean(base);
		ret->unit = ratio->unit;
		return true;
	}
	return false;
}

/* Events per second of CPU time. */
static bool find_rate(const struct stat_table *t, const struct stat_row *row,
		      struct stat_metric *ret)
{
	static const char *const units[] = { "/sec", "K/sec", "M/sec", "G/sec" };
	const struct stat_row *clock = stat_table_find(t, row, SW, PERF_COUNT_SW_TASK_CLOCK);
	size_t unit = 0;

	if (!clock)
		clock = stat_table_find(t, row, SW, PERF_COUNT_SW_CPU_CLOCK);
	if (!clock || stat_row_mean(clock) <= 0)
		return false;
	ret->value = stat_row_mean(row) / (stat_row_mean(clock) / 1e9);
	for (; ret->value >= 1000 && unit + 1 < ARRAY_LEN(units); unit++)
		ret->value /= 1000;
	ret->unit = units[unit];
	return true;
}

bool stat_metric_of(const struct stat_table *t, const struct stat_row *row, double elapsed_s,
		    struct stat_metric *ret)
{
	const struct event_desc *desc = &t->list->items[row->event];

	*ret = (struct stat_metric){ 0 };
	if (is_clock(desc)) {
		ret->value = elapsed_s > 0 ? stat_row_mean(row) / 1e9 / elapsed_s : 0;
		ret->unit = "CPUs utilized";
		return elapsed_s > 0;
	}
	if (desc->scale_unit && *desc->scale_unit)
		return false;
	return find_ratio(t, row, ret) || find_rate(t, row, ret);
}

/* Add those of @events that the list does not have yet. */
static struct err *add_events(struct event_list *list, const char *events)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	char *rest = arena_strdup(&arena, events);

	while (rest) {
		const char *name = strsep(&rest, ",");
		bool known = false;

		for (size_t i = 0; i < list->len && !known; i++)
			known = !strcmp(list->items[i].name, name);
		struct err *err = known ? NULL : event_list_add(list, name);

		if (err)
			return err;
	}
	return NULL;
}

static struct err *add_metric(struct event_list *list, const char *name)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct text_near near = { .wanted = name };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!strcmp(names[i].name, name))
			return add_events(list, names[i].events);
		text_near_offer(&near, names[i].name);
	}
	const char *hint = text_near_hint(&near, &arena);

	return err_remedy(err_new(ERR_USAGE, "no metric '%s'", name), "%s",
			  hint ? hint : "there are " STAT_METRIC_NAMES);
}

struct err *stat_metric_parse(void *field, const char *value)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	char *rest = arena_strdup(&arena, value);
	struct err *err = NULL;

	while (rest && !err)
		err = add_metric(field, strsep(&rest, ","));
	return err;
}

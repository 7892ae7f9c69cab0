/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_filter.c - rows pass or not; with a window of time they are summed up again from the samples in it.
 */
#include "report/load/profile_filter.h"

#include "report/print/stats.h"

#include <string.h>

/* What lies in the window; rows that have nothing there get a count of 0. */
static void sum_window(struct profile *p, const struct filter *filter)
{
	struct time_cursor cursor = time_series_begin(&p->times);
	struct time_series kept = { 0 };
	struct profile_time at;

	for (size_t i = 0; i < p->samples.len; i++) {
		p->samples.items[i].count = 0;
		p->samples.items[i].weight = 0;
		p->samples.items[i].weight_sq *= 0; /* PROFILE_UNCOUNTED stays that */
		p->samples.items[i].exact = 0;
	}
	p->weight_used = 0;
	while (time_series_next(&cursor, &at)) {
		struct profile_sample *row = &p->samples.items[at.row];

		if (!filter_passes_time(filter, at.time_ns))
			continue;
		/* Samples of a file need not be those that its sums were made of. */
		if (!profile_fits(p, at.weight))
			at.weight = 0;
		p->weight_used += (uint64_t)(at.weight < 0 ? -at.weight : at.weight);
		row->count++;
		row->weight += at.weight;
		row->weight_sq += (double)at.weight * (double)at.weight;
		time_series_add(&kept, &at);
	}
	time_series_deinit(&p->times);
	p->times = kept;
}

/* What @row is from now on; false: it does not pass. */
typedef bool judge_row(void *context, const struct filter *filter, struct profile *p, struct profile_sample *row);

static bool judge_whole(void *context, const struct filter *filter, struct profile *p, struct profile_sample *row)
{
	struct reshape *reshape = context;

	return row->count && filter_passes_row(filter, p, row) &&
	       (!reshape || reshape_stack(reshape, p, row->stack, &row->stack));
}

static bool judge_labels(void *context, const struct filter *filter, struct profile *p, struct profile_sample *row)
{
	(void)context;
	return filter_passes_labels(filter, p, row->labels);
}

static void keep_rows(struct profile *p, const struct filter *filter, judge_row *judge, void *context,
		      struct profile_sum *matched)
{
	uint32_t *number_of = memory_alloc((p->samples.len + 1) * sizeof(*number_of));
	uint32_t kept = 0;

	for (size_t i = 0; i < p->samples.len; i++) {
		struct profile_sample row = p->samples.items[i];

		number_of[i] = UINT32_MAX;
		if (!judge(context, filter, p, &row))
			continue;
		stats_add(matched, &row);
		number_of[i] = kept;
		p->samples.items[kept++] = row;
	}
	if (kept < p->samples.len)
		time_series_renumber(&p->times, number_of);
	p->samples.len = kept;
	free(number_of);
}

/* ---- what the input lacks ---- */

static bool has_pids(const struct profile *p)
{
	for (size_t i = 0; i < p->threads.len; i++)
		if (p->threads.items[i].pid != PROFILE_NONE)
			return true;
	return false;
}

static bool has_tids(const struct profile *p)
{
	for (size_t i = 0; i < p->threads.len; i++)
		if (p->threads.items[i].tid != PROFILE_NONE)
			return true;
	return false;
}

static bool has_thread_names(const struct profile *p)
{
	for (size_t i = 0; i < p->threads.len; i++)
		if (p->threads.items[i].comm || p->threads.items[i].process)
			return true;
	return false;
}

static bool has_cpus(const struct profile *p)
{
	for (size_t i = 0; i < p->samples.len; i++)
		if (p->samples.items[i].cpu != PROFILE_NONE)
			return true;
	return false;
}

/* A filter on what the input does not know would let nothing pass and say that nothing was there. */
static struct err *check_wanted(const struct profile *p, const struct filter *filter, const char *input)
{
	const struct {
		bool wanted, there;
		const char *option, *what;
	} parts[] = {
		{ filter->window, p->times.len, "--time", "times" },
		{ filter->pids.ranges.len, has_pids(p), "--pid", "process IDs" },
		{ filter->tids.ranges.len, has_tids(p), "--tid", "thread IDs" },
		{ filter->comms.len, has_thread_names(p), "--comm", "names of threads or processes" },
		{ filter->cpus.ranges.len, has_cpus(p), "--cpu", "CPUs" },
		{ filter->modules.len, p->modules.len, "--module", "modules" },
		{ filter->wheres.len, p->labels.len, "--where", "labels" },
		{ filter->min_wait_ns, false, "--min-wait", "context switches" },
		{ filter->max_wait_ns, false, "--max-wait", "context switches" },
	};

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (parts[i].wanted && !parts[i].there)
			return err_remedy(err_new(ERR_UNSUPPORTED, "'%s' has no %s, so %s cannot choose samples",
						  input, parts[i].what, parts[i].option),
					  "'preport info' lists what a profile holds");
	return NULL;
}

struct err *profile_filter_apply(struct profile *p, struct filter *filter, const struct profile_facts *facts,
				 struct profile_sum *matched)
{
	struct err *err = check_wanted(p, filter, facts->input);

	if (!err)
		err = filter_bind(filter, p, facts);
	if (!err)
		err = filter_bind_labels(filter, p);
	if (err)
		return err;
	if (filter->window)
		sum_window(p, filter);

	struct reshape *reshape = reshape_is_given(&filter->reshape) ? reshape_new(&filter->reshape) : NULL;

	keep_rows(p, filter, judge_whole, reshape, matched);
	reshape_free(reshape);
	p->start_ns = p->times.first_ns;
	p->end_ns = p->times.last_ns;
	return NULL;
}

struct err *profile_filter_by_labels(struct profile *p, struct filter *filter, struct profile_sum *matched)
{
	struct err *err = filter_has_late(filter) ? filter_bind_late(filter, p) : NULL;

	if (err || !filter_has_late(filter))
		return err;
	*matched = (struct profile_sum){ 0 };
	keep_rows(p, filter, judge_labels, NULL, matched);
	return NULL;
}

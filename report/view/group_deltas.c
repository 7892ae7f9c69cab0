/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_deltas.c - the last reading of each event in each context, in a map.
 *
 * All members of a sample are used or none, so that the parts of a ratio are of the same moments.
 */
#include "report/view/group_deltas.h"

#define START_SLACK_NS 1000000

enum delta_state {
	DELTA_USED,
	DELTA_FIRST,
	DELTA_NOT_COUNTED,
	DELTA_IMPOSSIBLE,
};

void group_deltas_init(struct group_deltas *g, const struct recording *rec)
{
	*g = (struct group_deltas){ .by_cpu = rec->by_cpu || rec->system_wide,
				    .start_ns = rec->start_ns,
				    .nevents = rec->nevents };
}

void group_deltas_deinit(struct group_deltas *g)
{
	map_deinit(&g->last);
	vec_deinit(&g->readings);
	vec_deinit(&g->now);
}

/* A thread's counters start with it at 0; not so where the file began later than the recording. */
static bool begins_at_zero(const struct group_deltas *g, const struct event *ev,
			   const struct event_count *count)
{
	return !g->by_cpu && ev->time_ns >= g->start_ns &&
	       count->enabled_ns <= ev->time_ns - g->start_ns + START_SLACK_NS;
}

/* The reading before that of @count, which is put in its place; false if there is none. */
static bool exchange(struct group_deltas *g, const struct event *ev,
		     const struct event_count *count, struct event_count *ret)
{
	uint64_t key = (uint64_t)(ev->cpu & 0xffff) << 44 | (uint64_t)(count->event & 0xfff) << 32 |
		       (g->by_cpu ? 0 : ev->tid);
	bool is_new;
	uint64_t *index = map_put(&g->last, key, &is_new);

	*ret = (struct event_count){ .event = count->event };
	if (is_new) {
		*index = g->readings.len;
		vec_push(&g->readings, *count);
		return begins_at_zero(g, ev, count);
	}
	struct event_count before = g->readings.items[*index];

	g->readings.items[*index] = *count;
	if (count->enabled_ns < before.enabled_ns) /* another thread of the same number */
		return begins_at_zero(g, ev, count);
	*ret = before;
	return true;
}

static enum delta_state delta_of(struct group_deltas *g, const struct event *ev,
				 const struct event_count *count, struct event_count *ret)
{
	struct event_count before;

	if (!exchange(g, ev, count, &before))
		return DELTA_FIRST;
	if (count->value < before.value || count->running_ns < before.running_ns)
		return DELTA_IMPOSSIBLE;
	ret->event = count->event;
	ret->value = count->value - before.value;
	ret->enabled_ns = count->enabled_ns - before.enabled_ns;
	ret->running_ns = count->running_ns - before.running_ns;
	if (!ret->running_ns && ret->enabled_ns)
		return DELTA_NOT_COUNTED;
	if (count->enabled_ns && !event_count_is_possible(ret->value, ret->running_ns))
		return DELTA_IMPOSSIBLE;
	return DELTA_USED;
}

static void put(struct group_deltas *g, const struct event_count *delta)
{
	double scale = 1;

	if (delta->running_ns && delta->running_ns < delta->enabled_ns)
		scale = (double)delta->enabled_ns / (double)delta->running_ns;
	vec_push(&g->now, ((struct group_delta){ delta->event, (double)delta->value * scale }));
}

void group_deltas_add(struct group_deltas *g, const struct event *ev)
{
	const struct event_sample *sample = &ev->sample;
	struct event_count delta = { 0 };
	enum delta_state worst = DELTA_USED;

	g->now.len = 0;
	if (ev->kind != EVENT_SAMPLE || !sample->ncounts)
		return;
	for (size_t i = 0; i < sample->ncounts; i++) {
		enum delta_state state;

		if (sample->counts[i].event >= g->nevents)
			continue;
		state = delta_of(g, ev, &sample->counts[i], &delta);

		worst = MAX(worst, state);
		if (state == DELTA_USED)
			put(g, &delta);
	}
	g->unwind_quality.used += worst == DELTA_USED;
	g->unwind_quality.first += worst == DELTA_FIRST;
	g->unwind_quality.not_counted += worst == DELTA_NOT_COUNTED;
	g->unwind_quality.impossible += worst == DELTA_IMPOSSIBLE;
	if (worst == DELTA_USED) {
		g->unwind_quality.enabled_ns += delta.enabled_ns;
		g->unwind_quality.running_ns += delta.running_ns;
	} else {
		g->now.len = 0;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measures.c - sums, and the spread of a formula over them.
 *
 *	counts[k] sums[k] products[k (k + 1) / 2]	the latter of terms i >= j at i (i + 1) / 2 + j
 *
 * The number of samples is itself left to chance, so the variance of a sum is that of its squares, not of their distance
 * from the mean (compound Poisson). For ratios, which are all that is asked for here, both give the same. Terms that are
 * never in one sample have products of zero: they are independent.
 */
#include "report/view/measures.h"


#include <math.h>

/* ---- what each event of a group counted since the sample before, of counts that only grow ---- */

/*
 * The last reading of each event in each context, in a map. All members of a sample are used or none, so that the parts
 * of a ratio are of the same moments.
 */

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

/* ---- measures ---- */

#define Z    1.959963984540054 /* 95 % of a normal distribution lie within this many deviations */
#define STEP 1e-4              /* relative, of a term, to see how the formula moves */

size_t measures_len(const struct measures *m)
{
	size_t k = m->nterms;

	return 2 * k + k * (k + 1) / 2;
}

void measures_deinit(struct measures *m)
{
	vec_deinit(&m->rows);
}

static double *row_of(struct measures *m, uint32_t row)
{
	size_t len = measures_len(m), need = ((size_t)row + 1) * len;

	if (m->rows.len < need) {
		vec_reserve(&m->rows, need - m->rows.len);
		memset(m->rows.items + m->rows.len, 0, (need - m->rows.len) * sizeof(double));
		m->rows.len = need;
	}
	return m->rows.items + (size_t)row * len;
}

static void add(struct measures *m, uint32_t row, const double *values, const bool *have)
{
	double *counts = row_of(m, row), *sums = counts + m->nterms, *products = sums + m->nterms;

	for (unsigned i = 0; i < m->nterms; i++) {
		counts[i] += have[i];
		sums[i] += values[i];
		for (unsigned j = 0; j <= i; j++)
			*products++ += values[i] * values[j];
	}
}

void measures_add_deltas(struct measures *m, uint32_t row, const struct group_delta *deltas,
			 size_t count)
{
	double values[MEASURES_TERMS_MAX] = { 0 };
	bool have[MEASURES_TERMS_MAX] = { 0 }, any = false;

	for (size_t i = 0; i < count; i++) {
		uint32_t term = m->term_of[deltas[i].event];

		if (!term)
			continue;
		values[term - 1] = deltas[i].value;
		any = have[term - 1] = true;
	}
	if (any)
		add(m, row, values, have);
}

void measures_add_period(struct measures *m, uint32_t row, uint32_t event, uint64_t period)
{
	double values[MEASURES_TERMS_MAX] = { 0 };
	bool have[MEASURES_TERMS_MAX] = { 0 };
	uint32_t term = m->term_of[event];

	if (!term)
		return;
	values[term - 1] = (double)period;
	have[term - 1] = true;
	add(m, row, values, have);
}

void measures_sum_row(const struct measures *m, uint32_t row, double *sums)
{
	size_t len = measures_len(m);

	if (((size_t)row + 1) * len > m->rows.len)
		return;
	for (size_t i = 0; i < len; i++)
		sums[i] += m->rows.items[(size_t)row * len + i];
}

/* How @e moves when term @i does. */
static double slope(const struct metric_expr *e, double *terms, unsigned i, double step)
{
	double at = terms[i], up, down;

	terms[i] = at + step;
	up = metric_expr_value(e, terms);
	terms[i] = at - step;
	down = metric_expr_value(e, terms);
	terms[i] = at;
	return (up - down) / (2 * step);
}

static double variance(const struct measures *m, const double *sums, const struct metric_expr *e,
		       double n)
{
	double terms[MEASURES_TERMS_MAX], slopes[MEASURES_TERMS_MAX], sum = 0;
	const double *products = sums + 2 * m->nterms;

	memcpy(terms, sums + m->nterms, m->nterms * sizeof(*terms));
	for (unsigned i = 0; i < m->nterms; i++)
		slopes[i] = terms[i] != 0 ? slope(e, terms, i, STEP * terms[i]) : 0;
	for (unsigned i = 0; i < m->nterms; i++)
		for (unsigned j = 0; j <= i; j++)
			sum += (i == j ? 1 : 2) * slopes[i] * slopes[j] * *products++;
	return fmax(sum, 0) * n / (n - 1);
}

/* Which terms @e speaks of. */
static void mark(const struct metric_expr *e, bool *used)
{
	if (e->op == METRIC_NAME)
		used[e->term] = true;
	if (e->left)
		mark(e->left, used);
	if (e->right)
		mark(e->right, used);
}

struct measure_value measures_value(const struct measures *m, const double *sums,
				    const struct metric_expr *e)
{
	struct measure_value ret = { .n = UINT64_MAX };
	bool used[MEASURES_TERMS_MAX] = { 0 };

	mark(e, used);
	for (unsigned i = 0; i < m->nterms; i++)
		ret.n = used[i] ? MIN(ret.n, (uint64_t)sums[i]) : ret.n;
	if (ret.n == UINT64_MAX)
		ret.n = 0;
	ret.value = metric_expr_value(e, sums + m->nterms);
	if (ret.n < MEASURES_LEAST || !isfinite(ret.value))
		return ret;

	double half = Z * sqrt(variance(m, sums, e, (double)ret.n));

	ret.known = isfinite(half);
	ret.low = ret.value - half;
	ret.high = ret.value + half;
	return ret;
}

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

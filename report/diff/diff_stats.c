/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_stats.c - the tests behind "is more than noise".
 *
 * DIFF_RUN_NOISE and DIFF_RUN_FLOOR: 100 pairs of equal runs on a busy machine (tests/bench/diff-alarms, 997 Hz) and 45 of ten runs
 * with four times the samples. Of the first 2 reports by leaf name a change with 0.05 and no floor, 1 with 0.03 and the
 * floor; of the second 8 (one function of 0.5 % that took 1.4 % in one run) and none. A third of the time that grew by
 * 30 % is found in 3 of 10 with 0.05, in all with 0.03. Interrupts, and threads of one name that share their work in
 * another way each time, are left to diff_threads.h and diff_groups_is_outside(): without them 8 reports by total name one.
 */
#include "report/diff/diff_stats.h"

#include "formats/base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define Z           1.959963984540054 /* 95 % of a normal distribution lie within this many deviations */
#define Z_ONE_SIDED 1.644853626951472 /* and below this many */
#define Z_POWER     0.841621233572914 /* and DIFF_POWER of it below this many */

#define EXACT_BELOW 30 /* samples of both sides; as many are normal enough */
#define FREEDOM     (2.0 * 2 / 3 * DIFF_BLOCKS) /* of two variances by successive differences */
#define TERMS_MAX   500
#define GROWTH_MAX  1000 /* times the whole; amounts have no end */

/* ---- distributions ---- */

double diff_normal_tail(double z)
{
	return erfc(z / M_SQRT2) / 2;
}

static double away_from_zero(double value)
{
	return fabs(value) < DBL_MIN * 1e10 ? DBL_MIN * 1e10 : value;
}

/* The continued fraction (DLMF 8.17.22) by the modified method of Lentz. */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), result = d;

	for (int m = 1; m <= TERMS_MAX; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 / away_from_zero(1 + even * d);
		c = away_from_zero(1 + even / c);
		result *= c * d;
		d = 1 / away_from_zero(1 + odd * d);
		c = away_from_zero(1 + odd / c);
		result *= c * d;
		if (fabs(c * d - 1) < 1e-14)
			break;
	}
	return result;
}

double diff_beta(double x, double a, double b)
{
	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;

	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));

	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double diff_student_tail(double t, double freedom)
{
	return diff_beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;
}

/*
 * Two-sided, of @x of @n that each had the chance @q; neither need be whole. P(X >= x) is I(q; x, n - x + 1).
 */
static double binomial_p(double x, double n, double q)
{
	double above = x <= 0 ? 1 : diff_beta(q, x, n - x + 1);
	double below = x >= n ? 1 : 1 - diff_beta(q, x + 1, n - x);

	return fmin(1, 2 * fmin(above, below));
}

/* ---- one row ---- */

double diff_effect(const float *residuals, double independent)
{
	double sum = 0;

	if (independent <= 0)
		return 1;
	for (int i = 1; i < DIFF_BLOCKS; i++) {
		double step = (double)residuals[i] - residuals[i - 1];

		sum += step * step / 2;
	}
	return fmax(1, sum * DIFF_BLOCKS / (DIFF_BLOCKS - 1) / independent);
}

static double bounded(double value, const struct diff_how *how)
{
	return how->shares ? fmax(0, 1 - value) : 1;
}

/* Variance between runs of a row of @value. */
static double noise_variance(double value, const struct diff_how *how)
{
	double part = how->run_noise * value * bounded(value, how);
	double floor = how->run_noise * DIFF_RUN_FLOOR * how->whole;

	return part * part + floor * floor;
}

/* Variance of one side if its true value were @value. */
static double variance(const struct diff_amount *side, double value, double effect,
		       const struct diff_how *how)
{
	return value * side->unit * effect * bounded(value, how) + noise_variance(value, how);
}

double diff_common_effect(const struct diff_amount *a, const struct diff_amount *b)
{
	double sum = a->value + b->value;

	return sum > 0 ? (a->effect * a->value + b->effect * b->value) / sum : 1;
}

/* The value of both if they were equal: weighted by how much each side knows. */
static double common_value(const struct diff_amount *a, const struct diff_amount *b)
{
	double wa = 1 / a->unit, wb = 1 / b->unit;

	return (a->value * wa + b->value * wb) / (wa + wb);
}

static double deviation(const struct diff_amount *a, const struct diff_amount *b, double value,
			const struct diff_how *how)
{
	double effect = diff_common_effect(a, b);

	return sqrt(variance(a, value, effect, how) + variance(b, value, effect, how));
}

static double tail(double z, double effect)
{
	return effect > 1 ? diff_student_tail(z, FREEDOM) : diff_normal_tail(z);
}

static double p_of(const struct diff_amount *a, const struct diff_amount *b,
		   const struct diff_how *how)
{
	double effect = diff_common_effect(a, b);
	double sigma = deviation(a, b, common_value(a, b), how);
	double p = sigma > 0 ? 2 * tail(fabs(b->value - a->value) / sigma, effect) : 1;
	double xa = a->value / a->unit / effect, xb = b->value / b->unit / effect;

	if (xa + xb < EXACT_BELOW)
		p = fmax(p, binomial_p(xb, xa + xb, a->unit / (a->unit + b->unit)));
	return p;
}

/* Wilson's interval of a share, and the one for a Poisson count that is made the same way. */
static void interval(const struct diff_amount *side, double effect, const struct diff_how *how,
		     double *ret_low, double *ret_high)
{
	double n = 1 / (side->unit * effect), value = side->value;
	double scale = how->shares ? 1 + Z * Z / n : 1;
	double centre = (value + Z * Z / (2 * n)) / scale;
	double half = Z * sqrt(value * bounded(value, how) / n + Z * Z / (4 * n * n)) / scale;

	*ret_low = fmax(0, centre - half);
	*ret_high = how->shares ? fmin(1, centre + half) : centre + half;
}

/* R. G. Newcombe, Statist. Med. 17 (1998), method 10: each side's own interval, added in quadrature. */
static void set_interval(const struct diff_amount *a, const struct diff_amount *b,
			 const struct diff_how *how, struct diff_compared *ret)
{
	double effect = diff_common_effect(a, b), a_low, a_high, b_low, b_high;
	double noise = Z * Z * (noise_variance(a->value, how) + noise_variance(b->value, how));

	interval(a, effect, how, &a_low, &a_high);
	interval(b, effect, how, &b_low, &b_high);
	ret->low = ret->change - sqrt((b->value - b_low) * (b->value - b_low) +
				      (a_high - a->value) * (a_high - a->value) + noise);
	ret->high = ret->change + sqrt((b_high - b->value) * (b_high - b->value) +
				       (a->value - a_low) * (a->value - a_low) + noise);
}

struct diff_compared diff_compare(const struct diff_amount *a, const struct diff_amount *b,
				  const struct diff_how *how)
{
	struct diff_compared ret = { .change = b->value - a->value, .p = 1, .adjusted = 1 };

	set_interval(a, b, how, &ret);
	ret.tested = a->value / a->unit + b->value / b->unit >= DIFF_COUNT_MIN;
	if (ret.tested)
		ret.p = p_of(a, b, how);
	return ret;
}

/* ---- all rows ---- */

static int compare_p(const void *left, const void *right)
{
	const struct diff_compared *a = *(struct diff_compared *const *)left;
	const struct diff_compared *b = *(struct diff_compared *const *)right;

	return COMPARE(a->p, b->p);
}

size_t diff_holm(struct diff_compared **rows, size_t count)
{
	size_t tested = 0;
	double worst = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i]->tested)
			rows[tested++] = rows[i];
	if (tested > 1)
		qsort(rows, tested, sizeof(struct diff_compared *), compare_p);
	for (size_t i = 0; i < tested; i++) {
		worst = fmax(worst, fmin(1, rows[i]->p * (double)(tested - i)));
		rows[i]->adjusted = worst;
		rows[i]->sure = worst < DIFF_ALARM;
	}
	return tested;
}

/* ---- noise ---- */

/* E. B. Wilson and M. M. Hilferty, PNAS 17 (1931). */
double diff_chi_square(double z, double freedom)
{
	double part = 2 / (9 * freedom);

	return freedom * pow(fmax(0, 1 - part + z * sqrt(part)), 3);
}

/* Squares of differences in units of what they should be, if runs differed by @noise. */
static double sum_of_squares(const struct diff_amount *a, const struct diff_amount *b, size_t count,
			     const struct diff_how *how, double noise)
{
	struct diff_how assumed = { how->shares, noise, how->whole };
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		double sigma = deviation(&a[i], &b[i], common_value(&a[i], &b[i]), &assumed);
		double z = sigma > 0 ? (b[i].value - a[i].value) / sigma : 0;

		sum += z * z;
	}
	return sum;
}

struct diff_noise diff_noise_of(const struct diff_amount *a, const struct diff_amount *b,
				size_t count, const struct diff_how *how)
{
	double wanted[] = { (double)count, diff_chi_square(-Z_ONE_SIDED, (double)count) };
	double found[ARRAY_LEN(wanted)];

	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		double low = 0, high = 1;

		while (high - low > 1e-4) {
			double middle = (low + high) / 2;

			if (sum_of_squares(a, b, count, how, middle) > wanted[i])
				low = middle;
			else
				high = middle;
		}
		found[i] = low;
	}
	return (struct diff_noise){ found[0], found[1], count };
}

/* ---- power ---- */

/* Would @b be named even if noise took from it as much as it does in one of five recordings? */
static bool would_be_found(const struct diff_amount *a, struct diff_amount b,
			   const struct diff_how *how, double alarm)
{
	double effect = diff_common_effect(a, &b);
	double sigma = sqrt(variance(a, a->value, effect, how) +
			    variance(&b, b.value, effect, how));

	b.value -= Z_POWER * sigma;
	if (b.value <= a->value)
		return false;

	struct diff_compared compared = diff_compare(a, &b, how);

	return compared.tested && compared.p < alarm;
}

double diff_detectable(const struct diff_amount *side, const struct diff_amount *other,
		       const struct diff_how *how, size_t tested)
{
	double alarm = DIFF_ALARM / (double)MAX(tested, (size_t)1);
	double most = how->shares ? 1 - side->value : GROWTH_MAX * fmax(side->value, how->whole);
	struct diff_amount grown = *other;
	double low = 0, high = fmin(most, fmax(side->value / 16, DIFF_COUNT_MIN * other->unit));

	if (!(high > 0) || !(side->unit > 0))
		return INFINITY;
	for (;; low = high, high = fmin(most, 2 * high)) {
		grown.value = side->value + high;
		if (would_be_found(side, grown, how, alarm))
			break;
		if (high >= most)
			return INFINITY;
	}
	while (high - low > 1e-3 * high) {
		double middle = (low + high) / 2;

		grown.value = side->value + middle;
		if (would_be_found(side, grown, how, alarm))
			high = middle;
		else
			low = middle;
	}
	return high;
}

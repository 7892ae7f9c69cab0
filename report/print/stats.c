/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.c - Wilson's interval: unlike the plain p +- 1.96 sigma it stays within 0 and 1 and is right for few samples.
 */
#include "report/print/stats.h"

#include <math.h>

#define Z 1.959963984540054 /* 95 % of a normal distribution lie within this many deviations */

double stats_effective_count(const struct profile_sum *sum)
{
	if (!profile_is_counted(sum))
		return 0;
	if (sum->weight_sq <= 0)
		return (double)sum->count;
	return (double)sum->weight * (double)sum->weight / sum->weight_sq;
}

/* Wilson's interval of @p after @n draws; both hold as they are given. */
static struct stats_share wilson(double p, double n, uint64_t count)
{
	double scale = 1 + Z * Z / n;
	double centre = (p + Z * Z / (2 * n)) / scale;
	double half = Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) / scale;

	return (struct stats_share){
		.share = p,
		.low = fmin(fmax(centre - half, 0), p), /* rounding must not push the share out */
		.high = fmax(fmin(centre + half, 1), p),
		.count = count,
	};
}

/* Of a whole of which a part was measured: only the rest, @open of it, may be more or less. */
static struct stats_share partly_exact(const struct profile_sum *part, const struct profile_sum *whole)
{
	double all = (double)whole->weight, open = all - (double)whole->exact, share = fmin((double)part->weight / all, 1);

	if (open <= 0 || whole->weight_sq <= 0)
		return (struct stats_share){ .share = share, .low = share, .high = share, .count = part->count, .exact = true };

	double q = fmin(fmax(part->weight_sq / whole->weight_sq, 0), 1), known = (double)part->exact;
	struct stats_share s = wilson(q, open * open / whole->weight_sq, part->count);

	s.low = fmin(fmax(share - open * (q - s.low) / all, known / all), share);
	s.high = fmax(fmin(share + open * (s.high - q) / all, fmin((known + open) / all, 1)), share);
	s.share = share;
	return s;
}

struct stats_share stats_share(const struct profile_sum *part, const struct profile_sum *whole)
{
	double n = stats_effective_count(whole), share;

	if (whole->weight == 0)
		return (struct stats_share){ .share = 0, .low = 0, .high = 1, .count = part->count };
	share = fmin((double)part->weight / (double)whole->weight, 1); /* hostile weights overflow */
	if (!profile_is_counted(whole))
		return (struct stats_share){ .share = share, .low = 0, .high = 1, .uncounted = true };
	return whole->exact ? partly_exact(part, whole) : wilson(share, n, part->count);
}

/* The variance of the ratio @p: how far bunches are from it. */
static double ratio_variance(const struct stats_ratio *r, double p)
{
	double n = (double)r->nbunches;
	double squares = r->part_sq - 2 * p * r->cross + p * p * r->whole_sq;

	return fmax(squares, 0) / (r->whole * r->whole) * (n > 1 ? n / (n - 1) : 1);
}

struct stats_share stats_ratio_share(const struct stats_ratio *r)
{
	double n = r->nbunches > 1 ? r->whole : 1;

	if (r->whole <= 0)
		return (struct stats_share){ .share = 0, .low = 0, .high = 1 };

	double p = fmin(r->part / r->whole, 1);
	double variance = ratio_variance(r, p);

	if (variance * n > p * (1 - p))
		n = p * (1 - p) / variance;
	return wilson(p, fmax(n, 1), (uint64_t)r->part);
}

struct stats_mean stats_ratio_mean(const struct stats_ratio *r)
{
	if (r->whole <= 0)
		return (struct stats_mean){ 0 };

	double mean = r->part / r->whole;
	double half = Z * sqrt(ratio_variance(r, mean));

	return (struct stats_mean){ mean, fmax(mean - half, 0), mean + half };
}

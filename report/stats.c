/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.c - Wilson's interval: unlike the plain p +- 1.96 sigma it stays within 0 and 1 and is right for few samples.
 */
#include "report/stats.h"

#include <math.h>

#define Z 1.959963984540054 /* 95 % of a normal distribution lie within this many deviations */

double stats_effective_count(const struct profile_sum *sum)
{
	if (sum->weight_sq <= 0)
		return (double)sum->count;
	return (double)sum->weight * (double)sum->weight / sum->weight_sq;
}

struct stats_share stats_share(const struct profile_sum *part, const struct profile_sum *whole)
{
	struct stats_share ret = { .share = 0, .low = 0, .high = 1, .count = part->count };
	double n = stats_effective_count(whole);

	if (whole->weight == 0 || n <= 0)
		return ret;

	double p = fmin((double)part->weight / (double)whole->weight,
			1); /* hostile weights overflow */
	double scale = 1 + Z * Z / n;
	double centre = (p + Z * Z / (2 * n)) / scale;
	double half = Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) / scale;

	ret.share = p;
	ret.low = fmin(fmax(centre - half, 0), p); /* rounding must not push the share out */
	ret.high = fmax(fmin(centre + half, 1), p);
	return ret;
}

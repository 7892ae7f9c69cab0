/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - how sure a share is.
 *
 * Samples weigh as much as their periods, so a share is a ratio of weights. Its interval is Wilson's (E. B. Wilson,
 * J. Am. Stat. Assoc. 22, 1927) at 95 % for the effective number of samples (Kish): (sum w)^2 / sum w^2, which is the
 * plain number when all weigh the same.
 */
#ifndef REPORT_STATS_H
#define REPORT_STATS_H

#include "formats/profile.h"

struct stats_share {
	double share, low, high; /* 0 .. 1 */
	uint64_t count;          /* samples that the share is made of */
};

/* The share of @part in @whole, which contains it. Nothing is known of an empty whole: 0, from 0 to 1. */
struct stats_share stats_share(const struct profile_sum *part, const struct profile_sum *whole);

/* As many samples of equal weight would be as sure as these. */
double stats_effective_count(const struct profile_sum *sum);

static inline void stats_add(struct profile_sum *sum, const struct profile_sample *row)
{
	sum->count += row->count;
	sum->weight += row->weight;
	sum->weight_sq += row->weight_sq;
}

static inline void stats_add_sum(struct profile_sum *to, const struct profile_sum *sum)
{
	to->count += sum->count;
	to->weight += sum->weight;
	to->weight_sq += sum->weight_sq;
}

#endif

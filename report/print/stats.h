/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - how sure a share is.
 *
 * Samples weigh as much as their periods, so a share is a ratio of weights. Its interval is Wilson's (E. B. Wilson,
 * J. Am. Stat. Assoc. 22, 1927) at 95 % for the effective number of samples (Kish): (sum w)^2 / sum w^2, which is the
 * plain number when all weigh the same.
 *
 * Where a part of the weight was measured (struct profile_sum's exact), only the rest varies. Let S be that rest of the whole, F its
 * sum of squares (of an estimate: its variance, see stand_ins.h), and q the row's part of F. The variance of the row's weight is at most
 * F q (1 - q), whatever strata the samples are of, so that the interval is Wilson's of q for S^2 / F samples, times S. It never leaves
 * what was measured of the row, and that plus S.
 */
#ifndef REPORT_STATS_H
#define REPORT_STATS_H

#include "formats/profile/profile.h"

struct stats_share {
	double share, low, high; /* 0 .. 1 */
	uint64_t count;          /* samples that the share is made of */
	bool uncounted;		 /* it is not known of how many: @low, @high and @count mean nothing */
	bool exact;		 /* measured, not sampled: @low and @high are @share */
};

/* The share of @part in @whole, which contains it. Nothing is known of an empty whole: 0, from 0 to 1. */
struct stats_share stats_share(const struct profile_sum *part, const struct profile_sum *whole);

/* As many samples of equal weight would be as sure as these; 0 if it is not known how many they are. */
double stats_effective_count(const struct profile_sum *sum);

/*
 * A ratio of sums over things that come in bunches, as the branches of one sample do: those of a bunch are alike, so that
 * they tell less than as many that come apart. What counts is how bunches differ (ratio estimator; W. G. Cochran,
 * Sampling Techniques, chapter 6). A zeroed one is ready.
 */
struct stats_ratio {
	double part, whole; /* sums over all bunches */
	double part_sq, cross, whole_sq;
	uint64_t nbunches;
};

/* What one bunch adds to both sums. */
static inline void stats_ratio_add(struct stats_ratio *r, double part, double whole)
{
	r->part += part;
	r->whole += whole;
	r->part_sq += part * part;
	r->cross += part * whole;
	r->whole_sq += whole * whole;
	r->nbunches++;
}

static inline void stats_ratio_add_sum(struct stats_ratio *to, const struct stats_ratio *from)
{
	to->part += from->part;
	to->whole += from->whole;
	to->part_sq += from->part_sq;
	to->cross += from->cross;
	to->whole_sq += from->whole_sq;
	to->nbunches += from->nbunches;
}

/* The ratio where the part is of the whole: .count is the part. Never surer than if all came apart. */
struct stats_share stats_ratio_share(const struct stats_ratio *r);

struct stats_mean {
	double mean, low, high;
};

/* The ratio where it is a mean; 0 of nothing. */
struct stats_mean stats_ratio_mean(const struct stats_ratio *r);

static inline void stats_add(struct profile_sum *sum, const struct profile_sample *row)
{
	sum->count += row->count;
	sum->weight += row->weight;
	sum->weight_sq += row->weight_sq;
	sum->exact += row->exact;
}

static inline void stats_add_sum(struct profile_sum *to, const struct profile_sum *sum)
{
	to->count += sum->count;
	to->weight += sum->weight;
	to->weight_sq += sum->weight_sq;
	to->exact += sum->exact;
}

#endif

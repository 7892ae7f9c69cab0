/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency.c - a mean is a ratio of sums, so its interval is stats_ratio's.
 */
#include "report/view/latency.h"

#include <math.h>

void latency_add(struct latency *l, uint64_t latency, uint64_t period)
{
	double value = (double)latency, weight = period ? (double)period : 1;

	stats_ratio_add(&l->mean, value * weight, weight);
	l->squares += value * value * weight;
	l->count++;
}

void latency_add_sum(struct latency *to, const struct latency *from)
{
	stats_ratio_add_sum(&to->mean, &from->mean);
	to->squares += from->squares;
	to->count += from->count;
}

double latency_deviation(const struct latency *l)
{
	double mean;

	if (l->mean.whole <= 0)
		return 0;
	mean = l->mean.part / l->mean.whole;
	return sqrt(fmax(l->squares / l->mean.whole - mean * mean, 0));
}

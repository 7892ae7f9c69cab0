/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency.h - how long accesses to memory took (precord --weight): sums that can be added up, their mean and spread.
 */
#ifndef REPORT_LATENCY_H
#define REPORT_LATENCY_H

#include "report/print/stats.h"

/* In the PMU's unit, mostly cycles. Each sample counts for its period. */
struct latency {
	struct stats_ratio mean;
	double squares; /* of the latencies, times the periods */
	uint64_t count; /* samples */
};

void latency_add(struct latency *l, uint64_t latency, uint64_t period);
void latency_add_sum(struct latency *to, const struct latency *from);

/* Standard deviation between accesses; their mean is stats_ratio_mean() of .mean. */
double latency_deviation(const struct latency *l);

#endif

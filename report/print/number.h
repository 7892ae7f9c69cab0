/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.h - counts, shares, times and weights as people read them. Results live in the arena.
 */
#ifndef REPORT_NUMBER_H
#define REPORT_NUMBER_H

#include "formats/base/arena.h"
#include "report/print/stats.h"

#include <stdint.h>

/* "1,234,567" */
const char *number_count(struct arena *arena, uint64_t count);

/* "12.3 s", "4.56 ms", "890 us", "12 ns": three digits or more. */
const char *number_time(struct arena *arena, uint64_t time_ns);

/* A sum of periods: a time if @unit is "ns", else "1.23 G" with powers of 1000. */
const char *number_weight(struct arena *arena, int64_t weight, const char *unit);

/* "23.4 %"; "<0.1 %" for what would look like nothing though it is not, ">99.9 %" likewise. */
const char *number_share(struct arena *arena, double share);

/* "22.1-24.8": the interval in per cent; "-" if none is known. */
const char *number_interval(struct arena *arena, const struct stats_share *share);

/* A bound of it as data: "0.221000", "" if none is known. */
const char *number_bound(struct arena *arena, const struct stats_share *share, double bound);

/* "1,234" samples, "-" if it is not known how many; as data "1234" or "". */
const char *number_samples(struct arena *arena, const struct profile_sum *sum);
const char *number_samples_data(struct arena *arena, const struct profile_sum *sum);

/* What the nanoseconds of @event are: "CPU time", "waiting", "time". */
const char *number_time_title(const char *event);

/* What the values of @event are, above a column of number_weight(): number_time_title() or @unit. */
const char *number_weight_title(const char *event, const char *unit);

/* What the samples of @event are, one of them: "sample", "wait", "span". */
const char *number_counted(const char *event);

/* "1 sample", "2 samples" */
const char *number_of(struct arena *arena, uint64_t count, const char *noun);

/* "120 @noun" and an s; where it is not known how many, the weight: "12.3 M Ir", "12.3 s" if @unit is "ns". */
const char *number_extent(struct arena *arena, const struct profile_sum *sum, const char *noun, const char *unit);

/*
 * "120 samples@of, 12.3 s of CPU time", or "..., 1.23 G cycles" after the event's name, or "... events" where that is no
 * plural word. Nothing is repeated where samples themselves are counted.
 */
const char *number_sum(struct arena *arena, const struct profile_sum *sum, const char *of,
		       const char *event, const char *unit);

#endif

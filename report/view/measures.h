/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measures.h - what several events counted, summed up for each row of a profile, and how sure a formula over the sums is.
 *
 * Two ways, and never a mixture:
 *
 *	MEASURES_GROUP  one event of a group samples, all are read (":S"): differences from sample to sample, see
 *	                group_deltas.h. The terms are of the very same moments.
 *	MEASURES_APART  each event samples on its own: its periods are summed up.
 *
 * Sums are plain arrays of doubles (measures_len() of them) that can be added up: for each term how many samples, what
 * they counted, and the products of each two terms, which tell the spread. The interval of a formula is that of its
 * linear approximation at the sums (delta method), at 95 %.
 */
#ifndef REPORT_MEASURES_H
#define REPORT_MEASURES_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/event.h"
#include "formats/metric_expr.h"

struct group_delta {
	uint32_t event;
	double value; /* scaled */
};

/* What came of the samples that had counts. */
struct group_delta_tally {
	uint64_t used;
	uint64_t first;       /* the first of its CPU or thread: nothing to compare it with */
	uint64_t not_counted; /* the group had no counters in between */
	uint64_t impossible;  /* more than 1000 a nanosecond, or less than before */
	uint64_t enabled_ns, running_ns; /* of those used */
};

struct group_deltas {
	bool by_cpu; /* counters belong to CPUs; false: to threads on CPUs */
	uint64_t start_ns;
	size_t nevents;
	struct map last; /* CPU, thread, event -> index in readings */
	VEC(struct event_count) readings;
	VEC(struct group_delta) now; /* of the last sample that was added; empty if it cannot be used */
	struct group_delta_tally unwind_quality;
};

void group_deltas_init(struct group_deltas *g, const struct recording *rec);
void group_deltas_deinit(struct group_deltas *g);

/* The next sample: g->now is what its group counted. */
void group_deltas_add(struct group_deltas *g, const struct event *ev);

#define MEASURES_TERMS_MAX 32
#define MEASURES_LEAST     30 /* samples below which a ratio says nothing */

enum measures_method {
	MEASURES_GROUP,
	MEASURES_APART,
};

struct measures {
	enum measures_method method;
	unsigned nterms;
	const char *names[MEASURES_TERMS_MAX];
	uint32_t *term_of; /* by event: term + 1, 0 for none; the owner's */
	VEC(double) rows;  /* measures_len() for each row */
};

/* A formula's value in some samples. */
struct measure_value {
	double value, low, high;
	uint64_t n; /* samples of the term that has fewest */
	bool known; /* n is MEASURES_LEAST or more and the formula is defined: the others are set */
};

size_t measures_len(const struct measures *m);

/* Add what the sample that made up @row counted. */
void measures_add_deltas(struct measures *m, uint32_t row, const struct group_delta *deltas,
			 size_t count);
void measures_add_period(struct measures *m, uint32_t row, uint32_t event, uint64_t period);

/* Add the sums of @row to @sums. */
void measures_sum_row(const struct measures *m, uint32_t row, double *sums);

struct measure_value measures_value(const struct measures *m, const double *sums,
				    const struct metric_expr *e);

void measures_deinit(struct measures *m);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.h - several recordings at one level (functions, callers, modules, ...), row by row, each against the first.
 *
 *	diff_init(&d, &merge, inputs, &how);
 *	... d.rows, d.sides ...
 *	diff_deinit(&d);
 */
#ifndef REPORT_DIFF_H
#define REPORT_DIFF_H

#include "report/diff/diff_merge.h"
#include "report/diff/diff_stats.h"
#include "report/view/view.h"

struct diff_groups;

/* What is compared. */
enum diff_scale {
	DIFF_SHARE,   /* shares of each recording's weight */
	DIFF_TIME,    /* weight in a second of recording */
	DIFF_TYPICAL, /* weight, the others scaled so that the typical function is the same */
	DIFF_NONE,    /* weight as it is */
};

struct diff_options {
	enum view_by by; /* not VIEW_DEPTH, nor what has numbers that change from run to run */
	enum diff_scale scale;
	double run_noise;
};

/* One recording. */
struct diff_side {
	struct profile_sum whole;
	uint64_t duration_ns;
	double scale;     /* value = weight * scale */
	double unit;      /* value of one effective sample */
	bool has_times;   /* so that clumping could be measured */
};

struct diff_row {
	const struct view_key *key;
	struct profile_sum *sums;      /* by side */
	struct diff_compared *changes; /* by side, against side 0; [0] is not used */
	bool sure;                     /* any of them */
	uint32_t group;                /* private */
};

/* The smallest growth that a comparison would have named four times in five (DIFF_POWER). */
struct diff_least {
	double change; /* INFINITY: none is large enough */
	double slower; /* how much more work that is, relative to what it did; if shares: while all else stays as it is */
};

struct diff {
	struct diff_options options;
	const struct diff_merge *merge;
	uint32_t nsides;
	struct diff_side *sides;
	VEC(struct diff_row) rows; /* sure ones first, then by the size of the largest change; ties by name */
	size_t tested;             /* comparisons that the correction is for */
	double effect;             /* design effect of rows that were tested, on average by their value */
	struct arena arena;
	struct diff_groups *groups; /* private */
};

/*
 * Compare. @inputs are what was merged, in that order; with times for clumping. ERR_UNSUPPORTED: there is nothing to
 * scale by.
 */
MUST_USE struct err *diff_init(struct diff *d, const struct diff_merge *merge,
			       const struct diff_input *inputs,
			       const struct diff_options *options);
void diff_deinit(struct diff *d);

/* What is compared of @row: share, amount per second, ... */
double diff_value(const struct diff *d, const struct diff_row *row, uint32_t side);

/* What would have been found of @row, against @side. */
struct diff_least diff_least_of_row(const struct diff *d, const struct diff_row *row, uint32_t side);

/* The same of a row whose value on side 0 is @value and that clumps as rows do on average. */
struct diff_least diff_least_of_value(const struct diff *d, double value, uint32_t side);

/*
 * By total: the design effect of a function of the merged profile, the first of those that look the same, on side 0 and @side
 * together; INFINITY for what is never named, as interrupts hardly are.
 */
double diff_function_effect(const struct diff *d, uint32_t function, uint32_t side);

/*
 * What @side shows of the noise between runs, if nothing changed between it and the first. False: too few rows have the samples,
 * or rows contain each other.
 */
bool diff_run_noise(const struct diff *d, uint32_t side, struct diff_noise *ret);

#endif

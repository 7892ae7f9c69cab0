/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_stats.h - is what differs between two recordings more than noise?
 *
 * Three kinds of noise are distinguished:
 *
 *	sampling	so many samples say so much and no more (the effective number, as in stats.h)
 *	clumping	samples of one run are not independent: a function that runs in long stretches is hit many times in a
 *			row. A recording is cut into DIFF_BLOCKS pieces of time; what neighbouring pieces differ by, against
 *			what independent samples would, is the design effect (Kish), by which the number of samples is
 *			divided. Neighbours (von Neumann's successive differences), so that phases which every run goes
 *			through do not count as noise. Never less than 1.
 *	run to run	memory layout, frequency, neighbours on the machine: two runs of one program differ by more than
 *			their samples say. It cannot be seen in one run; DIFF_RUN_NOISE was measured (see diff_stats.c).
 *
 * Tests are two-sided. Few samples are tested exactly, by the binomial distribution, more by the normal one, or by
 * Student's where the clumping had to be estimated. Holm's correction (S. Holm, Scand. J. Stat. 6, 1979) holds for any
 * dependence between rows, and rows do depend on each other: shares add up to 1, callers contain what they call. It
 * keeps the chance that a report of two equal programs names any row below DIFF_ALARM. Benjamini and Hochberg's would
 * let through one wrong row among twenty named, which is not what a gate in CI wants.
 */
#ifndef REPORT_DIFF_STATS_H
#define REPORT_DIFF_STATS_H

#include <stdbool.h>
#include <stddef.h>

#define DIFF_BLOCKS    32
#define DIFF_ALARM     0.05
#define DIFF_RUN_NOISE 0.03 /* relative standard deviation of an amount */
#define DIFF_RUN_FLOOR 0.07 /* of the whole, times the noise: 0.2 points. Small rows double by where memory lies */
#define DIFF_POWER     0.8  /* chance of finding what is claimed to be found */
#define DIFF_COUNT_MIN 10   /* samples of both sides together, below which a row is not tested */

/* One row of one recording. */
struct diff_amount {
	double value;  /* a share, or an amount */
	double unit;   /* what one sample of the recording is worth in @value, on average */
	double effect; /* design effect, at least 1 */
};

struct diff_compared {
	double change, low, high; /* of b over a, with the interval of 95 % */
	double p;                 /* two-sided, of this row alone; 1 for rows that are not tested */
	bool tested;
	bool sure; /* adjusted for all rows that were tested: set by diff_holm() */
	double adjusted;
};

struct diff_how {
	bool shares;      /* values are shares of a whole: at most 1, and the whole varies less than its parts */
	double run_noise; /* relative, of an amount; of a share p, of p (1 - p) */
	double whole;     /* what values are parts of; DIFF_RUN_FLOOR of it varies too, relative to .run_noise */
};

/*
 * How much more a sum of residuals varies than if samples were independent. @residuals: for each block, what the row has
 * there less what it would have if its share were the same throughout. @independent: variance of the row's sum that
 * independent samples would have; 0 gives 1.
 */
double diff_effect(const float *residuals, double independent);

/* The design effect of both sides together: one without samples says nothing of clumping. */
double diff_common_effect(const struct diff_amount *a, const struct diff_amount *b);

struct diff_compared diff_compare(const struct diff_amount *a, const struct diff_amount *b,
				  const struct diff_how *how);

/* Adjust the p of rows[0 .. count) that were tested, and say which are sure. Returns how many were tested. */
size_t diff_holm(struct diff_compared **rows, size_t count);

/*
 * The smallest growth of @side that is found with DIFF_POWER, if @tested rows are corrected for: noise may hide a part of
 * what grew. @other is the other recording, of which only .unit and .effect count. INFINITY: none is large enough.
 */
double diff_detectable(const struct diff_amount *side, const struct diff_amount *other,
		       const struct diff_how *how, size_t tested);

/* By how much runs of one program differ, measured with two of them in which nothing changed. */
struct diff_noise {
	double likely, at_most; /* as diff_how.run_noise; the second with 95 % certainty */
	size_t rows;
};

/*
 * The noise that makes the differences of a[i] and b[i], i below @count, as large as they are: R. C. Paule and J. Mandel, J. Res. Natl.
 * Bur. Stand. 87 (1982), and W. Viechtbauer, Statist. Med. 26 (2007), for the bound. At most 1.
 */
struct diff_noise diff_noise_of(const struct diff_amount *a, const struct diff_amount *b,
				size_t count, const struct diff_how *how);

/* Building stones, tested against tables. */
double diff_chi_square(double z, double freedom);      /* the quantile where a normal one is @z; of 5 and more, within 2 % */
double diff_normal_tail(double z);                     /* P(Z > z) */
double diff_beta(double x, double a, double b);        /* regularised incomplete beta function */
double diff_student_tail(double t, double freedom);    /* P(T > t) for t >= 0 */

#endif

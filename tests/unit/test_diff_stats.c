/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_diff_stats.c - distributions against tables, tests against numbers worked out elsewhere, and the promise about false
 * alarms against made-up recordings.
 */
#include "report/diff/diff_stats.h"
#include "tests/unit/test.h"

#include "formats/base/memory.h"

#include <math.h>
#include <stdint.h>

static const struct diff_how shares = { .shares = true }, amounts = { .shares = false };

static bool near(double a, double b, double relative)
{
	return fabs(a - b) <= relative * fabs(b);
}

TEST(diff_distributions_are_those_of_the_tables)
{
	CHECK(near(diff_normal_tail(1.959963984540054), 0.025, 1e-12));
	CHECK(near(diff_normal_tail(4), 3.167124183311986e-05, 1e-9));
	CHECK(near(diff_beta(0.5, 2, 3), 0.6875, 1e-12));
	CHECK(near(diff_beta(0.1, 1, 5), 1 - pow(0.9, 5), 1e-12));
	CHECK(diff_beta(0, 2, 3) == 0 && diff_beta(1, 2, 3) == 1);
	CHECK(near(diff_student_tail(2.228138852, 10), 0.025, 1e-8));
	CHECK(near(diff_student_tail(1, 1), 0.25, 1e-12));
	CHECK(near(diff_chi_square(-1.644853626951472, 5), 1.145476, 0.02));
	CHECK(near(diff_chi_square(1.644853626951472, 10), 18.307038, 0.01));
}

TEST(diff_of_many_samples_is_the_two_proportion_test)
{
	struct diff_amount a = { 0.10, 1 / 1000.0, 1 }, b = { 0.15, 1 / 2000.0, 1 };
	struct diff_compared c = diff_compare(&a, &b, &shares);

	/* pooled 400 of 3000; z = 0.05 / sqrt(0.13333 * 0.86667 * (1 / 1000 + 1 / 2000)) = 3.79777 */
	CHECK(c.tested);
	CHECK(near(c.p, 2 * diff_normal_tail(3.797772626564), 1e-6));
	CHECK(near(c.change, 0.05, 1e-12));
	/* Newcombe's method 10 by hand: Wilson 0.08290..0.12015 and 0.13503..0.16631 */
	CHECK(fabs(c.low - (0.05 - hypot(0.15 - 0.135029, 0.120151 - 0.10))) < 2e-5);
	CHECK(fabs(c.high - (0.05 + hypot(0.166315 - 0.15, 0.10 - 0.082907))) < 2e-5);
}

TEST(diff_of_few_samples_is_no_surer_than_the_binomial)
{
	struct diff_amount none = { 0, 0.01, 1 }, twelve = { 0.12, 0.01, 1 };
	struct diff_compared c = diff_compare(&none, &twelve, &amounts);

	/* Twelve heads; the normal distribution, here the more careful of the two, says sqrt(12) deviations. */
	CHECK(c.p >= 2 * pow(0.5, 12));
	CHECK(near(c.p, 2 * diff_normal_tail(sqrt(12)), 1e-9));
	none.unit = twelve.unit = 0.011; /* 10.9 samples */
	c = diff_compare(&twelve, &none, &amounts);
	CHECK(c.p > 2 * diff_normal_tail(sqrt(12)));
	CHECK(near(c.change, -0.12, 1e-12) && c.high < 0);
}

TEST(diff_does_not_test_what_nobody_could_see)
{
	struct diff_amount none = { 0, 0.01, 1 }, nine = { 0.09, 0.01, 1 };

	CHECK(!diff_compare(&none, &nine, &amounts).tested);
	CHECK(diff_compare(&none, &nine, &amounts).p == 1);
}

TEST(diff_run_noise_and_clumps_widen_everything)
{
	struct diff_amount a = { 0.10, 1e-6, 1 }, b = { 0.11, 1e-6, 1 };
	struct diff_how noisy = { .shares = true, .run_noise = 0.05 };
	struct diff_amount a_clumped = { 0.10, 1e-6, 2000 }, b_clumped = { 0.11, 1e-6, 2000 };

	CHECK(diff_compare(&a, &b, &shares).p < 1e-90);
	CHECK(diff_compare(&a, &b, &noisy).p > 0.05);
	CHECK(diff_compare(&a, &b, &noisy).low < 0);
	CHECK(diff_compare(&a_clumped, &b_clumped, &shares).p > 0.05);
}

TEST(diff_effect_sees_clumps_but_not_phases)
{
	float steady[DIFF_BLOCKS] = { 0 }, phases[DIFF_BLOCKS], clumps[DIFF_BLOCKS];

	for (int i = 0; i < DIFF_BLOCKS; i++) {
		phases[i] = i < DIFF_BLOCKS / 2 ? 10 : -10; /* one step: 20^2 / 2 */
		clumps[i] = i % 2 ? 10 : -10;
	}
	CHECK(diff_effect(steady, 100) == 1); /* never less */
	CHECK(near(diff_effect(phases, 100), 200.0 * 32 / 31 / 100, 1e-9));
	CHECK(near(diff_effect(clumps, 100), 31 * 200.0 * 32 / 31 / 100, 1e-9));
	CHECK(diff_effect(clumps, 0) == 1);
}

TEST(diff_holm_adjusts_step_by_step)
{
	struct diff_compared rows[5] = { { .tested = true, .p = 0.01 },
					 { .tested = true, .p = 0.04 },
					 { .tested = false, .p = 1, .adjusted = 1 },
					 { .tested = true, .p = 0.03 },
					 { .tested = true, .p = 0.005 } };
	struct diff_compared *order[5];

	for (int i = 0; i < 5; i++)
		order[i] = &rows[i];
	CHECK_UINT(diff_holm(order, 5), 4);
	/* R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") is 0.03 0.06 0.06 0.02 */
	CHECK(near(rows[0].adjusted, 0.03, 1e-12) && rows[0].sure);
	CHECK(near(rows[1].adjusted, 0.06, 1e-12) && !rows[1].sure);
	CHECK(near(rows[3].adjusted, 0.06, 1e-12) && !rows[3].sure);
	CHECK(near(rows[4].adjusted, 0.02, 1e-12) && rows[4].sure);
	CHECK(!rows[2].sure && rows[2].adjusted == 1);
}

/* A small generator, the same everywhere: numbers in [0, 1). */
static double uniform(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(*state >> 11) / 9007199254740992.0;
}

#define ROWS    40
#define SAMPLES 2000

/* Two recordings of one program; how many rows are named. */
static size_t alarms(uint64_t *state, const double *ends)
{
	unsigned counts[2][ROWS] = { { 0 } };
	struct diff_compared compared[ROWS], *order[ROWS];
	size_t named = 0;

	for (int side = 0; side < 2; side++)
		for (int i = 0; i < SAMPLES; i++) {
			double at = uniform(state) * ends[ROWS - 1];
			int row = 0;

			while (at >= ends[row])
				row++;
			counts[side][row]++;
		}
	for (int i = 0; i < ROWS; i++) {
		struct diff_amount a = { counts[0][i] / (double)SAMPLES, 1.0 / SAMPLES, 1 };
		struct diff_amount b = { counts[1][i] / (double)SAMPLES, 1.0 / SAMPLES, 1 };

		compared[i] = diff_compare(&a, &b, &shares);
		order[i] = &compared[i];
	}
	diff_holm(order, ROWS);
	for (int i = 0; i < ROWS; i++)
		named += compared[i].sure;
	return named;
}

TEST(diff_of_equal_programs_names_something_in_less_than_one_of_twenty)
{
	double ends[ROWS], sum = 0;
	uint64_t state = 1;
	size_t reports = 0;

	for (int i = 0; i < ROWS; i++) /* Zipf's law, as profiles have it */
		ends[i] = sum += 1.0 / (i + 1);
	for (int i = 0; i < 1000; i++)
		reports += alarms(&state, ends) > 0;
	CHECK(reports < 50);
	CHECK(reports > 0); /* or it would see nothing at all */
}

/* A normal deviate. */
static double deviate(uint64_t *state)
{
	double radius = sqrt(-2 * log(1 - uniform(state)));

	return radius * cos(2 * M_PI * uniform(state));
}

/* What a recording shows of a row whose true value is @value. */
static struct diff_amount recorded(uint64_t *state, double value, const struct diff_amount *like,
				   const struct diff_how *how)
{
	double run = how->run_noise *
		     hypot(value * (how->shares ? 1 - value : 1), DIFF_RUN_FLOOR * how->whole);
	double sampling = sqrt(value * like->unit * like->effect * (how->shares ? 1 - value : 1));
	struct diff_amount amount = *like;

	amount.value = fmax(0, value + hypot(run, sampling) * deviate(state));
	return amount;
}

/* How often growth that is said to be found four times in five is found, among 20 rows. */
static double found(const struct diff_amount *a, const struct diff_how *how, double part)
{
	enum { PAIRS = 2000 };
	double growth = diff_detectable(a, a, how, 20);
	uint64_t state = 7;
	int named = 0;

	for (int i = 0; i < PAIRS; i++) {
		struct diff_amount before = recorded(&state, a->value, a, how);
		struct diff_amount after = recorded(&state, a->value + part * growth, a, how);

		named += diff_compare(&before, &after, how).p * 20 < DIFF_ALARM;
	}
	return named / (double)PAIRS;
}

TEST(diff_what_is_said_to_be_detectable_is_found_four_times_in_five)
{
	static const struct diff_amount rows[] = {
		{ 0.2, 1e-4, 1 }, { 0.05, 1e-4, 1 }, { 0.01, 1e-3, 1 }, { 0.3, 1e-3, 4 }, { 0.02, 1e-4, 3 },
	};

	for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		const struct diff_amount *row = &rows[i / 2];
		struct diff_how how = { .shares = i % 2, .run_noise = 0.03, .whole = 1 };
		double chance = found(row, &how, 1);

		CHECK(chance > 0.74 && chance < 0.88);
		CHECK(found(row, &how, 0.5) < 0.4);
		CHECK(found(row, &how, 2) > 0.98);
	}
}

TEST(diff_detectable_is_infinite_where_nothing_is_large_enough)
{
	struct diff_amount most = { 0.95, 0.05, 1 }, nothing = { 0, 0, 1 };
	struct diff_how interrupts = { .run_noise = 1, .whole = 1 };

	CHECK(isinf(diff_detectable(&most, &most, &shares, 20)));
	CHECK(isinf(diff_detectable(&nothing, &nothing, &shares, 20)));
	CHECK(isinf(diff_detectable(&most, &most, &interrupts, 20)));
	CHECK(isfinite(diff_detectable(&most, &most, &amounts, 20)));
}

TEST(diff_small_rows_may_vary_by_a_part_of_the_whole)
{
	struct diff_how strict = { .shares = true, .run_noise = 0.03 }, how = strict;
	struct diff_amount a = { 0.005, 1e-6, 1 }, b = { 0.008, 1e-6, 1 };
	struct diff_amount large_a = { 0.3, 1e-6, 1 }, large_b = { 0.4, 1e-6, 1 };

	how.whole = 1;
	CHECK(diff_compare(&a, &b, &strict).p < 1e-6);
	CHECK(diff_compare(&a, &b, &how).p > 0.1);
	CHECK(diff_compare(&large_a, &large_b, &how).p < 1e-6);
}

TEST(diff_noise_is_what_differences_are_like)
{
	enum { COUNT = 400 };
	static const double deviate[] = { -1.5, -0.5, 0.5, 1.5 }; /* variance 1.25 */
	struct diff_how how = { .whole = 0 };
	struct diff_amount a[COUNT], b[COUNT];

	for (int i = 0; i < COUNT; i++) {
		a[i] = b[i] = (struct diff_amount){ 1000, 1e-9, 1 };
		b[i].value += 20 * deviate[i % 4]; /* runs that differ by 20 sqrt(1.25 / 2) of 1000 */
	}
	struct diff_noise noise = diff_noise_of(a, b, COUNT, &how);

	CHECK(near(noise.likely, 0.02 * sqrt(1.25 / 2), 0.02));
	CHECK(noise.at_most > noise.likely && noise.at_most < noise.likely * 1.1);
	CHECK_UINT(noise.rows, COUNT);

	for (int i = 0; i < COUNT; i++) /* what samples explain is no noise of runs */
		a[i].unit = b[i].unit = 1;
	noise = diff_noise_of(a, b, COUNT, &how);
	CHECK(noise.likely == 0);
}

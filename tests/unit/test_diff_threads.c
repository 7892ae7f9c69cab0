/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_diff_threads.c - the variance between threads, against numbers worked out by hand.
 */
#include "report/diff/diff_threads.h"
#include "tests/unit/test.h"

#include <math.h>

static void add_thread(struct profile *p, uint32_t tid, const char *name, uint64_t weight)
{
	struct profile_thread thread = { .pid = 1, .tid = tid, .comm = profile_string(p, name) };
	struct profile_sample sample = { .thread = profile_add_thread(p, &thread),
					 .count = weight,
					 .weight = weight };

	profile_add_sample(p, &sample);
}

TEST(diff_threads_of_one_name_are_compared_with_each_other)
{
	struct profile *p = profile_new();
	struct diff_threads threads;
	double variances[3];

	add_thread(p, 1, "pool", 100);
	add_thread(p, 2, "pool", 300);
	add_thread(p, 3, "alone", 500);
	diff_threads_init(&threads, p, 0);
	diff_threads_add(&threads, 0, 0, 80); /* all in the first of the pool */
	diff_threads_add(&threads, 1, 0, 10); /* a tenth of each */
	diff_threads_add(&threads, 1, 1, 30);
	diff_threads_add(&threads, 2, 2, 250); /* only where there is nothing to compare with */
	diff_threads_variances(&threads, 3, variances, 1);
	/* p = 80 / 400; residuals 80 - 20 and 0 - 60; 2 / 1 * (60^2 + 60^2) */
	CHECK(fabs(variances[0] - 14400) < 1e-6);
	CHECK(fabs(variances[1]) < 1e-6);
	CHECK(variances[2] == 0);
	diff_threads_deinit(&threads);
	profile_free(p);
}

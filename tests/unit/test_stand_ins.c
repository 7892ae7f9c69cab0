/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stand_ins.c - time without a stack goes to spans that have one, and no time is lost or made.
 */
#include "report/load/derive/stand_ins.h"
#include "report/print/stats.h"
#include "tests/unit/test.h"

#include <math.h>

static void add_weight(void *context, const struct derived *span)
{
	uint64_t *sum = context;

	*sum += span->weight;
}

/* A span with a stack may itself be a sum of spans whose lengths nobody knows. */
TEST(stand_ins_share_out_sums_of_any_length)
{
	struct stand_ins s = { 0 };
	uint64_t sum = 0;

	stand_ins_keep(&s, 1, 1000, &(struct derived){ .stack = 1, .weight = 1000 });
	stand_ins_keep(&s, 1, STAND_INS_ANY_LENGTH, &(struct derived){ .stack = 2, .weight = 5000 });
	stand_ins_add(&s, 1, 2000, &(struct derived){ .weight = 2000 });
	stand_ins_add(&s, STAND_INS_ANY_KIND, STAND_INS_ANY_LENGTH, &(struct derived){ .weight = 700 });
	stand_ins_add(&s, 1, STAND_INS_ANY_LENGTH, &(struct derived){ .weight = 900 });
	stand_ins_share_out(&s, add_weight, &sum);
	CHECK_UINT(sum, 2000 + 700 + 900);
	stand_ins_deinit(&s);
}

/* ---- against simulated truth ---- */

#define FUNCTIONS 4
#define THREADS	  3
#define WAITS	  400
#define SEEDS	  400

struct trial {
	struct profile_sum rows[FUNCTIONS], whole;
	double truth[FUNCTIONS], all, not_known;
	bool seen[THREADS][32];
	double hidden[THREADS][32][FUNCTIONS];
	uint64_t random;
};

/* 0 .. 1 (xorshift). */
static double next_random(struct trial *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return (double)(t->random >> 11) / (double)(1ull << 53);
}

static void put_estimate(void *context, const struct derived *more)
{
	struct trial *t = context;
	const struct profile_sum part = { .weight = (int64_t)more->weight, .weight_sq = more->variance };

	if (!more->more) {
		t->not_known += (double)more->weight;
		return; /* a row of its own */
	}
	stats_add_sum(&t->rows[more->stack - 1], &part);
	stats_add_sum(&t->whole, &part);
}

/* The same as stand_ins has. */
static unsigned class_of(uint64_t ns)
{
	return (63u - (unsigned)__builtin_clzll(ns)) / 2;
}

/* One thread's waits, of lengths over two decades, one in @thinned with its stack; each thread waits at places of its own. */
static void wait_for_all(struct trial *t, unsigned thread, unsigned thinned)
{
	struct stand_ins s = { 0 };

	for (unsigned i = 0; i < WAITS; i++) {
		bool rare = next_random(t) < 0.1, other = next_random(t) < 0.3;
		unsigned function = rare ? FUNCTIONS - 1 : (thread + other) % (FUNCTIONS - 1);
		uint64_t ns = (uint64_t)(1000 * exp(4.6 * next_random(t) * (function == 1 ? 0.6 : 1)));
		bool known = next_random(t) * thinned < 1;
		struct derived span = { .stack = known ? function + 1 : 0, .state = PROFILE_STATE_BLOCKED, .weight = ns };
		const struct profile_sum exact = { .count = 1, .weight = (int64_t)ns, .exact = (int64_t)ns };

		t->truth[function] += (double)ns;
		t->all += (double)ns;
		t->seen[thread][class_of(ns)] |= known;
		if (!known) {
			t->hidden[thread][class_of(ns)][function] += (double)ns;
			stand_ins_add(&s, span.state, ns, &span);
			continue;
		}
		stand_ins_keep(&s, span.state, ns, &span);
		stats_add_sum(&t->rows[function], &exact);
		stats_add_sum(&t->whole, &exact);
	}
	stand_ins_share_out(&s, put_estimate, t);
	stand_ins_deinit(&s);
}

/* What none stands for is none of the rows'. */
static void forget_not_known(struct trial *t)
{
	double forgotten = 0;

	for (unsigned thread = 0; thread < THREADS; thread++)
		for (unsigned class = 0; class < 32; class++)
			for (unsigned i = 0; i < FUNCTIONS && !t->seen[thread][class]; i++) {
				t->truth[i] -= t->hidden[thread][class][i];
				forgotten += t->hidden[thread][class][i];
			}
	CHECK(fabs(forgotten - t->not_known) < 1);
	t->all -= forgotten;
	CHECK(fabs(t->all - (double)t->whole.weight) < 1);
}

/* 1,600 intervals at 95 %: of fewer than 93 % or more than 98.5 %, one of both is wrong (3.7 and 6 deviations). */
TEST(stand_ins_have_intervals_that_hold_the_truth)
{
	static const unsigned thinned[] = { 4, 20 };

	for (size_t n = 0; n < ARRAY_LEN(thinned); n++) {
		unsigned held = 0, all = 0;

		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			struct trial t = { .random = seed * 0x9e3779b97f4a7c15 };

			for (unsigned thread = 0; thread < THREADS; thread++)
				wait_for_all(&t, thread, thinned[n]);
			forget_not_known(&t);
			for (unsigned i = 0; i < FUNCTIONS; i++) {
				struct stats_share share = stats_share(&t.rows[i], &t.whole);
				double truth = t.truth[i] / t.all;

				/* Never less than was measured there, nor more than that and all that was estimated. */
				CHECK(share.low >= (double)t.rows[i].exact / t.all - 1e-9);
				CHECK(share.high <= (t.all - (double)(t.whole.exact - t.rows[i].exact)) / t.all + 1e-9);
				held += truth >= share.low && truth <= share.high;
				all++;
			}
		}
		CHECK(held >= 0.93 * all && held <= 0.985 * all);
	}
}

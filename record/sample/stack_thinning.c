/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_thinning.c - the rate over the last tenth of a second, or over less if much came.
 */
#include "record/sample/stack_thinning.h"

#include "formats/base/compiler.h"

#define LOOK_NS	    100000000 /* at the rate, so often */
#define LOOK_COUNT  (STACK_THINNING_RATE / 8) /* or after so many stacks: a ring has room for few large ones */
#define PERIOD_MAX  1000000

uint64_t stack_thinning_count(struct stack_thinning *t, uint64_t time_ns)
{
	uint64_t period = time_ns < t->changed_ns ? t->period_before : t->period;

	if (!t->since_ns)
		t->since_ns = time_ns;
	t->count++;
	return MAX(period, 1);
}

/* Odd, so that a program that alternates is not always sampled at the same step. */
static uint64_t wanted(const struct stack_thinning *t, uint64_t elapsed_ns)
{
	uint64_t period = MAX(t->period, 1);
	double rate = (double)t->count * 1e9 / (double)MAX(elapsed_ns, 1);
	double exact = (double)period * rate / (t->half ? STACK_THINNING_RATE / 2 : STACK_THINNING_RATE);
	uint64_t whole = exact < PERIOD_MAX ? (uint64_t)exact : PERIOD_MAX;

	return MAX(whole | 1, period / 2 | 1);
}

void stack_thinning_pause(struct stack_thinning *t, uint64_t now_ns)
{
	t->paused_ns = now_ns;
	t->half = true;
}

void stack_thinning_resume(struct stack_thinning *t, uint64_t now_ns)
{
	if (t->since_ns)
		t->since_ns += now_ns - MIN(t->paused_ns, now_ns);
	t->paused_ns = 0;
}

void stack_thinning_reset(struct stack_thinning *t, uint64_t now_ns)
{
	t->period_before = MAX(t->period, 1);
	t->period = 1;
	t->changed_ns = now_ns;
	t->since_ns = 0;
	t->count = 0;
}

uint64_t stack_thinning_decide(struct stack_thinning *t, uint64_t now_ns)
{
	uint64_t elapsed_ns = now_ns > t->since_ns ? now_ns - t->since_ns : 0;
	uint64_t period = MAX(t->period, 1), next;

	if (t->paused_ns)
		return 0;
	if (!t->since_ns) {
		t->since_ns = now_ns;
		t->count = 0;
		return 0;
	}
	if (elapsed_ns < LOOK_NS && t->count < LOOK_COUNT)
		return 0;
	next = wanted(t, elapsed_ns);
	t->since_ns = now_ns;
	t->count = 0;
	/* A little more or less is not worth a system call. */
	if (next == period || (next > period && next - period <= period / 4))
		return 0;
	t->period_before = period;
	t->period = next;
	t->changed_ns = now_ns;
	t->most = MAX(t->most, next);
	return next;
}

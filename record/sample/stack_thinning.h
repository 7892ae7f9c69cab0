/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_thinning.h - limits the stacks of waits on a CPU: every switch has one until there are too many.
 *
 * A stack costs the switching thread some 5 us, so recording would take most of the time of two threads that pass a byte
 * back and forth. Above STACK_THINNING_RATE stacks a second on a CPU one switch in N has a stack. N follows the rate: up at
 * once, down by half at a time. Pure policy: ring_reader counts and sets the kernel's period.
 */
#ifndef RECORD_STACK_THINNING_H
#define RECORD_STACK_THINNING_H

#include <stdbool.h>
#include <stdint.h>

#define STACK_THINNING_RATE 2000 /* stacks of waits a second on each CPU */

struct stack_thinning {
	uint64_t period;       /* one stack for so many switches; 0 is 1 */
	uint64_t period_before; /* the same before @changed_ns */
	uint64_t changed_ns;
	uint64_t since_ns, count; /* stacks since then */
	uint64_t most;	       /* the largest period so far */
	bool half;	       /* halve the rate, after a pause: the recorded program itself switches this often */
	uint64_t paused_ns;    /* start of the pause; 0: stacks are taken */
};

/* Count a stack sampled at @time_ns; returns the period that applied to it. */
uint64_t stack_thinning_count(struct stack_thinning *t, uint64_t time_ns);

/* At @now_ns: pause or resume; paused time does not count for the rate. */
void stack_thinning_pause(struct stack_thinning *t, uint64_t now_ns);
void stack_thinning_resume(struct stack_thinning *t, uint64_t now_ns);

/* At @now_ns: every switch has a stack again. */
void stack_thinning_reset(struct stack_thinning *t, uint64_t now_ns);

/* At @now_ns: the new period to set, or 0 to keep the current one. */
uint64_t stack_thinning_decide(struct stack_thinning *t, uint64_t now_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_thinning.h - how many of a CPU's switches get a stack: each, until that becomes too many.
 *
 * A stack costs the thread that leaves some 5 us, so that two that hand a byte to and fro would spend most of their time
 * on being recorded. Above STACK_THINNING_RATE stacks a second on a CPU one switch in N gets one. N follows the rate: up at
 * once, down by half at a time. Pure policy: ring_reader counts and informs the kernel.
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
	bool half;	       /* as many, since it has been paused: what is recorded itself switches so often */
	uint64_t paused_ns;    /* since when no stacks are taken; 0: they are */
};

/* The period that was in force for a stack that was sampled at @time_ns, which is counted. */
uint64_t stack_thinning_count(struct stack_thinning *t, uint64_t time_ns);

/* It is @now_ns, and from now on no stacks are taken, or again: the time in between does not count. */
void stack_thinning_pause(struct stack_thinning *t, uint64_t now_ns);
void stack_thinning_resume(struct stack_thinning *t, uint64_t now_ns);

/* It is @now_ns, and from now on each switch has its stack again. */
void stack_thinning_reset(struct stack_thinning *t, uint64_t now_ns);

/* It is @now_ns: the period to set from now on, or 0 if that is the one in force. */
uint64_t stack_thinning_decide(struct stack_thinning *t, uint64_t now_ns);

#endif

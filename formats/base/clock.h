/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - what a clock of the system shows, as one number, and deadlines.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* In nanoseconds. @clock is one that every supported kernel has: reading it cannot fail. */
static inline uint64_t clock_now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* @wait_ns from now, for pthread_cond_timedwait() and pthread_timedjoin_np(). */
static inline struct timespec clock_deadline(uint64_t wait_ns)
{
	uint64_t end_ns = clock_now_ns(CLOCK_REALTIME) + wait_ns;

	return (struct timespec){ (time_t)(end_ns / 1000000000u), (long)(end_ns % 1000000000u) };
}

#endif

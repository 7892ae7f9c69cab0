/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - what a clock of the system shows, as one number.
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

#endif

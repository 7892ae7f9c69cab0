/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late_clock.c - preloaded into precord: from its first look for a second signal on, its clock is 8.2 s later, as if all that
 * follows the first had taken that long.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

static _Atomic int late;

int sigpending(sigset_t *set)
{
	static int (*next)(sigset_t *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "sigpending");
	late = 1;
	return next(set);
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	static int (*next)(clockid_t, struct timespec *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
	int result = next(clock, ret);

	if (clock == CLOCK_MONOTONIC && late) {
		ret->tv_nsec += 200000000;
		ret->tv_sec += 8 + ret->tv_nsec / 1000000000;
		ret->tv_nsec %= 1000000000;
	}
	return result;
}

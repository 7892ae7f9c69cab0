/* SPDX-License-Identifier: Apache-2.0 */
#include "record/task/process_clock.h"

#include <time.h>

uint64_t process_clock_ns(uint32_t pid)
{
	struct timespec t;

	/* The clock's number as clock_getcpuclockid(3) makes it. */
	if (clock_gettime((clockid_t)(~pid << 3 | 2), &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

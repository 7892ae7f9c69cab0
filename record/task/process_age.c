/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_age.c - in ticks, as the kernel tells it.
 */
#include "record/task/process_age.h"

#include "formats/base/clock.h"
#include "formats/base/compiler.h"
#include "record/task/process_stat.h"

#include <time.h>
#include <unistd.h>

uint64_t process_begin_ns(int proc_fd)
{
	uint64_t ticks;

	if (!process_stat_u64(proc_fd, PROCESS_STAT_START_TIME, &ticks))
		return UINT64_MAX;
	return ticks * (1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK));
}

uint64_t process_age_ns(int proc_fd)
{
	uint64_t begin_ns = process_begin_ns(proc_fd), now_ns = clock_now_ns(CLOCK_BOOTTIME);

	return begin_ns == UINT64_MAX ? UINT64_MAX : now_ns - MIN(begin_ns, now_ns);
}

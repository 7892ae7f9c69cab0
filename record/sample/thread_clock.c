/* SPDX-License-Identifier: Apache-2.0 */
#include "record/sample/thread_clock.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CLOCKS_MAX 128 /* descriptors; then all are closed and those that are needed opened anew */

/* The clock of a process's CPU time, as clock_getcpuclockid(3) makes it. */
static clockid_t process_clock(uint32_t pid)
{
	return (clockid_t)(~pid << 3 | 2);
}

uint64_t thread_clocks_read(struct thread_clocks *clocks, uint32_t pid, uint32_t tid)
{
	const uint64_t *fd = clocks->by_tid.len ? map_get(&clocks->by_tid, tid) : NULL;
	struct timespec t = { 0 };
	uint64_t count = 0;

	if (fd && read((int)*fd - 1, &count, sizeof(count)) == sizeof(count))
		return count;
	if (clock_gettime(process_clock(pid), &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void close_all(struct thread_clocks *clocks)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&clocks->by_tid, &pos));)
		close((int)slot->value - 1);
	map_clear(&clocks->by_tid);
}

bool thread_clocks_moved(struct thread_clocks *clocks, uint32_t pid, uint32_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.size = sizeof(attr),
	};

	(void)pid;
	if (map_get(&clocks->by_tid, tid))
		return true;
	if (clocks->by_tid.len >= CLOCKS_MAX)
		close_all(clocks);
	long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		*map_put(&clocks->by_tid, tid, NULL) = (uint64_t)fd + 1;
	return true;
}

void thread_clocks_deinit(struct thread_clocks *clocks)
{
	close_all(clocks);
	map_deinit(&clocks->by_tid);
}

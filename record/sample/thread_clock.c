/* SPDX-License-Identifier: Apache-2.0 */
#include "record/sample/thread_clock.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CLOCKS_MAX 128	 /* descriptors; then all are closed, and those that are needed opened anew */
#define READS_MAX  65536 /* the same: threads end, and others get their numbers */

/* The clock of a process's CPU time, as clock_getcpuclockid(3) makes it. */
static clockid_t process_clock(uint32_t pid)
{
	return (clockid_t)(~pid << 3 | 2);
}

static void close_all(struct thread_clocks *clocks)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&clocks->by_tid, &pos));)
		close((int)slot->value - 1);
	map_clear(&clocks->by_tid);
}

uint64_t thread_clocks_read(struct thread_clocks *clocks, uint32_t pid, uint32_t tid)
{
	struct timespec t = { 0 };
	uint64_t count = 0;

	if (++clocks->reads % READS_MAX == 0)
		close_all(clocks);
	const uint64_t *fd = clocks->by_tid.len ? map_get(&clocks->by_tid, tid) : NULL;

	if (fd && read((int)*fd - 1, &count, sizeof(count)) == sizeof(count))
		return count;
	if (clock_gettime(process_clock(pid), &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void thread_clocks_refine(struct thread_clocks *clocks, uint32_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.size = sizeof(attr),
	};

	if (map_get(&clocks->by_tid, tid))
		return;
	if (clocks->by_tid.len >= CLOCKS_MAX)
		close_all(clocks);
	long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		*map_put(&clocks->by_tid, tid, NULL) = (uint64_t)fd + 1;
}

void thread_clocks_deinit(struct thread_clocks *clocks)
{
	close_all(clocks);
	map_deinit(&clocks->by_tid);
}

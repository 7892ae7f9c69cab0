/* SPDX-License-Identifier: Apache-2.0 */
#include "record/sample/thread_clock.h"

#include "formats/base/compiler.h"
#include "record/task/process_clock.h"

#include <linux/perf_event.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CLOCKS_MAX 2048	 /* descriptors, if there are four times as many to be had */
#define READS_MAX  16384 /* after which those of threads that have ended are closed, though they are not asked for */
#define USED	   1u

void thread_clocks_init(struct thread_clocks *clocks)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	*clocks = (struct thread_clocks){ .max = (size_t)MIN(limit.rlim_cur / 4, (rlim_t)CLOCKS_MAX) };
	pthread_rwlock_init(&clocks->lock, NULL);
}

/* Has its thread ended? */
static bool is_over(uint64_t slot)
{
	struct pollfd fd = { .fd = (int)(slot / 2) };

	return poll(&fd, 1, 0) == 1 && fd.revents & (POLLHUP | POLLERR);
}

enum closing {
	CLOSE_ENDED,
	CLOSE_UNUSED,
	CLOSE_ALL,
};

/* Locked for writing. */
static void close_clocks(struct thread_clocks *clocks, enum closing which)
{
	struct map kept = { 0 };
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&clocks->by_tid, &pos));) {
		if (which == CLOSE_ALL || (which == CLOSE_UNUSED && !(slot->value & USED)) || is_over(slot->value))
			close((int)(slot->value / 2));
		else
			*map_put(&kept, slot->key, NULL) = slot->value & ~(uint64_t)USED;
	}
	map_deinit(&clocks->by_tid);
	clocks->by_tid = kept;
}

void thread_clocks_deinit(struct thread_clocks *clocks)
{
	close_clocks(clocks, CLOSE_ALL);
	map_deinit(&clocks->by_tid);
	pthread_rwlock_destroy(&clocks->lock);
}

/* That of the thread alone; false if it has none. */
static bool read_own(struct thread_clocks *clocks, uint32_t tid, uint64_t *ret)
{
	bool found = false;

	pthread_rwlock_rdlock(&clocks->lock);
	uint64_t *slot = clocks->by_tid.len ? map_get(&clocks->by_tid, tid) : NULL;

	if (slot)
		found = read((int)(__atomic_fetch_or(slot, USED, __ATOMIC_RELAXED) / 2), ret, sizeof(*ret)) == sizeof(*ret);
	pthread_rwlock_unlock(&clocks->lock);
	return found;
}

uint64_t thread_clocks_read(struct thread_clocks *clocks, uint32_t pid, uint32_t tid)
{
	uint64_t count = 0;

	if (++clocks->reads % READS_MAX == 0) {
		pthread_rwlock_wrlock(&clocks->lock);
		close_clocks(clocks, CLOSE_ENDED);
		pthread_rwlock_unlock(&clocks->lock);
	}
	if (read_own(clocks, tid, &count))
		return count;
	return process_clock_ns(pid);
}

/* Has thread @tid a clock that is that of an ended thread? */
static bool is_stale(struct thread_clocks *clocks, uint32_t tid)
{
	pthread_rwlock_rdlock(&clocks->lock);
	const uint64_t *slot = clocks->by_tid.len ? map_get(&clocks->by_tid, tid) : NULL;
	bool stale = slot && is_over(*slot);

	pthread_rwlock_unlock(&clocks->lock);
	return stale;
}

uint64_t thread_clocks_begin(struct thread_clocks *clocks, uint32_t pid, uint32_t tid)
{
	if (is_stale(clocks, tid)) {
		pthread_rwlock_wrlock(&clocks->lock);
		close_clocks(clocks, CLOSE_ENDED);
		pthread_rwlock_unlock(&clocks->lock);
	}
	return thread_clocks_read(clocks, pid, tid);
}

/* Locked for writing. */
static bool open_clock(struct thread_clocks *clocks, uint32_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.size = sizeof(attr),
	};

	if (clocks->by_tid.len >= clocks->max)
		close_clocks(clocks, CLOSE_UNUSED);
	if (clocks->by_tid.len >= clocks->max)
		close_clocks(clocks, CLOSE_ALL);
	long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		*map_put(&clocks->by_tid, tid, NULL) = (uint64_t)fd * 2 | USED;
	return fd >= 0;
}

bool thread_clocks_refine(struct thread_clocks *clocks, uint32_t tid)
{
	pthread_rwlock_wrlock(&clocks->lock);
	bool opened = !map_get(&clocks->by_tid, tid) && open_clock(clocks, tid);

	pthread_rwlock_unlock(&clocks->lock);
	return opened;
}

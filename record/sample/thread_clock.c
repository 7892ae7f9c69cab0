/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_clock.c - two files of /proc/PID/task/TID: schedstat (sched_account.h), and stat, which has the thread's state and its current or last
 * CPU (proc(5)).
 */
#include "record/sample/thread_clock.h"

#include "formats/base/compiler.h"
#include "formats/base/memory.h"
#include "record/task/process_clock.h"
#include "record/task/process_stat.h"
#include "record/task/sched_account.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define CLOCKS_MAX 1024	 /* if the limit on descriptors is at least eight times as high */
#define READS_MAX  16384 /* reads, after which files of ended threads are closed */
#define STAT_LEN   1024

struct thread_clock {
	int account_fd, stat_fd;
	_Atomic bool used; /* since others were closed */
};

void thread_clocks_init(struct thread_clocks *clocks)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	*clocks = (struct thread_clocks){ .max = (size_t)MIN(limit.rlim_cur / 8, (rlim_t)CLOCKS_MAX) };
	pthread_rwlock_init(&clocks->lock, NULL);
}

static void close_clock(struct thread_clock *clock)
{
	if (clock->account_fd >= 0)
		close(clock->account_fd);
	if (clock->stat_fd >= 0)
		close(clock->stat_fd);
	free(clock);
}

/* False: the thread has ended, or the kernel keeps no such account. Both numbers only grow. */
static bool read_account(const struct thread_clock *clock, uint64_t *ret)
{
	struct event_task_times account;

	if (!sched_account_read(clock->account_fd, &account))
		return false;
	*ret = account.run_ns + account.turns;
	return true;
}

/* A running thread's account is updated only at the next tick. */
static bool runs_elsewhere(const struct thread_clock *clock)
{
	char text[STAT_LEN];
	uint64_t cpu;
	ssize_t got = pread(clock->stat_fd, text, sizeof(text) - 1, 0);

	text[MAX(got, 0)] = '\0';
	return process_stat_state(text) == 'R' && process_stat_field(text, PROCESS_STAT_PROCESSOR, &cpu) &&
	       cpu != (uint64_t)sched_getcpu();
}

enum closing {
	CLOSE_ENDED,
	CLOSE_UNUSED,
	CLOSE_ALL,
};

static bool may_close(const struct thread_clock *clock, enum closing which)
{
	uint64_t account;

	return which == CLOSE_ALL || (which == CLOSE_UNUSED && !clock->used) || !read_account(clock, &account);
}

/* Locked for writing. */
static void close_clocks(struct thread_clocks *clocks, enum closing which)
{
	struct map kept = { 0 };
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&clocks->by_tid, &pos));) {
		struct thread_clock *clock = (struct thread_clock *)(uintptr_t)slot->value;

		if (may_close(clock, which)) {
			close_clock(clock);
			continue;
		}
		*map_put(&kept, slot->key, NULL) = slot->value;
		clock->used = false;
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

/* Locked. NULL: it has none of its own. */
static struct thread_clock *own_clock(const struct thread_clocks *clocks, uint32_t tid)
{
	const uint64_t *slot = clocks->by_tid.len ? map_get(&clocks->by_tid, tid) : NULL;

	return slot ? (struct thread_clock *)(uintptr_t)*slot : NULL;
}

enum reading {
	READ_NONE, /* it has no clock of its own */
	READ_WELL,
	READ_ENDED,
};

static enum reading read_own(struct thread_clocks *clocks, uint32_t tid, bool first, uint64_t *ret)
{
	enum reading reading = READ_NONE;

	pthread_rwlock_rdlock(&clocks->lock);
	struct thread_clock *clock = own_clock(clocks, tid);

	if (clock) {
		reading = read_account(clock, ret) ? READ_WELL : READ_ENDED;
		clock->used = true;
		if (first && reading == READ_WELL && runs_elsewhere(clock))
			*ret = UINT64_MAX;
	}
	pthread_rwlock_unlock(&clocks->lock);
	return reading;
}

static void close_ended(struct thread_clocks *clocks)
{
	pthread_rwlock_wrlock(&clocks->lock);
	close_clocks(clocks, CLOSE_ENDED);
	pthread_rwlock_unlock(&clocks->lock);
}

uint64_t thread_clocks_read(struct thread_clocks *clocks, uint32_t pid, uint32_t tid)
{
	uint64_t ran;

	if (++clocks->reads % READS_MAX == 0)
		close_ended(clocks);
	return read_own(clocks, tid, /* first= */ false, &ran) == READ_WELL ? ran : process_clock_ns(pid);
}

uint64_t thread_clocks_begin(struct thread_clocks *clocks, uint32_t pid, uint32_t tid)
{
	uint64_t ran;
	enum reading reading = read_own(clocks, tid, /* first= */ true, &ran);

	if (reading == READ_ENDED)
		close_ended(clocks);
	return reading == READ_WELL ? ran : process_clock_ns(pid);
}

/* NULL: not to be had. */
static struct thread_clock *open_clock(uint32_t pid, uint32_t tid)
{
	struct thread_clock *clock = memory_zeroed(1, sizeof(*clock));
	uint64_t account;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/schedstat", pid, tid);
	clock->account_fd = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/stat", pid, tid);
	clock->stat_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (clock->stat_fd >= 0 && read_account(clock, &account))
		return clock;
	close_clock(clock);
	return NULL;
}

bool thread_clocks_refine(struct thread_clocks *clocks, uint32_t pid, uint32_t tid)
{
	struct thread_clock *clock = NULL;

	pthread_rwlock_wrlock(&clocks->lock);
	if (!own_clock(clocks, tid))
		clock = open_clock(pid, tid);
	if (clock && clocks->by_tid.len >= clocks->max)
		close_clocks(clocks, CLOSE_UNUSED);
	if (clock && clocks->by_tid.len >= clocks->max)
		close_clocks(clocks, CLOSE_ALL);
	if (clock)
		*map_put(&clocks->by_tid, tid, NULL) = (uintptr_t)clock;
	pthread_rwlock_unlock(&clocks->lock);
	return clock;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_times.c - reads files that never wait for another process's memory.
 */
#include "record/task/task_times.h"

#include "formats/base/clock.h"
#include "formats/base/text.h"
#include "record/task/sched_account.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS     100000000ULL
#define LONGEST_NS   1000000000ULL
#define SHARE	     100	/* a hundredth of the time at most */
#define THREADS_MAX  1000000 /* that are remembered; of more, those that are not known are reported each time */

struct reading {
	struct task_times *times;
	const struct task_filter *filter;
	struct err *(*tell)(void *context, const struct event *ev);
	void *context;
};

void task_times_begin(struct task_times *t, bool wanted, uint64_t now_ns, struct stop_time *stop)
{
	*t = (struct task_times){ .wanted = wanted, .next_ns = wanted ? now_ns : UINT64_MAX, .interval_ns = FIRST_NS, .stop = stop };
}

void task_times_deinit(struct task_times *t)
{
	map_deinit(&t->runs);
}

static bool read_account(int dir_fd, uint32_t tid, struct event_task_times *ret)
{
	char path[32];

	snprintf(path, sizeof(path), "%" PRIu32 "/schedstat", tid);
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
	bool known = sched_account_read(fd, ret);

	if (fd >= 0)
		close(fd);
	return known;
}

/* Did it run since it was last reported? */
static bool is_news(struct task_times *t, uint32_t tid, uint64_t run_ns)
{
	uint64_t *known = map_get(&t->runs, tid);
	bool fresh = true;

	if (!known && t->runs.len >= THREADS_MAX)
		return true;
	if (!known)
		known = map_put(&t->runs, tid, &fresh);
	else
		fresh = *known != run_ns;
	*known = run_ns;
	return fresh;
}

static struct err *read_process(const struct reading *r, uint32_t pid)
{
	struct err *err = NULL;
	char path[40];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", pid);
	dir = opendir(path);
	if (!dir)
		return NULL;
	for (struct dirent *entry; !err && (entry = readdir(dir));) {
		struct event ev = { .kind = EVENT_TASK_TIMES, .cpu = EVENT_NO_CPU, .pid = pid };
		uint64_t tid;

		if (!text_parse_u64(entry->d_name, &tid) || tid > UINT32_MAX || !task_filter_owns(r->filter, pid, (uint32_t)tid) ||
		    stop_time_leaves(r->times->stop, STOP_ACCOUNTS) ||
		    !read_account(dirfd(dir), (uint32_t)tid, &ev.task_times))
			continue;
		ev.tid = (uint32_t)tid;
		ev.time_ns = clock_now_ns(CLOCK_MONOTONIC);
		if (is_news(r->times, ev.tid, ev.task_times.run_ns))
			err = r->tell(r->context, &ev);
	}
	closedir(dir);
	return err;
}

static struct err *read_selected(const struct reading *r)
{
	struct err *err = NULL;
	const struct map_slot *slot;

	for (size_t at = 0; !err && (slot = map_next(&r->filter->processes, &at));)
		if (slot->value)
			err = read_process(r, (uint32_t)slot->key);
	return err;
}

static struct err *read_all(const struct reading *r)
{
	struct err *err = NULL;
	DIR *dir = opendir("/proc");

	if (!dir)
		return NULL;
	for (struct dirent *entry; !err && (entry = readdir(dir));) {
		uint64_t pid;

		if (text_parse_u64(entry->d_name, &pid) && pid <= UINT32_MAX)
			err = read_process(r, (uint32_t)pid);
	}
	closedir(dir);
	return err;
}

struct err *task_times_read(struct task_times *t, const struct task_filter *filter,
			    struct err *(*tell)(void *context, const struct event *ev), void *context)
{
	const struct reading reading = { t, filter, tell, context };
	uint64_t begun_ns = clock_now_ns(CLOCK_MONOTONIC), now_ns;
	struct err *err;

	if (!t->wanted)
		return NULL;
	err = filter->selected || filter->by_cgroup ? read_selected(&reading) : read_all(&reading);
	now_ns = clock_now_ns(CLOCK_MONOTONIC);
	t->next_ns = now_ns + MAX(t->interval_ns, SHARE * (now_ns - begun_ns));
	t->interval_ns = MIN(2 * t->interval_ns, LONGEST_NS);
	return err;
}

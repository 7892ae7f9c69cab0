/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_filter.c - membership goes from parent to child; a number that is used again belongs to its new task.
 */
#include "record/task/task_filter.h"

#include "formats/base/clock.h"
#include "record/task/cgroup.h"
#include "record/task/process_stat.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Values of the maps; 0 is a task that is not recorded. */
#define FAMILY_MEMBER  1
#define FAMILY_ENDED   2 /* a member found to have ended */
#define FAMILY_LEAVING 3 /* and above: a member whose exit record was read, plus the round */

#define ROUNDS_KEPT 2

#define LOOK_NS	   100000000ULL /* between reads of a cgroup */
#define LOOK_SHARE 100		/* at most a hundredth of the time */

void task_filter_init(struct task_filter *f, const struct target *target)
{
	*f = (struct task_filter){
		.selected = target->tasks.len > 0,
		.by_cgroup = !target->tasks.len && target->cgroup_fd >= 0,
		.cgroup_fd = target->cgroup_fd,
	};
	for (size_t i = 0; i < target->tasks.len; i++) {
		const struct target_task *task = &target->tasks.items[i];

		*map_put(&f->processes, (uint32_t)task->pid, NULL) = FAMILY_MEMBER;
		if (target->inherit)
			continue;
		*map_put(&f->threads, (uint32_t)task->tid, NULL) = FAMILY_MEMBER;
		vec_push(&f->named, *task);
	}
}

void task_filter_deinit(struct task_filter *f)
{
	map_deinit(&f->processes);
	map_deinit(&f->threads);
	vec_deinit(&f->named);
	vec_deinit(&f->leavers);
}

static bool is_member(const struct map *map, uint32_t id)
{
	const uint64_t *member = map_get(map, id);

	return member && *member;
}

bool task_filter_has(const struct task_filter *f, uint32_t pid, uint32_t tid)
{
	if (!f->selected)
		return true;
	return f->threads.len ? is_member(&f->threads, tid) : is_member(&f->processes, pid);
}

bool task_filter_owns(const struct task_filter *f, uint32_t pid, uint32_t tid)
{
	return f->by_cgroup ? is_member(&f->processes, pid) : task_filter_has(f, pid, tid);
}

static void add_member(void *context, uint32_t pid)
{
	struct task_filter *f = context;

	*map_put(&f->processes, pid, NULL) = FAMILY_MEMBER;
}

void task_filter_look(struct task_filter *f, uint64_t now_ns)
{
	if (!f->by_cgroup || now_ns < f->next_ns)
		return;
	map_deinit(&f->processes);
	f->processes = (struct map){ 0 };
	cgroup_each_process(f->cgroup_fd, add_member, f);
	f->looks++;

	uint64_t done_ns = clock_now_ns(CLOCK_MONOTONIC);

	f->next_ns = done_ns + MAX(LOOK_NS, LOOK_SHARE * (done_ns - MIN(now_ns, done_ns)));
}

static void follow_fork(struct task_filter *f, const struct event *ev)
{
	bool joins = !f->threads.len && is_member(&f->processes, ev->fork.parent_pid);

	if (ev->pid == ev->fork.parent_pid)
		return;
	if (joins || is_member(&f->processes, ev->pid))
		*map_put(&f->processes, ev->pid, NULL) = joins ? FAMILY_MEMBER : 0;
}

bool task_filter_event(struct task_filter *f, const struct event *ev)
{
	if (f->by_cgroup && ev->kind == EVENT_FORK)
		follow_fork(f, ev);
	if (!f->selected)
		return true;
	switch (ev->kind) {
	case EVENT_FORK:
		follow_fork(f, ev);
		return is_member(&f->processes, ev->pid);
	case EVENT_MMAP:
		return ev->mmap.flags & EVENT_MMAP_KERNEL || is_member(&f->processes, ev->pid);
	case EVENT_COMM:
	case EVENT_EXIT:
		return is_member(&f->processes, ev->pid);
	case EVENT_SWITCH:
		return task_filter_has(f, ev->pid, ev->tid);
	default:
		return true; /* about the kernel, or about the recording */
	}
}

void task_filter_leave(struct task_filter *f, uint32_t pid)
{
	if (!f->selected || !is_member(&f->processes, pid))
		return;
	*map_put(&f->processes, pid, NULL) = FAMILY_LEAVING + f->round;
	vec_push(&f->leavers, ((struct task_filter_leaver){ pid, f->round }));
}

void task_filter_round(struct task_filter *f)
{
	size_t gone = 0;

	f->round++;
	for (; gone < f->leavers.len; gone++) {
		struct task_filter_leaver leaver = f->leavers.items[gone];
		const uint64_t *state = map_get(&f->processes, leaver.pid);

		if (f->round - leaver.round < ROUNDS_KEPT)
			break;
		/* Otherwise its number was reused. */
		if (state && *state == FAMILY_LEAVING + leaver.round)
			map_remove(&f->processes, leaver.pid);
	}
	if (gone)
		vec_remove(&f->leavers, 0, gone);
}

/* A zombie counts as ended. */
static bool is_alive(uint32_t id)
{
	char path[64], text[1024];
	uint64_t nthreads;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", id);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (len <= 0)
		return false;
	text[len] = '\0';
	if (!process_stat_field(text, PROCESS_STAT_THREADS, &nthreads))
		return false;
	return !strchr("ZX", process_stat_state(text)) || nthreads > 1;
}

bool task_filter_lives(struct task_filter *f)
{
	struct map *map = f->threads.len ? &f->threads : &f->processes;

	if (!f->selected)
		return true;
	for (size_t i = 0; i < map->cap; i++) {
		if (!map->used[i] || map->slots[i].value != FAMILY_MEMBER)
			continue;
		if (is_alive((uint32_t)map->slots[i].key))
			return true;
		/* Its samples in the rings still count; only do not check it again. */
		map->slots[i].value = FAMILY_ENDED;
	}
	return false;
}

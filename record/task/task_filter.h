/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_filter.h - which processes' events are kept: all, or those of some processes and their descendants.
 *
 * A per-task clock starts anew in each task: a process shorter than the period is never sampled, not even a thousand of them.
 * So if it is permitted, events follow CPUs even for single processes, and other tasks' events are dropped here. Not thread-safe.
 */
#ifndef RECORD_TASK_FILTER_H
#define RECORD_TASK_FILTER_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/event.h"
#include "record/task/target.h"

#include <stdbool.h>
#include <stdint.h>

/* A process whose last thread has ended; its samples may still be in a ring. */
struct task_filter_leaver {
	uint32_t pid;
	uint64_t round; /* in which it left */
};

/* Zeroed, all tasks. */
struct task_filter {
	bool selected;        /* only members count */
	bool by_cgroup;	      /* the kernel selects; members are the cgroup's processes as of the last read, and their children */
	int cgroup_fd;	      /* its folder, the target's */
	uint64_t next_ns;     /* when to read it again */
	uint64_t looks;	      /* so often it was read */
	struct map processes; /* not 0 for a member */
	struct map threads;   /* the same; if it is empty, all threads of the members count */
	VEC(struct target_task) named; /* those threads */
	VEC(struct task_filter_leaver) leavers; /* in order */
	uint64_t round;
};

/* Select the tasks of @target, if it has any: threads that were named, or whole processes with their children. */
void task_filter_init(struct task_filter *f, const struct target *target);
void task_filter_deinit(struct task_filter *f);

/* Follow a side-band event, given in order of time. True if it is to be kept. */
bool task_filter_event(struct task_filter *f, const struct event *ev);

/* The last thread of @pid has ended. */
void task_filter_leave(struct task_filter *f, uint32_t pid);

/* All rings have been drained once more: forget processes that ended before the previous time. */
void task_filter_round(struct task_filter *f);

/* Is a sample of this thread to be kept? */
bool task_filter_has(const struct task_filter *f, uint32_t pid, uint32_t tid);

/*
 * Is this thread a member? With a cgroup the kernel selects samples, so task_filter_has() is true for every thread; this function
 * answers as of the last task_filter_look().
 */
bool task_filter_owns(const struct task_filter *f, uint32_t pid, uint32_t tid);

/* At @now_ns: read the cgroup's members, if it is due. */
void task_filter_look(struct task_filter *f, uint64_t now_ns);

/* Does any member still run? Ended members are checked once. */
bool task_filter_lives(struct task_filter *f);

#endif

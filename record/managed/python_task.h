/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_task.h - which asyncio task runs on a thread, and which tasks wait for it.
 *
 *	frame of Handle._run ─► self ─► _callback, a step or wake-up of ─► Task ─► its name, who awaits it (from 3.14 on)
 *
 * Event loops run a task by a handle, whose method is on the stack, so the task is the one whose frames are above it.
 * Tasks of the module _asyncio only: those in plain Python have no name here. A task that another one starts
 * eagerly runs under that one's name.
 */
#ifndef RECORD_PYTHON_TASK_H
#define RECORD_PYTHON_TASK_H

#include "record/managed/python_object.h"

#include <stdbool.h>

/* What was learnt of a process's tasks. Empty when zeroed. */
struct python_tasks {
	uint16_t coroutine;	 /* in a task, its offset; 0: not known yet */
	uint64_t coroutine_type; /* address of that type */
	unsigned searches;	 /* that were in vain */
};

struct python_task_names {
	const char *name;
	const char *awaiters; /* "fetch_all < main", the one that waits for it first; NULL: none, or not known */
};

/* Is the function with this qualified name and file the one below which a task runs? */
bool python_task_is_run(const char *name, const char *file);

/*
 * The task that the handle at @handle runs; false if it runs none, or none that is known. @minor: of CPython's
 * version. Nothing is kept of the task; the texts are @names'.
 */
bool python_task_of(struct python_tasks *tasks, const struct python_layout *l, unsigned minor,
		    struct managed_names *names, struct managed_view *view, uint64_t handle,
		    struct python_task_names *ret);

#endif

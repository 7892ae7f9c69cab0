/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_scope.h - which tasks' switches the kernel records, if some tasks are recorded by following CPUs: all tasks, which
 * costs nothing per task and misses none, until other tasks switch so often that most records are dropped.
 *
 *	wide    all switches on all CPUs; records of other tasks are dropped
 *	narrow  only switches and stacks of the recorded threads and of their children: per-thread events, which are
 *	        inherited
 *
 * Narrow, other tasks cost nothing and do not thin stacks. But each switch of a recorded thread costs more, and such events
 * cannot be paused as the guard does (switch_guard.h). So if recorded threads themselves switch too often, it becomes wide
 * again, for good.
 */
#ifndef RECORD_SWITCH_SCOPE_H
#define RECORD_SWITCH_SCOPE_H

#include "formats/base/map.h"
#include "record/sample/perf_fds.h"
#include "record/task/task_filter.h"

#include <stdbool.h>
#include <stdint.h>

#define SWITCH_SCOPE_FOREIGN 2000 /* limit of other tasks' records a second */
#define SWITCH_SCOPE_FDS     2048 /* most descriptors for tasks */

/* Zeroed, it never narrows. */
struct switch_scope {
	bool wanted;
	bool narrow, settled;
	bool inherit;
	uint64_t own, foreign; /* records since @since_ns */
	uint64_t since_ns;
	struct map tids;       /* with events of their own */
	struct map last;       /* by thread: its last record, where the same one may come from two events */
	uint32_t owner;	       /* user of the first process */
};

void switch_scope_begin(struct switch_scope *scope, bool wanted, bool inherit, uint64_t now_ns);
void switch_scope_deinit(struct switch_scope *scope);

/* A record @ev of a switch, of a recorded task if @own: should it be kept? */
bool switch_scope_count(struct switch_scope *scope, const struct event *ev, bool own);

/* At @now_ns: do other tasks switch too often? Never while recording of switches is off. */
bool switch_scope_wants_narrow(struct switch_scope *scope, uint64_t now_ns);

/*
 * Open per-thread events in @perf_fds for all threads of @tasks. False if not possible, or too many threads: it stays wide.
 */
bool switch_scope_add_all(struct switch_scope *scope, struct perf_fds *perf_fds, const struct task_filter *tasks);

/* Did @pid lose its inherited events because its exec changed the user? */
bool switch_scope_lost(const struct switch_scope *scope, uint32_t pid);

#endif

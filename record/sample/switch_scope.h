/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_scope.h - of whom the kernel records switches, where some tasks are recorded by way of the CPUs: of everybody, which
 * costs nothing per task and misses none, until neighbours switch so often that most of it is dropped.
 *
 *	wide    all switches on all CPUs; those of others are dropped
 *	narrow  switches and stacks of the recorded threads only, and of what they start: events of their own, which the
 *	        threads inherit
 *
 * Narrow, neighbours cost nothing and do not thin stacks. But each switch of a recorded thread costs more, and such events
 * cannot be closed for a while as the guard does (switch_guard.h). So where recorded threads themselves switch too often,
 * it is wide again, for good.
 */
#ifndef RECORD_SWITCH_SCOPE_H
#define RECORD_SWITCH_SCOPE_H

#include "formats/base/map.h"
#include "record/sample/perf_fds.h"
#include "record/task/task_filter.h"

#include <stdbool.h>
#include <stdint.h>

#define SWITCH_SCOPE_FOREIGN 2000 /* records a second of others that are too many */
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

/* Record @ev of a switch came, which is @own or not: is it to be kept? */
bool switch_scope_count(struct switch_scope *scope, const struct event *ev, bool own);

/* It is @now_ns: do others switch too often? Not while switches are left out. */
bool switch_scope_wants_narrow(struct switch_scope *scope, uint64_t now_ns);

/*
 * Open events of their own in @perf_fds for all threads of @tasks. False if that cannot be, or they are too many: then it stays wide.
 */
bool switch_scope_add_all(struct switch_scope *scope, struct perf_fds *perf_fds, const struct task_filter *tasks);

/* Did @pid, which executed a program, lose the events that it inherited, for it is another user's now? */
bool switch_scope_lost(const struct switch_scope *scope, uint32_t pid);

#endif

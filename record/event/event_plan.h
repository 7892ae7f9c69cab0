/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_plan.h - how the events of a list are opened on this machine: what the kernel accepts, what had
 * to be given up, and what to say about it.
 *
 *	event_list (asked) + event_request (how) --probe--> event_plan (attributes that open) --> descriptors
 *
 * Every optional attribute is tried on a disabled event of its own; versions are never compared. What
 * had to be given up is in @notes, a line each.
 */
#ifndef RECORD_EVENT_PLAN_H
#define RECORD_EVENT_PLAN_H

#include "formats/base/arena.h"
#include "formats/base/err.h"
#include "record/event/event_request.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One event, ready to be opened. */
struct event_planned {
	const struct event_desc *desc;
	const char *name; /* what is really opened: "cpu-clock" in place of "cycles", "cycles:u" */
	const char *unit;
	struct perf_event_attr
		attr;    /* group leaders start disabled; enabling a leader starts its group */
	uint32_t leader; /* as in event_desc, but weak groups may have been taken apart */
};

struct event_plan {
	struct arena arena;
	struct event_planned *events; /* one for each event of the list, in its order */
	size_t nevents;
	struct perf_event_attr
		side_band;  /* a dummy that never samples: mappings, names, forks... */
	uint32_t features;  /* bit 1 << enum event_feature: available here */
	uint32_t stack_len; /* granted, 0 if no event takes snapshots */
	bool user_only;     /* kernel code could not be sampled for lack of privilege */
	const char **notes; /* fallbacks taken, a line each, with the remedy */
	size_t nnotes;
};

/*
 * Find attributes with which every event of @list opens on @request->probe. The plan points into @list.
 *
 * ERR_SYSTEM: an event cannot be opened even so; the message says which and why, the hint what to do.
 * ERR_UNSUPPORTED: this kernel cannot do what was asked for.
 */
MUST_USE struct err *event_plan_make(struct event_list *list, const struct event_request *request,
				     struct event_plan *ret);
/* The same, with the answers of @kernel (event_open.h) in place of the real one's. */
struct event_kernel;
MUST_USE struct err *event_plan_make_on(const struct event_kernel *kernel, struct event_list *list,
					const struct event_request *request,
					struct event_plan *ret);
void event_plan_deinit(struct event_plan *plan);

/*
 * Open event @index on @target, close-on-exec, its filter set. @group_fd is the leader's descriptor on
 * the same target, -1 for a leader. Raises RLIMIT_NOFILE to its hard limit when descriptors run out.
 *
 * ERR_SYSTEM: err_errno() tells ESRCH (the task is gone), ENODEV (the CPU is off line) and the like.
 */
MUST_USE struct err *event_plan_open(const struct event_plan *plan, size_t index,
				     const struct event_target *target, int group_fd, int *ret_fd);

/*
 * The same event once more, alone and with snapshots of no more than @stack_len bytes. -1 if there is no such thing:
 * members of groups, events whose snapshots are as short anyway, refusal.
 */
int event_plan_open_lean(const struct event_plan *plan, size_t index, const struct event_target *target,
			 uint32_t stack_len);

/* The same, with snapshots of no more than @stack_len bytes, waking who waits for its ring with each sample. */
int event_plan_open_waking(const struct event_plan *plan, size_t index, const struct event_target *target,
			   uint32_t stack_len);

enum event_side {
	EVENT_SIDE_ALL,
	EVENT_SIDE_TASKS,    /* without switches */
	EVENT_SIDE_SWITCHES, /* without all else */
};

/* The same for the side-band event, or a part of it. */
MUST_USE struct err *event_plan_open_side_band(const struct event_plan *plan, enum event_side part,
					       const struct event_target *target, int *ret_fd);

/* The same for the event behind a mmap wakeup. */
MUST_USE struct err *event_plan_open_doorbell(const struct event_plan *plan,
					      const struct event_target *target, int *ret_fd);

bool event_plan_has(const struct event_plan *plan, enum event_feature feature);

/* The events as the trace names them; strings live as long as the plan and its list. */
struct recording_event *event_plan_describe(const struct event_plan *plan, struct arena *arena);

#endif

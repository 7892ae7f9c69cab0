/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_points.h - what the tracepoints of the scheduler say: who leaves a CPU and why, who comes, who is woken.
 *
 *	sched:sched_switch   in the thread that leaves: prev_pid, prev_state, next_pid
 *	sched:sched_waking   in the one that wakes: pid
 *	sched:sched_wakeup   where the woken one is to run, perhaps in an interrupt there: pid
 *
 * Their numbers are those of the kernel's first PID namespace.
 */
#ifndef REPORT_SCHED_POINTS_H
#define REPORT_SCHED_POINTS_H

#include "formats/event.h"

enum sched_point_kind {
	SCHED_POINT_NONE,
	SCHED_POINT_SWITCH,
	SCHED_POINT_WAKING,
	SCHED_POINT_WAKEUP,
};

enum sched_point_left {
	SCHED_POINT_READY, /* could go on, or its state is not known */
	SCHED_POINT_BLOCKED,
	SCHED_POINT_ENDED,
};

struct sched_point {
	enum sched_point_kind kind;
	enum sched_point_left left; /* how @prev_tid left the CPU */
	uint32_t prev_tid, next_tid;
	uint32_t woken_tid;
};

struct sched_points;

struct sched_points *sched_points_new(const struct recording *rec);
void sched_points_free(struct sched_points *points);

/* What kind of event @index of the recording is. */
enum sched_point_kind sched_points_kind(const struct sched_points *points, uint32_t index);

/* What sample @ev says; false if it is none of these, is too short, or its thread goes by another number where it was recorded. */
bool sched_points_read(const struct sched_points *points, const struct event *ev, struct sched_point *ret);

#endif

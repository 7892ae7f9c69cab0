/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_points.c - offsets come from the recording's format texts; the bits of prev_state have been the same since Linux 4.14.
 */
#include "report/load/derive/sched_points.h"

#include "formats/base/memory.h"
#include "formats/tracepoint_format.h"
#include "report/load/derive/derive_kind.h"

#include <stdlib.h>

#define STATE_BITS  0xffu /* above them is only "preempted" */
#define STATE_ENDED 0x30u /* EXIT_DEAD, EXIT_ZOMBIE */

struct sched_points {
	size_t count;
	struct at {
		enum sched_point_kind kind;
		struct tracepoint_number prev, state, next; /* @prev: of a waking, the thread that is woken */
	} *events;
};

static enum sched_point_kind kind_of(const struct recording *rec, uint32_t index)
{
	static const struct {
		enum sched_point_kind kind;
		const char *name;
	} rows[] = { { SCHED_POINT_SWITCH, DERIVE_SCHED_SWITCH },
		     { SCHED_POINT_WAKING, "sched:sched_waking" },
		     { SCHED_POINT_WAKEUP, "sched:sched_wakeup" } };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (derive_is_tracepoint(rec, index, rows[i].name))
			return rows[i].kind;
	return SCHED_POINT_NONE;
}

struct sched_points *sched_points_new(const struct recording *rec)
{
	struct sched_points *points = memory_zeroed(1, sizeof(*points));

	points->count = rec->nevents;
	points->events = memory_zeroed(MAX(rec->nevents, 1), sizeof(*points->events));
	for (uint32_t i = 0; i < rec->nevents; i++) {
		const char *format = rec->events[i].format;
		struct at *at = &points->events[i];

		at->kind = kind_of(rec, i);
		at->prev = tracepoint_number_find(format, at->kind == SCHED_POINT_SWITCH ? "prev_pid" : "pid");
		at->state = tracepoint_number_find(format, "prev_state");
		at->next = tracepoint_number_find(format, "next_pid");
	}
	return points;
}

void sched_points_free(struct sched_points *points)
{
	if (!points)
		return;
	free(points->events);
	free(points);
}

enum sched_point_kind sched_points_kind(const struct sched_points *points, uint32_t index)
{
	return index < points->count ? points->events[index].kind : SCHED_POINT_NONE;
}

static enum sched_point_left left_by(uint64_t state)
{
	if (!(state & STATE_BITS))
		return SCHED_POINT_READY;
	return state & STATE_ENDED ? SCHED_POINT_ENDED : SCHED_POINT_BLOCKED;
}

bool sched_points_read(const struct sched_points *points, const struct event *ev, struct sched_point *ret)
{
	enum sched_point_kind kind = ev->kind == EVENT_SAMPLE ? sched_points_kind(points, ev->sample.event) : SCHED_POINT_NONE;
	uint64_t prev = 0, state = 0, next = 0;

	if (kind == SCHED_POINT_NONE)
		return false;

	const struct at *at = &points->events[ev->sample.event];

	if (!tracepoint_number_read(&at->prev, ev, &prev))
		return false;
	if (kind != SCHED_POINT_SWITCH) {
		*ret = (struct sched_point){ .kind = kind, .woken_tid = (uint32_t)prev };
		return true;
	}
	/* One that has ended has no number any more but in the payload. */
	bool has_other_number = ev->tid && ev->tid != UINT32_MAX && ev->tid != (uint32_t)prev;

	if (has_other_number || !tracepoint_number_read(&at->state, ev, &state) || !tracepoint_number_read(&at->next, ev, &next))
		return false;
	*ret = (struct sched_point){ .kind = kind, .left = left_by(state), .prev_tid = (uint32_t)prev,
				     .next_tid = (uint32_t)next };
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_events.h - the layout of an events block's content, shared by trace_encoder and
 * trace_decoder: precord-trace(5), "EVENTS".
 *
 * A block stands alone: nothing in it refers to another block but to the header. Within it, what
 * is alike stands together in columns.
 */
#ifndef FORMATS_TRACE_EVENTS_H
#define FORMATS_TRACE_EVENTS_H

#include "formats/event.h"

/* The columns, by their number in the file. */
enum trace_column {
	TRACE_COLUMN_HEADS = 1, /* kind, CPU and thread of every event */
	TRACE_COLUMN_TIMES,
	TRACE_COLUMN_SAMPLES, /* addresses, periods, call chains */
	TRACE_COLUMN_REGS,
	TRACE_COLUMN_STACK_SHAPES,
	TRACE_COLUMN_STACK_POINTERS,
	TRACE_COLUMN_STACK_NUMBERS,
	TRACE_COLUMN_FRESH,     /* values that come for the first time */
	TRACE_COLUMN_EXTRAS,    /* what few samples have: data addresses, branches, payloads */
	TRACE_COLUMN_SIDE_BAND, /* all events that are no samples */
	TRACE_COLUMNS
};

/* The first byte of an event: its kind, from 1 on in the order of enum event_kind, and these. */
#define TRACE_HEAD_KIND      0x1fu
#define TRACE_HEAD_SAME_CPU  0x20u /* as the event before */
#define TRACE_HEAD_SAME_TASK 0x40u
#define TRACE_HEAD_RESERVED  0x80u

_Static_assert(EVENT_SAMPLE == 0 && EVENT_TEXT_POKE == 12,
	       "kinds in files are these numbers plus 1");

/* Beside the state of an interpreter's stack: labels follow the frames, variables each frame. */
#define TRACE_MANAGED_LABELS 0x80u
#define TRACE_MANAGED_LOCALS 0x40u

/* The first number of a sample. */
#define TRACE_SAMPLE_MODE     0x07u
#define TRACE_SAMPLE_EVENT    0x08u /* another event than the one before */
#define TRACE_SAMPLE_PERIOD   0x10u /* another period than the one before */
#define TRACE_SAMPLE_REGS     0x20u
#define TRACE_SAMPLE_STACK    0x40u
#define TRACE_SAMPLE_KERNEL   0x80u /* kernel's part of the call chain */
#define TRACE_SAMPLE_USER     0x100u
#define TRACE_SAMPLE_EXTRAS   0x200u
#define TRACE_SAMPLE_RESERVED (~0x3ffull)

/* Fields of the extras. */
enum trace_extra {
	TRACE_EXTRA_ADDR = 1,
	TRACE_EXTRA_WEIGHT,
	TRACE_EXTRA_DATA_SRC,
	TRACE_EXTRA_CGROUP,
	TRACE_EXTRA_RAW,
	TRACE_EXTRA_BRANCHES,
	TRACE_EXTRA_COUNTS,
	TRACE_EXTRA_OTHER_STACK,
};

#define TRACE_OTHER_STACK_CUT 0x1u

#define TRACE_SWITCH_IN        0x1u
#define TRACE_SWITCH_PREEMPTED 0x2u

#define TRACE_THROTTLE_STOPPED	   0x1u
#define TRACE_THROTTLE_BY_RECORDER 0x2u

#define TRACE_CPU_MAX          65535 /* higher numbers are not believed */

/*
 * The rhythm of a CPU's samples. The first one of a block is coded by its distance from the last
 * event of any CPU, the others by how far they miss the beat.
 */
struct trace_clock {
	uint64_t last_ns, interval_ns; /* 0 before the first sample */
};

static inline uint64_t trace_clock_expected(const struct trace_clock *clock, uint64_t last_event_ns)
{
	return clock->last_ns ? clock->last_ns + clock->interval_ns : last_event_ns;
}

static inline void trace_clock_tick(struct trace_clock *clock, uint64_t time_ns)
{
	clock->interval_ns = clock->last_ns ? time_ns - clock->last_ns : 0;
	clock->last_ns = time_ns;
}

/*
 * Memory that a decoder needs for an event and everything in it but strings and payloads. The sum
 * over a block is limited and stands in its content, so that a small block cannot grow without
 * bound.
 */
#define TRACE_EXPANDED_EVENT 256u
#define TRACE_EXPANDED_REGS  288u
#define TRACE_EXPANDED_WORD  12u /* and 8 for each stack */
#define TRACE_EXPANDED_OTHER 80u /* for another stack, whose words come to it */
#define TRACE_EXPANDED_MAX   (64u << 20)

static inline size_t trace_events_expanded_len(const struct event *ev)
{
	const struct event_sample *s = &ev->sample;

	if (ev->kind == EVENT_MANAGED)
		return TRACE_EXPANDED_EVENT + ev->managed.nframes * sizeof(struct event_managed_frame) +
		       ev->managed.nlabels * sizeof(struct event_managed_label);
	if (ev->kind != EVENT_SAMPLE)
		return TRACE_EXPANDED_EVENT;
	return TRACE_EXPANDED_EVENT + (s->regs ? TRACE_EXPANDED_REGS : 0) +
	       TRACE_EXPANDED_WORD * s->stack.nwords + 8 + 8 * (s->nkernel_ips + s->nuser_ips) +
	       sizeof(struct event_branch) * s->nbranches + sizeof(struct event_count) * s->ncounts +
	       (s->other ? TRACE_EXPANDED_OTHER + TRACE_EXPANDED_WORD * s->other->nwords + 8 : 0);
}

_Static_assert(sizeof(struct event) <= TRACE_EXPANDED_EVENT, "as precord-trace(5) says");
_Static_assert(sizeof(struct event_regs) <= TRACE_EXPANDED_REGS, "as precord-trace(5) says");
_Static_assert(sizeof(struct event_stack) <= TRACE_EXPANDED_OTHER, "as precord-trace(5) says");
_Static_assert(sizeof(struct event_managed_frame) == 32 && sizeof(struct event_managed_label) == 24, "as precord-trace(5) says");
_Static_assert(sizeof(struct event_branch) == 24 && sizeof(struct event_count) == 32,
	       "as precord-trace(5) says");

#endif

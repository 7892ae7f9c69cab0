/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span_list.h - what each thread did when: on a CPU, ready to run, or waiting, one span after another.
 *
 *	thread 7   on a CPU │ waits │ on a CPU │ 40 short ones │ waits
 *
 * Room is bounded: where there are too many, neighbours that are shorter than a step become one span, which knows how many
 * they were and how long the thread was on a CPU, with what lies between them; the step doubles until all fit. Zeroed, it is
 * empty.
 */
#ifndef FORMATS_SPAN_LIST_H
#define FORMATS_SPAN_LIST_H

#include "formats/base/vec.h"

#include <stdint.h>

struct profile_span {
	uint32_t thread; /* of the profile */
	uint32_t waker;	 /* the same: who ended it; PROFILE_NONE: not known */
	uint32_t stack;	 /* of the profile: of a wait; 0: not known */
	uint32_t count;	 /* spans that became this one, 0: not known how many; unless 1, state and stack are those of the first */
	uint8_t state;	 /* enum profile_state */
	uint64_t from_ns, len_ns;
	uint64_t run_ns; /* of that on a CPU */
};

struct span_list {
	VEC(struct profile_span) spans;
	size_t room;	  /* private */
	uint64_t step_ns; /* spans shorter than that may have become one; 0: all are here */
};

void span_list_deinit(struct span_list *list);

/* Spans of one thread come in order of time. The list stays at a million, or at two spans for each thread. */
void span_list_add(struct span_list *list, const struct profile_span *span);

/* Sort by thread and time, and leave @max at most, unless there are more threads. */
void span_list_fit(struct span_list *list, size_t max);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_list.h - the frames of one sample row as files of other tools have them: root first, inlined functions one by
 * one, and below the root of an incomplete stack a frame that says why it is incomplete.
 */
#ifndef REPORT_FRAME_LIST_H
#define REPORT_FRAME_LIST_H

#include "formats/profile/profile.h"

#define FRAME_REASON PROFILE_NONE /* the line of a frame that is no function */

struct frame {
	uint32_t stack;	  /* of the profile; the leaf's for a reason */
	uint32_t line;	  /* in profile.lines, or FRAME_REASON */
	uint32_t inlined; /* 0: not inlined, else the how-manieth inside the function that is not */
};

struct frame_list {
	VEC(struct frame) frames;
	uint8_t stop; /* what the reason is: enum stack_stop */
};

/* Fill @list, which starts out zeroed and may be used again, from @row, whose stack is named. */
void frame_list_fill(struct frame_list *list, const struct profile *p,
		     const struct profile_sample *row);
void frame_list_deinit(struct frame_list *list);

/* Is a stack that ended so incomplete, so that a reason is among its frames? */
bool frame_is_needed(uint8_t stop);

/* "[snapshot ended]", kept in @arena. */
const char *frame_reason(uint8_t stop, struct arena *arena);

/* The function of @frame of @list by number: those of the profile, and behind them the reasons by number. */
uint32_t frame_function(const struct frame_list *list, const struct frame *frame, const struct profile *p);

/* The name of @frame of @list; what is no text or hides something is escaped. Kept in @arena or by the profile. */
const char *frame_name(const struct frame_list *list, const struct frame *frame,
		       const struct profile *p, struct arena *arena);

#endif

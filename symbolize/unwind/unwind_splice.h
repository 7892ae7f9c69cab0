/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_splice.h - remembers each thread's last chain, so that the callers it has in common with the next
 * one are taken over instead of walked.
 *
 * Exact, not likely: frames are taken over only if every register and every word of the stack that decided
 * them is the same.
 */
#ifndef SYMBOLIZE_UNWIND_SPLICE_H
#define SYMBOLIZE_UNWIND_SPLICE_H

#include "symbolize/unwind/unwind_walk.h"

struct unwind_splices;

struct unwind_splices *unwind_splices_new(const struct arch *arch);
void unwind_splices_free(struct unwind_splices *s);

/* A walk over the snapshot of @ev begins, with its first state in @w; its frames go behind those in @frames. */
void unwind_splices_begin(struct unwind_splices *s, const struct unwind_walk *w,
			  const struct unwind_frames *frames, const struct event *ev);

/*
 * Before the frame of @w's state, which was found by @how, is recorded: if the last chain of this thread had
 * the same frame and all that follows from it is unchanged, append it to @out and say how the chain ended.
 */
bool unwind_splices_match(struct unwind_splices *s, const struct unwind_walk *w,
			  enum unwind_how how, struct unwind_frames *out,
			  enum stack_stop *ret_stop);

/* A frame was recorded for @w's state, and the step from it comes next. */
void unwind_splices_frame(struct unwind_splices *s, const struct unwind_walk *w);

/* Frames of this walk are left out, or it goes on on another stack: the chain can neither be kept nor take anything over any more. */
void unwind_splices_give_up(struct unwind_splices *s);

/* The walk ended; all its frames are in @frames. */
void unwind_splices_end(struct unwind_splices *s, const struct unwind_walk *w,
			const struct unwind_frames *frames, enum stack_stop stop);

/* Frames taken over so far. */
uint64_t unwind_splices_frames(const struct unwind_splices *s);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_fold.h - chains that are deeper than there is room for: calls that come again and again are kept once.
 *
 *	leaf  x  a b a b a b … a b  main  root   becomes   leaf  x  a b  main  root
 *
 * Only what repeats exactly is folded, call site by call site, and only in chains of more than UNWIND_FRAMES_MAX frames.
 */
#ifndef SYMBOLIZE_UNWIND_FOLD_H
#define SYMBOLIZE_UNWIND_FOLD_H

#include "symbolize/unwind/unwind_walk.h"

/* Frames that are left out: [first, first + count). What follows them is the same as what they began with. */
struct unwind_fold {
	size_t first, count;
	size_t period; /* frames of one turn, if the newest frames belong to one and more may come; else 0 */
	size_t begun;  /* frames of the next turn that are there already */
};

/* The longest repetition in @frames; false if it would not make much room. */
bool unwind_fold_find(const struct unwind_frames *frames, struct unwind_fold *ret);

/* Do the newest frames of @frames repeat the turn of @period frames before them? */
bool unwind_fold_again(const struct unwind_frames *frames, size_t period, struct unwind_fold *ret);

/* Is the newest frame the one that a turn of @period frames has at its place? */
bool unwind_fold_goes_on(const struct unwind_frames *frames, size_t period);

/* Take the frames out, and, in a walk over a snapshot, what was noted of their steps. @w may be NULL. */
void unwind_fold_apply(const struct unwind_fold *fold, struct unwind_frames *frames, struct unwind_walk *w);

#endif

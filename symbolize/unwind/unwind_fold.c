/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_fold.c - where frames repeat, and how they are taken out.
 *
 * The newest turn stays. It was made by the same rules as those that go, so that every register that one of them has saved was
 * saved once more since, and what is dropped is not needed again.
 */
#include "symbolize/unwind/unwind_fold.h"

#include "symbolize/unwind/unwind_trace.h"

#include <string.h>

#define PERIOD_MAX 32
#define ROOM_MIN   (UNWIND_FRAMES_MAX / 8) /* frames: else a walk would look for repetitions all the time */

static bool same(const struct unwind_frames *frames, size_t i, size_t period)
{
	const struct unwind_frame *a = &frames->items[i], *b = &frames->items[i - period];

	return a->ip == b->ip && a->how == b->how && !a->kernel && !b->kernel;
}

/* Of the frames around @i, those that are the same as the one @period before them: [*@ret_begin, *@ret_end). */
static void stretch(const struct unwind_frames *frames, size_t period, size_t i, size_t *ret_begin, size_t *ret_end)
{
	size_t begin = i, end = i;

	while (begin > period && same(frames, begin - 1, period))
		begin--;
	while (end < frames->len && same(frames, end, period))
		end++;
	*ret_begin = begin;
	*ret_end = end;
}

/*
 * The longest stretch of frames each of which is the same as the one @period before it, as what it leaves out. A stretch that makes
 * enough room has every ROOM_MIN-th frame in it: only these are looked at.
 */
static void look_for(const struct unwind_frames *frames, size_t period, struct unwind_fold *best)
{
	size_t begin, end;

	for (size_t i = ROOM_MIN; i < frames->len; i = (end / ROOM_MIN + 1) * ROOM_MIN) {
		stretch(frames, period, i, &begin, &end);

		size_t count = (end - begin) - (end - begin) % period;

		if (count > best->count)
			*best = (struct unwind_fold){ .first = begin - period,
						      .count = count,
						      .period = end == frames->len ? period : 0,
						      .begun = end - begin - count };
	}
}

bool unwind_fold_find(const struct unwind_frames *frames, struct unwind_fold *ret)
{
	_Static_assert(PERIOD_MAX <= ROOM_MIN, "each frame that is looked at has one a period before it");
	*ret = (struct unwind_fold){ 0 };
	for (size_t period = 1; period <= PERIOD_MAX; period++)
		look_for(frames, period, ret);
	return ret->count >= ROOM_MIN;
}

bool unwind_fold_goes_on(const struct unwind_frames *frames, size_t period)
{
	return frames->len > period && same(frames, frames->len - 1, period);
}

bool unwind_fold_again(const struct unwind_frames *frames, size_t period, struct unwind_fold *ret)
{
	if (frames->len < 2 * period)
		return false;
	for (size_t i = frames->len - period; i < frames->len; i++) {
		if (!same(frames, i, period))
			return false;
	}
	*ret = (struct unwind_fold){ frames->len - 2 * period, period, period, 0 };
	return true;
}

/* Saves that were made by steps out of frames at or above @frame, of a walk whose newest frame has not been left yet. */
static size_t saves_before(const struct unwind_walk *w, const struct unwind_frames *frames, size_t frame)
{
	return frame < frames->len ? w->saves_at[frame] : w->nsaves;
}

static void forget_saves(const struct unwind_fold *fold, const struct unwind_frames *frames, struct unwind_walk *w)
{
	size_t from = saves_before(w, frames, fold->first);
	size_t to = saves_before(w, frames, fold->first + fold->count);

	memmove(w->saves + from, w->saves + to, (w->nsaves - to) * sizeof(w->saves[0]));
	w->nsaves -= to - from;
	for (size_t i = fold->first; i + fold->count < frames->len; i++)
		w->saves_at[i] = w->saves_at[i + fold->count] - (uint32_t)(to - from);
}

void unwind_fold_apply(const struct unwind_fold *fold, struct unwind_frames *frames, struct unwind_walk *w)
{
	size_t behind = fold->first + fold->count;

	if (w) {
		forget_saves(fold, frames, w);
		if (w->trace)
			unwind_trace_fold(w->trace, fold->first, fold->count);
	}
	memmove(frames->items + fold->first, frames->items + behind,
		(frames->len - behind) * sizeof(frames->items[0]));
	frames->len -= fold->count;
}

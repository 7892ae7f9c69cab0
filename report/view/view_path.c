/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_path.c - from a stack's locations to its functions, cut where the user asked for it.
 */
#include "report/view/view_path.h"

#include "report/view/wait_frames.h"

/* Without the innermost @inlined lines. */
static void add_frames(struct view_paths *paths, uint32_t location, uint32_t inlined)
{
	const struct profile *p = paths->profile;
	const struct profile_location *at = &p->locations.items[location];
	struct view_frame frame = { PROFILE_NONE, location, PROFILE_NONE };

	if (at->nlines == 0)
		vec_push(&paths->frames, frame);
	for (uint32_t i = inlined; i < at->nlines; i++) {
		frame.line = at->first_line + i;
		frame.function = paths->functions[p->lines.items[frame.line].function];
		vec_push(&paths->frames, frame);
	}
}

static bool is_cut_at(const struct view_paths *paths, const struct view_frame *frame)
{
	return frame->line != PROFILE_NONE &&
	       paths->cut_at[paths->profile->lines.items[frame->line].function];
}

/* Keep the part of @path that was asked for; false if the function is not on it. */
static bool cut_path(const struct view_paths *paths, struct view_path *path)
{
	size_t at = path->len;

	for (size_t i = 0; i < path->len; i++) {
		if (!is_cut_at(paths, &path->frames[i]))
			continue;
		at = i;
		if (paths->cut == VIEW_CALLEES)
			break;
	}
	if (at == path->len)
		return false;
	if (paths->cut == VIEW_CALLEES) {
		path->len = at;
		path->empty = "[self]";
	} else {
		path->frames += at + 1;
		path->len -= at + 1;
		path->empty = "[no caller]";
	}
	return true;
}

/* What to say of a stack that has no frames. */
static const char *empty_text(const struct profile_sample *row)
{
	static const char *const texts[PROFILE_STATES] = {
		[PROFILE_STATE_NONE] = "[no stack]",
		[PROFILE_STATE_ON_CPU] = "[on a CPU, not sampled]",
		[PROFILE_STATE_RUNNABLE] = "[new thread, or stack not sampled]",
		[PROFILE_STATE_BLOCKED] = "[stack not sampled]",
		[PROFILE_STATE_EARLIER] = "[waits since before the recording]",
		[PROFILE_STATE_LOST] = "[switches lost]",
		[PROFILE_STATE_LEFT_OUT] = "[switches left out]",
		[PROFILE_STATE_CALL] = "[stack not sampled]",
	};

	return texts[row->state < PROFILE_STATES ? row->state : PROFILE_STATE_NONE];
}

static bool is_wait(const struct profile_sample *row)
{
	return row->state == PROFILE_STATE_RUNNABLE || row->state == PROFILE_STATE_BLOCKED ||
	       row->state == PROFILE_STATE_CALL;
}

bool view_paths_make(struct view_paths *paths, const struct profile_sample *row,
		     struct view_path *ret)
{
	const struct profile *p = paths->profile;
	bool shortened = is_wait(row) && !paths->native;
	uint32_t leaf = shortened ? wait_frames_leaf(p, row) : row->stack;

	paths->frames.len = 0;
	if (paths->idle && paths->idle[row - p->samples.items]) {
		*ret = (struct view_path){ .row = row, .idle = true, .empty = "[waiting for work]" };
		return paths->cut == VIEW_WHOLE;
	}
	for (uint32_t stack = leaf; stack && paths->frames.len < paths->frames_max;
	     stack = p->stacks.items[stack].parent) {
		uint32_t location = p->stacks.items[stack].location;

		add_frames(paths, location, shortened && stack == leaf ? wait_frames_inlined_wrappers(p, location) : 0);
	}
	*ret = (struct view_path){ .frames = paths->frames.items,
				   .len = paths->frames.len,
				   .row = row,
				   .empty = empty_text(row) };
	return paths->cut == VIEW_WHOLE || cut_path(paths, ret);
}

void view_paths_deinit(struct view_paths *paths)
{
	vec_deinit(&paths->frames);
}

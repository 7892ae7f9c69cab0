/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_path.c - from a stack's locations to its functions, cut where the user asked for it.
 */
#include "report/view/view_path.h"

static void add_frames(struct view_paths *paths, uint32_t location)
{
	const struct profile *p = paths->profile;
	const struct profile_location *at = &p->locations.items[location];
	struct view_frame frame = { PROFILE_NONE, location, PROFILE_NONE };

	if (at->nlines == 0)
		vec_push(&paths->frames, frame);
	for (uint32_t i = 0; i < at->nlines; i++) {
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

bool view_paths_make(struct view_paths *paths, const struct profile_sample *row,
		     struct view_path *ret)
{
	const struct profile *p = paths->profile;

	paths->frames.len = 0;
	for (uint32_t stack = row->stack; stack && paths->frames.len < paths->frames_max;
	     stack = p->stacks.items[stack].parent)
		add_frames(paths, p->stacks.items[stack].location);
	*ret = (struct view_path){ paths->frames.items, paths->frames.len, row, "[no stack]" };
	return paths->cut == VIEW_WHOLE || cut_path(paths, ret);
}

void view_paths_deinit(struct view_paths *paths)
{
	vec_deinit(&paths->frames);
}

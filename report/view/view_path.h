/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_path.h - the frames of one sample row as views and trees look at them: inlined functions one by one, equal
 * ones by one number, and only the part of the stack that was asked for.
 */
#ifndef REPORT_VIEW_PATH_H
#define REPORT_VIEW_PATH_H

#include "report/view/view_levels.h"

/* One function of a stack, inlined ones included. */
struct view_frame {
	uint32_t function; /* the first of those that look the same; PROFILE_NONE: not named */
	uint32_t location;
	uint32_t line; /* index in profile.lines, PROFILE_NONE: not named */
};

/* The frames of one sample row after the cut, leaf first. */
struct view_path {
	const struct view_frame *frames;
	size_t len;
	const struct profile_sample *row;
	bool idle;	   /* of a thread without work: there are no frames */
	const char *empty; /* what to say where there is no frame */
};

struct view_paths {
	const struct profile *profile;
	const uint32_t *functions;     /* of each the first that looks the same: view_keys_functions() */
	enum view_cut cut;
	const bool *cut_at;            /* by function */
	const bool *idle;	       /* by sample row; NULL: none */
	bool native;		       /* of waits too, from the very leaf on */
	size_t frames_max;             /* more are not needed */
	VEC(struct view_frame) frames; /* of the current row */
};

/* The path of @row, valid until the next call; false if the function of the cut is not on it. */
bool view_paths_make(struct view_paths *paths, const struct profile_sample *row,
		     struct view_path *ret);
void view_paths_deinit(struct view_paths *paths);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_keys.h - which group of a level a stack belongs to, as a number, and the group's name.
 *
 * What looks the same to the user is the same group: functions differ by name and module, not by where
 * they are declared; threads by name, pid and tid.
 */
#ifndef REPORT_VIEW_KEYS_H
#define REPORT_VIEW_KEYS_H

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

struct view_keys;

struct view_keys *view_keys_new(const struct profile *p, const struct view_levels *levels,
				struct arena *arena);
void view_keys_free(struct view_keys *keys);

/* The first function that looks like @function. */
uint32_t view_keys_function(const struct view_keys *keys, uint32_t function);

/* The same of all, by number; lasts as long as @keys. */
const uint32_t *view_keys_functions(const struct view_keys *keys);

/* The first thread of the same process name and pid as @thread. */
uint32_t view_keys_process(const struct view_keys *keys, uint32_t thread);

/* The key of @path at @level; for VIEW_TOTAL, of the function of its frame @frame. */
uint32_t view_keys_find(struct view_keys *keys, unsigned level, const struct view_path *path,
			size_t frame);

const struct view_key *view_keys_get(const struct view_keys *keys, unsigned level, uint32_t key);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_keys.h - which group of a level a stack belongs to, as a number, and the group's name.
 *
 * What looks the same to the user is the same group: functions differ by name and module, not by where
 * they are declared; threads by name, pid and tid.
 */
#ifndef REPORT_VIEW_KEYS_H
#define REPORT_VIEW_KEYS_H

#include "report/view/view_path.h"

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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_levels.h - what the table of processes says of a thread, as the text that a level groups by: command line, program,
 * cgroup, container, pod, unit, user.
 */
#ifndef REPORT_PROCESS_LEVELS_H
#define REPORT_PROCESS_LEVELS_H

#include "formats/base/arena.h"
#include "formats/profile/profile.h"
#include "report/view/view.h"

/* Is @by such a level? */
bool process_level_is(enum view_by by);

/* The text of thread @thread, "[...]" where it has none; it lives as long as @p and @arena. */
const char *process_level_text(const struct profile *p, enum view_by by, uint32_t thread,
			       struct arena *arena);

/* Does @p tell it of any process? */
bool process_level_is_known(const struct profile *p, enum view_by by);

#endif

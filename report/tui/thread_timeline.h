/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_timeline.h - when threads were sampled, as lines of text: "  .:=#%@ ".
 */
#ifndef REPORT_THREAD_TIMELINE_H
#define REPORT_THREAD_TIMELINE_H

#include "formats/profile/profile.h"

#define THREAD_TIMELINE_LEN 40 /* characters, each an equal part of the time between the first and the last sample */

/*
 * One line for each of @ngroups; @group_of says by sample row of @p which group it is in, PROFILE_NONE for none. The heavier a part
 * of the time, the darker its character; the darkest is what one group has most in a part. "no times" if @p has none. All
 * lives in @arena.
 */
const char **thread_timelines(const struct profile *p, const uint32_t *group_of, size_t ngroups, struct arena *arena);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * track.h - a profile's samples as files with a time axis have them: for each event and thread a track, in order of time.
 */
#ifndef REPORT_TRACK_H
#define REPORT_TRACK_H

#include "formats/profile/profile.h"

struct track {
	uint32_t event, thread; /* of the profile */
	const struct profile_time *times; /* ascending */
	size_t len;                       /* at least 1 */
	int64_t weight;                   /* of all of them */
	uint32_t twin; /* how many tracks of the same thread ID and another event or name stand before it */
};

struct tracks {
	VEC(struct track) list; /* the default event first; of one event the heaviest thread first */
	VEC(struct profile_time) times;
};

/* Value type @first comes first. @tracks refers to nothing of @p. */
void tracks_init(struct tracks *tracks, const struct profile *p, uint32_t first);
void tracks_deinit(struct tracks *tracks);

/*
 * All samples of @p in order of time, for the caller to free; where it has no times each row is one at 0, so that totals are
 * right. NULL if there are none.
 */
struct profile_time *track_samples(const struct profile *p, size_t *ret_len);

#endif

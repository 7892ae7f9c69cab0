/* SPDX-License-Identifier: Apache-2.0 */
/*
 * track.h - a profile's samples as files with a time axis have them: for each event and thread a track, in order of time.
 */
#ifndef REPORT_TRACK_H
#define REPORT_TRACK_H

#include "report/load/session.h"

struct track {
	uint32_t event, thread; /* of the profile */
	const struct session_time *times; /* ascending */
	size_t len;                       /* at least 1 */
	int64_t weight;                   /* of all of them */
	uint32_t twin; /* how many tracks of the same thread ID and another event or name stand before it */
};

struct tracks {
	VEC(struct track) list; /* the default event first; of one event the heaviest thread first */
	VEC(struct session_time) times;
};

/* From a session that was loaded with keep_times; @tracks refers to nothing of it. */
void tracks_init(struct tracks *tracks, const struct session *s);
void tracks_deinit(struct tracks *tracks);

#endif

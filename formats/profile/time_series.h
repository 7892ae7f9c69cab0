/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_series.h - when the samples of a profile happened, packed: some 8 bytes a sample.
 *
 * Each entry is one sample: the profile's row that it was added to, its time and value, and how long it lasted if that is
 * known. A series without entries says that no times are known.
 *
 *	struct time_cursor cursor = time_series_begin(&p->times);
 *	struct profile_time at;
 *
 *	while (time_series_next(&cursor, &at))
 *		... p->samples.items[at.row] ...
 */
#ifndef FORMATS_TIME_SERIES_H
#define FORMATS_TIME_SERIES_H

#include "formats/base/reader.h"
#include "formats/base/writer.h"

#include <stdbool.h>
#include <stdint.h>

struct profile_time {
	uint64_t time_ns;
	uint64_t duration_ns; /* from time_ns on; 0 without has_duration */
	int64_t weight;       /* of this sample */
	uint32_t row;	      /* of profile.samples */
	bool has_duration;
};

/* Empty when zeroed. */
struct time_series {
	struct writer packed;
	size_t len; /* entries */
	uint64_t first_ns, last_ns;  /* the least and the greatest of their times; 0 without entries */
	struct profile_time last; /* what the next entry is a difference to */
};

void time_series_deinit(struct time_series *series);

/* Times may come in any order; it takes less room if they ascend. */
void time_series_add(struct time_series *series, const struct profile_time *at);

/* Keep the entries whose row @number_of maps to another number than UINT32_MAX, under that number. */
void time_series_renumber(struct time_series *series, const uint32_t *number_of);

struct time_cursor {
	struct reader in;
	struct profile_time last;
};

struct time_cursor time_series_begin(const struct time_series *series);
bool time_series_next(struct time_cursor *cursor, struct profile_time *ret);

/* All entries in one array, to be sorted in another order; the caller frees it. NULL if there are none. */
struct profile_time *time_series_unpack(const struct time_series *series);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_series.c - each entry is written as its difference to the one before it.
 *
 *	row * 4 + flags, time (zigzag), value unless it is that of the entry before (zigzag), duration if it has one
 *
 * Neighbours in time are of other rows, so a row's number is written as it is.
 */
#include "formats/profile/time_series.h"

#include "formats/base/memory.h"
#include "formats/base/zigzag.h"

#include <stdlib.h>

#define SAME_WEIGHT  1
#define HAS_DURATION 2
#define FLAG_BITS    2
#define ENTRY_MAX    40 /* bytes: four numbers of at most ten */

void time_series_deinit(struct time_series *series)
{
	writer_deinit(&series->packed);
	*series = (struct time_series){ 0 };
}

/* As writer_uleb(), which would ask for room at each of the millions of numbers of a large file. */
static inline uint8_t *put_uleb(uint8_t *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (uint8_t)(value | 0x80);
	*to = (uint8_t)value;
	return to + 1;
}

void time_series_add(struct time_series *series, const struct profile_time *at)
{
	const struct profile_time *last = &series->last;
	uint64_t flags = (at->weight == last->weight ? SAME_WEIGHT : 0) |
			 (at->has_duration ? HAS_DURATION : 0);
	uint8_t *to;

	writer_reserve(&series->packed, ENTRY_MAX);
	to = put_uleb(series->packed.data + series->packed.len, (uint64_t)at->row << FLAG_BITS | flags);
	to = put_uleb(to, zigzag_encode(at->time_ns - last->time_ns));
	if (at->weight != last->weight)
		to = put_uleb(to, zigzag_encode((uint64_t)at->weight - (uint64_t)last->weight));
	if (at->has_duration)
		to = put_uleb(to, at->duration_ns);
	series->packed.len = (size_t)(to - series->packed.data);
	series->first_ns = series->len ? MIN(series->first_ns, at->time_ns) : at->time_ns;
	series->last_ns = MAX(series->last_ns, at->time_ns);
	series->last = *at;
	series->len++;
}

struct time_cursor time_series_begin(const struct time_series *series)
{
	struct time_cursor cursor = { 0 };

	reader_init(&cursor.in, series->packed.data, series->packed.len, false);
	return cursor;
}

bool time_series_next(struct time_cursor *cursor, struct profile_time *ret)
{
	struct profile_time *last = &cursor->last;
	uint64_t head;

	if (!reader_left(&cursor->in))
		return false;
	head = reader_uleb(&cursor->in, "row");
	last->row = (uint32_t)(head >> FLAG_BITS);
	last->time_ns += (uint64_t)reader_zigzag(&cursor->in, "time");
	if (!(head & SAME_WEIGHT))
		last->weight = (int64_t)((uint64_t)last->weight +
					 (uint64_t)reader_zigzag(&cursor->in, "value"));
	last->has_duration = head & HAS_DURATION;
	last->duration_ns = last->has_duration ? reader_uleb(&cursor->in, "duration") : 0;
	*ret = *last;
	return true;
}

struct profile_time *time_series_unpack(const struct time_series *series)
{
	struct time_cursor cursor = time_series_begin(series);
	struct profile_time *all = NULL;

	if (!series->len)
		return NULL;
	all = memory_zeroed(series->len, sizeof(*all));
	for (size_t i = 0; i < series->len && time_series_next(&cursor, &all[i]); i++)
		;
	return all;
}

void time_series_renumber(struct time_series *series, const uint32_t *number_of)
{
	struct time_cursor cursor = time_series_begin(series);
	struct time_series kept = { 0 };
	struct profile_time at;

	while (time_series_next(&cursor, &at)) {
		at.row = number_of[at.row];
		if (at.row != UINT32_MAX)
			time_series_add(&kept, &at);
	}
	time_series_deinit(series);
	*series = kept;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_record_place.h - where in a record of the kernel the id of its event and its time stand.
 *
 * Both must be known before a record can be parsed: the id says which layout it has, the time when it is its turn. They
 * are at places that the sample type alone gives: near the beginning of samples, near the end of all others.
 *
 *	sample	header [identifier] [ip] [pid, tid] [time] [addr] [id] ...
 *	other	header body ... [pid, tid] [time] [id] [stream id] [cpu] [identifier], at the end of perf_record_own_len()
 */
#ifndef FORMATS_PERF_RECORD_PLACE_H
#define FORMATS_PERF_RECORD_PLACE_H

#include "formats/perf/perf_record.h"

/* The id in the record of @len bytes at @data; 0 if it does not say, or is too short. */
uint64_t perf_record_place_id(const struct perf_layout *layout, const uint8_t *data, size_t len);

/* Its time in nanoseconds, likewise. */
uint64_t perf_record_place_time(const struct perf_layout *layout, const uint8_t *data, size_t len);

#endif

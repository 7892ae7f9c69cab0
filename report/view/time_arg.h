/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_arg.h - one end of --time: seconds since the recording began, per cent of its length, or wall-clock time.
 *
 *	1.5  500ms  2s        since the recording began
 *	20%                   of its length
 *	14:03:20.5            wall clock, on the day on which the recording began or the next
 *	2026-11-21T14:03:20   with a date ("T" or a space), and an offset if one is meant: Z, +01:00
 *
 * Wall-clock times are those of the recorder's time zone, whose offset from UTC stands in the trace; UTC where it does not.
 * They are turned into times of samples by the pair of clocks that was read when recording began, so steps of the wall
 * clock during the recording move nothing.
 */
#ifndef REPORT_TIME_ARG_H
#define REPORT_TIME_ARG_H

#include "formats/base/arena.h"
#include "formats/base/err.h"
#include "formats/profile/facts.h"

#include <stdbool.h>
#include <stdint.h>

enum time_arg_kind {
	TIME_ARG_NONE, /* not given */
	TIME_ARG_SECONDS,
	TIME_ARG_PERCENT,
	TIME_ARG_TIME_OF_DAY, /* without a date */
	TIME_ARG_DATE,
};

struct time_arg {
	enum time_arg_kind kind;
	double value;     /* seconds; 0 .. 100; seconds since midnight; seconds since 1970 without offset */
	bool has_offset;  /* of TIME_ARG_DATE */
	int32_t offset_s; /* east of UTC */
};

/* @text "" is TIME_ARG_NONE. False if it is none of the above. */
bool time_arg_parse(const char *text, struct time_arg *ret);

/*
 * The time on the clock of the samples; @otherwise for TIME_ARG_NONE.
 *
 * ERR_UNSUPPORTED: per cent of a recording that has no end, wall-clock time of one without a pair of clocks.
 */
MUST_USE struct err *time_arg_resolve(const struct time_arg *arg, const struct profile_facts *facts,
				    uint64_t otherwise, uint64_t *ret);

/* "2026-11-21 14:03:20.000 +01:00": wall-clock time of @time_ns in the recorder's zone. */
const char *time_arg_wall_clock(const struct profile_facts *facts, uint64_t time_ns, struct arena *arena);

#endif

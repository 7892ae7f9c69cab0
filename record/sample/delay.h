/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delay.h - when to sample (-D): after a delay, in windows, or only when enabled.
 *
 *	-D 500            from 500 ms on
 *	-D 10-20,30-40    in these windows of milliseconds
 *	-D -1             not by time
 *
 * Times are counted from the start of the recording.
 */
#ifndef RECORD_DELAY_H
#define RECORD_DELAY_H

#include "formats/base/err.h"
#include "formats/base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define DELAY_NEVER UINT64_MAX

struct delay_window {
	uint64_t start_ns, end_ns; /* the end is DELAY_NEVER for a window that stays open */
};

/* Zeroed, sampling starts at once. */
struct delay {
	bool given;
	VEC(struct delay_window) windows; /* ascending and apart */
};

/* Parse into the struct delay at @field; the shape is that of opt.parse. ERR_USAGE: it is none of the above. */
MUST_USE struct err *delay_parse(void *field, const char *value);
void delay_deinit(struct delay *delay);

/* Is it time to sample @elapsed_ns after the start? */
bool delay_is_on(const struct delay *delay, uint64_t elapsed_ns);

/* The next time after @elapsed_ns at which that changes, or DELAY_NEVER. */
uint64_t delay_next(const struct delay *delay, uint64_t elapsed_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_rate.h - how often to sample: -F N, -F max, -c N.
 */
#ifndef RECORD_EVENT_RATE_H
#define RECORD_EVENT_RATE_H

#include "formats/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define EVENT_RATE_DEFAULT 99 /* samples a second; off the beat of timers that run at 100 */

/* The kernel samples clocks at most this often (kernel/events/core.c, perf_swevent_init_hrtimer). */
#define EVENT_RATE_CLOCK_PERIOD_MIN_NS 10000

enum event_rate_kind {
	EVENT_RATE_UNSET, /* a zeroed rate: the default frequency, lowered if the kernel wants less */
	EVENT_RATE_FREQ,   /* samples a second, on each CPU or thread */
	EVENT_RATE_PERIOD, /* a sample every so many events (nanoseconds for clocks) */
};

struct event_rate {
	enum event_rate_kind kind;
	uint64_t value;
};

/*
 * The kernel's limit in samples a second (/proc/sys/kernel/perf_event_max_sample_rate); it sinks while
 * sampling costs too much. UINT64_MAX if it cannot be read.
 */
uint64_t event_rate_limit(void);

/*
 * Parse "999" or "max" into the struct event_rate at @field; the shape is that of opt.parse.
 * ERR_USAGE: not a number, 0, or above the limit, which is named together with the file to change.
 */
MUST_USE struct err *event_rate_parse_freq(void *field, const char *text);

/* Parse "100000", "1M" (decimal units k, M, G) into the struct event_rate at @field. ERR_USAGE: it is not that, or 0. */
MUST_USE struct err *event_rate_parse_period(void *field, const char *text);

#endif

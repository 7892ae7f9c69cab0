/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_multiplexing.h - how much of its time an event had a counter.
 *
 * A PMU has few counters; more events are multiplexed: each counts part of the time only,
 * and an event that never had its turn was not counted, which is not 0.
 */
#ifndef FORMATS_EVENT_MULTIPLEXING_H
#define FORMATS_EVENT_MULTIPLEXING_H

#include "formats/recording.h"

#include <stdbool.h>
#include <stdint.h>

#define EVENT_MULTIPLEXING_WHOLE 0.999 /* of the time: an event that ran so much had a counter to itself */

struct event_multiplexing {
	uint64_t enabled_ns, running_ns;
	uint64_t samples;
	double value;	  /* counted, and scaled up to the whole time */
	bool known;	  /* was on for some time, so that the share means something */
	bool impossible;  /* more than a processor can count in that time: the PMU, or its hypervisor, is wrong */
};

/* Of one row of the recording's counts, or of all that @event has. */
struct event_multiplexing event_multiplexing_of_count(const struct recording_count *count);
struct event_multiplexing event_multiplexing_of(const struct recording *rec, uint32_t event);

/* Part of the time that it ran; 1 if that is not known. */
double event_multiplexing_share(const struct event_multiplexing *m);

/* Was it on, and never had a counter? */
bool event_multiplexing_never(const struct event_multiplexing *m);

#endif

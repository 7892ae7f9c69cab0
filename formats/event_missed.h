/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_missed.h - did a counter interrupt as often as what it counted implies?
 *
 * The periods of an event's samples add up to its count. Where they clearly do not, and neither the kernel nor the
 * recorder lost samples, interrupts have not come, as happens in virtual machines, and whatever ran then is missing.
 */
#ifndef FORMATS_EVENT_MISSED_H
#define FORMATS_EVENT_MISSED_H

#include "formats/recording.h"

#include <stdbool.h>
#include <stdint.h>

/* Over the CPUs on which samples are clearly missing. */
struct event_missed {
	uint64_t came;    /* samples in the file, and lost ones */
	uint64_t implied; /* by the count */
	uint32_t cpu;     /* the first of them */
	uint32_t ncpus;
	bool everywhere; /* on each CPU that counted something */
};

/* False if there is no such CPU. */
bool event_missed_of(const struct recording *rec, uint32_t event, struct event_missed *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_trial.h - do an event's samples carry data addresses and weights?
 *
 * The kernel lets any event ask for them and leaves them zero where the PMU has none, so the only way to know is to look:
 * a few samples of ourselves while we read memory, two milliseconds at most.
 */
#ifndef RECORD_SAMPLE_TRIAL_H
#define RECORD_SAMPLE_TRIAL_H

#include "record/event/event_open.h"

#include <linux/perf_event.h>

enum sample_trial_answer {
	SAMPLE_TRIAL_UNKNOWN, /* too few samples to tell, or it cannot be tried on ourselves */
	SAMPLE_TRIAL_NONE,    /* not in one of SAMPLE_TRIAL_LEAST samples, or of its nature never */
	SAMPLE_TRIAL_SOME,
};

#define SAMPLE_TRIAL_LEAST 16

struct sample_trial {
	enum sample_trial_answer data, weight;
};

/* Try what @attr, which opens, will record. */
struct sample_trial sample_trial_run(const struct event_kernel *kernel,
				     const struct perf_event_attr *attr);

#endif

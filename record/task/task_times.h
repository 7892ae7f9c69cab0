/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_times.h - what the scheduler itself has counted for each thread that is recorded: /proc/PID/task/TID/schedstat.
 *
 * Read at the beginning, at the end and in between, so that threads that end meanwhile have a reading from shortly before:
 * after a tenth of a second, then at twice that, up to once a second, and never for more than 1 % of the time. A reading is reported
 * only if the thread ran since the one before. Reports hold it against the records of switches.
 */
#ifndef RECORD_TASK_TIMES_H
#define RECORD_TASK_TIMES_H

#include "formats/base/map.h"
#include "record/task/task_filter.h"

#include <stdbool.h>
#include <stdint.h>

/* Zeroed, it reads nothing. */
struct task_times {
	bool wanted;
	uint64_t next_ns;     /* when to read again, CLOCK_MONOTONIC; UINT64_MAX: never */
	uint64_t interval_ns; /* until the next but one */
	struct map runs;      /* thread -> nanoseconds on a CPU when it was last reported */
};

/* Recording begins now; @wanted: there is something to hold it against. */
void task_times_begin(struct task_times *t, bool wanted, uint64_t now_ns);
void task_times_deinit(struct task_times *t);

/*
 * Tell @tell of all threads that @filter has, as EVENT_TASK_TIMES. An error of @tell ends it and is returned; what cannot be read
 * is left out.
 */
MUST_USE struct err *task_times_read(struct task_times *t, const struct task_filter *filter,
				     struct err *(*tell)(void *context, const struct event *ev), void *context);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_times.h - the scheduler's account of each recorded thread: /proc/PID/task/TID/schedstat.
 *
 * Read at the start, at the end and in between, so that threads that end meanwhile have a recent reading: after a tenth of a second,
 * then at doubling intervals up to a second, within 1 % of the time. A reading is reported only if the thread has run since
 * the one before. Reports compare it with the records of switches.
 */
#ifndef RECORD_TASK_TIMES_H
#define RECORD_TASK_TIMES_H

#include "formats/base/map.h"
#include "record/system/stop_time.h"
#include "record/task/task_filter.h"

#include <stdbool.h>
#include <stdint.h>

/* Zeroed, it reads nothing. */
struct task_times {
	bool wanted;
	uint64_t next_ns;     /* when to read again, CLOCK_MONOTONIC; UINT64_MAX: never */
	uint64_t interval_ns; /* until the next but one */
	struct stop_time *stop; /* after that threads are left out; NULL: never */
	struct map runs;      /* thread -> nanoseconds on a CPU when it was last reported */
};

/* Recording begins now; @wanted: switches are recorded too. @stop: may be NULL. */
void task_times_begin(struct task_times *t, bool wanted, uint64_t now_ns, struct stop_time *stop);
void task_times_deinit(struct task_times *t);

/*
 * Report all threads that @filter has to @tell, as EVENT_TASK_TIMES. An error of @tell ends it and is returned; unreadable threads
 * are omitted.
 */
MUST_USE struct err *task_times_read(struct task_times *t, const struct task_filter *filter,
				     struct err *(*tell)(void *context, const struct event *ev), void *context);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_repair.h - what the side-band lost of processes that live is read from /proc once more.
 *
 * A mapping, fork or name that a full ring had no room for would be missing to the end, and with it the names of all samples there.
 * So when a ring was found full, everything that runs is looked at again, and what is news becomes events: whole processes, and
 * mappings that are not known. What began and ended in between stays lost. Not thread-safe.
 */
#ifndef RECORD_SIDE_REPAIR_H
#define RECORD_SIDE_REPAIR_H

#include "formats/base/err.h"
#include "formats/process/process_table.h"
#include "record/task/process_info.h"
#include "record/task/task_filter.h"

#include <stdint.h>

/* With more processes it would take too long beside full rings. */
#define SIDE_REPAIR_PROCESSES_MAX 1000

struct side_repair {
	const struct process_table *processes; /* what is known */
	struct task_filter *tasks;
	struct process_info *info;
	struct err *(*event)(void *context, const struct event *ev); /* gets what was missing */
	void *context;
	uint64_t rests_until_ns;
	/* While it runs. */
	uint64_t time_ns;
	bool is_new; /* the process being reported */
};

/*
 * A ring was full: look at everything, unless that was done a moment ago. The events have time @time_ns, behind which nothing was
 * taken from the side-band. ERR_SYSTEM: @event's.
 */
MUST_USE struct err *side_repair_run(struct side_repair *r, uint64_t time_ns);

/* What it does with each event that /proc shows, process by process, each beginning with its fork: @repair is a struct side_repair. */
MUST_USE struct err *side_repair_take(void *repair, const struct event *ev);

#endif

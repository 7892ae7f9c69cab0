/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_repair.h - restores lost side-band records of running processes from /proc.
 *
 * A mapping, fork or name lost to a full ring would be missing until the end, and with it the names of all samples there. So
 * after a ring was full, all processes are scanned again, and unknown processes and mappings become events. Processes that
 * began and ended in between stay lost. Not thread-safe.
 */
#ifndef RECORD_SIDE_REPAIR_H
#define RECORD_SIDE_REPAIR_H

#include "formats/base/err.h"
#include "formats/process/process_table.h"
#include "record/system/stop_time.h"
#include "record/task/process_info.h"
#include "record/task/task_filter.h"

#include <stdint.h>

/* With more processes a scan would take too long while rings are full. */
#define SIDE_REPAIR_PROCESSES_MAX 1000

struct side_repair {
	const struct process_table *processes; /* what is known */
	struct task_filter *tasks;
	struct process_info *info;
	struct err *(*event)(void *context, const struct event *ev); /* gets what was missing */
	void *context;
	struct stop_time *stop; /* NULL: none */
	uint64_t rests_until_ns;
	/* While it runs. */
	uint64_t time_ns;
	bool is_new; /* the process being reported */
};

/*
 * A ring was full: scan all processes, unless that was done recently. The events get time @time_ns; no later side-band record was
 * read yet. ERR_SYSTEM: @event's.
 */
MUST_USE struct err *side_repair_run(struct side_repair *r, uint64_t time_ns);

/* What it does with each event that /proc shows, process by process, each beginning with its fork: @repair is a struct side_repair. */
MUST_USE struct err *side_repair_take(void *repair, const struct event *ev);

#endif

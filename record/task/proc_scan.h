/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc_scan.h - reports processes that ran before the recording began, as events: a fork and a name for each thread, a
 * mapping for each executable mapping, one for the kernel and each of its modules.
 *
 * All events carry time 0, before everything that is recorded.
 */
#ifndef RECORD_PROC_SCAN_H
#define RECORD_PROC_SCAN_H

#include "formats/base/err.h"
#include "formats/event.h"
#include "record/system/priority.h"
#include "record/system/stop_time.h"
#include "record/task/process_info.h"

#include <stdint.h>
#include <sys/types.h>

/* The receiver, called by one thread at a time, not the caller's. @event lasts until it returns; an error ends the scan and comes back from it. */
struct proc_visitor {
	struct err *(*event)(void *context, const struct event *event);
	/* Before the events of each process. */
	void (*process)(void *context, uint32_t pid, uint32_t nthreads);
	void *context;
	struct process_info *info; /* reads command lines and the like; NULL: omit them */
	bool data; /* mappings without code too */
	const struct priority *first; /* the caller's priority, which the scanning thread takes, with its own budget; NULL: ordinary priority */
	struct stop_time *stop; /* after that processes are left out; NULL: never */
};

/* The kernel's text from /proc/kallsyms; 0 and 0 if it hides addresses. */
void proc_scan_kernel_text(uint64_t *ret_start, uint64_t *ret_end);

/* The kernel, if @text_start is not 0, and its modules. */
MUST_USE struct err *proc_scan_kernel(uint64_t text_start, uint64_t text_end,
				      const struct proc_visitor *visitor);

/*
 * One process. It is no error if it is gone, or does not answer within a second because its mmap lock is held: then only its name is
 * reported, and it is added to *@stuck.
 */
MUST_USE struct err *proc_scan_process(pid_t pid, const struct proc_visitor *visitor, size_t *stuck);

/* Every process, likewise. ERR_SYSTEM: /proc cannot be read. */
MUST_USE struct err *proc_scan_all(const struct proc_visitor *visitor, size_t *stuck);

#endif

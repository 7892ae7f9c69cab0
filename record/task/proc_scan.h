/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc_scan.h - what ran before the recording began, as events as if it had just happened: a fork and a name for
 * each thread, a mapping for each piece of executable memory, one for the kernel and each of its modules.
 *
 * All events carry time 0, before everything that is recorded.
 */
#ifndef RECORD_PROC_SCAN_H
#define RECORD_PROC_SCAN_H

#include "formats/base/err.h"
#include "formats/event.h"
#include "record/system/priority.h"
#include "record/task/process_info.h"

#include <stdint.h>
#include <sys/types.h>

/* The receiver, called by one thread at a time, not the caller's. @event lasts until it returns; an error ends the scan and comes back from it. */
struct proc_visitor {
	struct err *(*event)(void *context, const struct event *event);
	/* Before the events of each process. */
	void (*process)(void *context, uint32_t pid, uint32_t nthreads);
	void *context;
	struct process_info *info; /* to read command lines and the like with; NULL: they are left out */
	bool data; /* mappings without code too */
	const struct priority *first; /* the caller's place in line: the thread takes the same, with a budget of its own; NULL: an ordinary one */
};

/* The kernel's text from /proc/kallsyms; 0 and 0 if it hides addresses. */
void proc_scan_kernel_text(uint64_t *ret_start, uint64_t *ret_end);

/* The kernel, if @text_start is not 0, and its modules. */
MUST_USE struct err *proc_scan_kernel(uint64_t text_start, uint64_t text_end,
				      const struct proc_visitor *visitor);

/*
 * One process. One that is gone is no error: there is nothing to tell. Nor is one that does not answer within a second, as one whose
 * mappings are locked for as long as its owner likes: of it only the name is reported, and it is added to *@stuck.
 */
MUST_USE struct err *proc_scan_process(pid_t pid, const struct proc_visitor *visitor, size_t *stuck);

/* Every process, likewise. ERR_SYSTEM: /proc cannot be read. */
MUST_USE struct err *proc_scan_all(const struct proc_visitor *visitor, size_t *stuck);

#endif

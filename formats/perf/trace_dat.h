/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_dat.h - reads what trace-cmd record writes (trace.dat, versions 6 and 7) as an event source.
 *
 * Every entry of the kernel's trace is a sample of its tracepoint, with its payload; the stack that was taken with it (trace-cmd
 * record -T) is the sample's, and sched_switch is a switch as well. Which process a thread
 * belongs to is known where a stack of user space was taken (userstacktrace); of others each counts as one of its own.
 *
 * Opening reads through the entries once, for which events there are and when it ended.
 */
#ifndef FORMATS_TRACE_DAT_H
#define FORMATS_TRACE_DAT_H

#include "formats/event.h"
#include "formats/trace/trace_file.h"

/* Does @file begin as trace.dat does? */
bool trace_dat_is(const struct trace_file *file);

/*
 * Read @file, which the source closes; on failure, too. @name is for messages. ERR_SYSTEM: it cannot be read.
 * ERR_CORRUPT: what stands in front of the entries is damaged.  ERR_UNSUPPORTED: another version or byte order, a clock whose unit
 * is not known, or a processor that is not known here.
 */
MUST_USE struct err *trace_dat_open(const char *name, struct trace_file file, struct event_source **ret);

/* The same for @len bytes at @data, which must outlive the source. */
MUST_USE struct err *trace_dat_open_memory(const void *data, size_t len, struct event_source **ret);

/* Is @source one of these? */
bool trace_dat_is_source(const struct event_source *source);

/* The file's copy of /proc/kallsyms, for @source, one of these; lasts as long. *@ret_len is 0 where there is none. */
const char *trace_dat_kallsyms(struct event_source *source, size_t *ret_len);

/* What @source says of the recording, so that kernel symbols can be added. */
struct recording *trace_dat_recording(struct event_source *source);

#endif

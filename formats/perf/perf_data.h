/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data.h - reads what perf record writes, to a file, a pipe or a folder, as an event source.
 *
 * Opening reads the header and the records up to the first sample, so that the recording is complete before the first event:
 * machine, events with names and groups, where the kernel was. What perf.data cannot say stays unknown: counts by
 * CPU, and what was lost after the last lost record. A file whose recorder was killed, or that is cut, is read as far
 * as it goes.
 *
 * Memory is limited, whatever the file: records that wait for their turn take 256 MiB at most, and the rest comes out of order.
 */
#ifndef FORMATS_PERF_DATA_H
#define FORMATS_PERF_DATA_H

#include "formats/event.h"
#include "formats/trace/trace_file.h"

/* Does @file begin as perf.data does? */
bool perf_data_is(const struct trace_file *file);

/*
 * Read @file, which the source closes; on failure, too. @name is for messages. @folder, NULL if there is none, is the one that
 * perf record --threads wrote and @file is "data" of; what lies beside it belongs to it.
 *
 * ERR_SYSTEM: it cannot be read.  ERR_CORRUPT: its header or its table of events is damaged.
 * ERR_UNSUPPORTED: another byte order, an architecture that is not known here, or records without the event that they belong to.
 */
MUST_USE struct err *perf_data_open(const char *name, const char *folder, struct trace_file file,
				    struct event_source **ret);

/* The same for @len bytes at @data, which must outlive the source. */
MUST_USE struct err *perf_data_open_memory(const void *data, size_t len, struct event_source **ret);

/* Is @source one of these? */
bool perf_data_is_source(const struct event_source *source);

/* What @source, one of these, says of the recording, so that kernel symbols can be added. */
struct recording *perf_data_recording(struct event_source *source);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_rewrite.h - a recording written as a trace once more, with changes.
 *
 *	struct recording as = *event_source_recording(source);	-- change what is to change
 *	err = trace_rewrite_begin(fd, &as, &rw);
 *	while (event_source_next(source, &ev))			-- change or leave out events
 *		err = trace_rewrite_event(rw, &ev);
 *	err = trace_rewrite_end(rw, &as);
 *
 * Blocks are cut anew. What is taken away stays taken away: only what is given here is written. Counts are the caller's to keep
 * true. A recording without its end (as.complete is false) is written without one.
 */
#ifndef FORMATS_TRACE_REWRITE_H
#define FORMATS_TRACE_REWRITE_H

#include "formats/event.h"
#include "formats/recording.h"

struct trace_rewrite;

/* Write the header to @fd, which stays the caller's. *@ret is the caller's to free. ERR_SYSTEM. */
MUST_USE struct err *trace_rewrite_begin(int fd, const struct recording *as,
					 struct trace_rewrite **ret);
void trace_rewrite_free(struct trace_rewrite *rw);

/* Append @ev; events come in time order. ERR_SYSTEM: the file cannot be written. */
MUST_USE struct err *trace_rewrite_event(struct trace_rewrite *rw, const struct event *ev);

/* Write everything that @as has besides events, and the end. */
MUST_USE struct err *trace_rewrite_end(struct trace_rewrite *rw, const struct recording *as);

#endif

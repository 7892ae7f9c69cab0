/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_tracing.h - what perf.data keeps of tracefs: the format of each tracepoint that was recorded.
 *
 *	0   "\027\010\104tracing" "0.6\0"	magic and version
 *	    endian u8, long u8, page u32	1: big endian; bytes of a long and of a page
 *	    "header_page\0"  length u64, text	how the ring buffer's pages are laid out; so "header_event\0"
 *	    count u32; length u64, text		of the events that ftrace has for itself
 *	    count u32; name\0, count u32; length u64, text	for each system: its events' formats
 *	    ...					kallsyms, printk formats, command names: not looked at
 *
 * tools/perf/util/trace-event-info.c writes it, into a feature of files and behind a record of pipes.
 */
#ifndef FORMATS_PERF_DATA_TRACING_H
#define FORMATS_PERF_DATA_TRACING_H

#include "formats/base/reader.h"
#include "formats/perf/perf_data_attrs.h"

/* Give each tracepoint of @attrs the format that @r has for it. If @r is cut it has failed, and what was whole counts. */
void perf_data_tracing_load(struct perf_data_attrs *attrs, struct reader *r);

#endif

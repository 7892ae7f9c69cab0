/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_trace_formats.h - the formats of tracepoints as perf.data has them: the header of a trace-cmd file (trace-cmd.dat.v6(5)).
 *
 *	17 08 44 "tracing" "0.5" 0	byte order 0, bytes of a long 8, bytes of a page (32 bits)
 *	"header_page" 0	    length, text		of a ring's page; all lengths 64 bits, counts 32
 *	"header_event" 0    length, text
 *	count		    of ftrace's own events: none
 *	count		    of systems: name 0, count of events, for each length and text of its format
 *	length, length	    of kallsyms and of printk's texts: none; 32 bits
 */
#ifndef FORMATS_PERF_DATA_TRACE_FORMATS_H
#define FORMATS_PERF_DATA_TRACE_FORMATS_H

#include "formats/base/writer.h"
#include "formats/recording.h"

/* Nothing is written where no event of @rec has a format. */
void perf_data_trace_formats_write(const struct recording *rec, struct writer *to);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracing_data.h - what perf.data and trace.dat keep of tracefs, laid out alike:
 *
 *	0   "\027\010\104tracing" "0.6\0"	magic and version
 *	    endian u8, long u8, page u32	1: big endian; bytes of a long of user space and of a page
 *	    "header_page\0"  length u64, text	how the ring buffer's pages are laid out; so "header_event\0"
 *	    count u32; length u64, text		of the events that ftrace has for itself
 *	    count u32; name\0, count u32; length u64, text	for each system: its events' formats
 *
 * tools/perf/util/trace-event-info.c and trace-cmd.dat.v6(5).
 */
#ifndef FORMATS_TRACING_DATA_H
#define FORMATS_TRACING_DATA_H

#include "formats/base/reader.h"

#define TRACING_DATA_MAGIC "\027\010\104tracing"

struct tracing_data_start {
	const char *version;
	bool big_endian;
	uint32_t page_len;
};

struct tracing_data_page {
	uint32_t data_offset; /* of the first entry in a page */
	uint32_t long_len;    /* of the kernel: 4 or 8 */
};

/* One format file; lasts as long as the call. */
struct tracing_data_format {
	const char *system, *name, *text;
	uint32_t id;
};

struct tracing_data_taker {
	void *to;
	void (*take)(void *to, const struct tracing_data_format *format);
};

/* The parts, to be read one behind the other. If @r is cut it has failed, and what was whole was taken. */
void tracing_data_start(struct reader *r, struct tracing_data_start *ret);
void tracing_data_headers(struct reader *r, struct tracing_data_page *ret);
void tracing_data_ftrace(struct reader *r, const struct tracing_data_taker *taker);
void tracing_data_systems(struct reader *r, const struct tracing_data_taker *taker);

#endif

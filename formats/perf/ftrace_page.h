/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftrace_page.h - one page of the kernel's trace ring buffer (Documentation/trace/ring-buffer-design.rst, ring_buffer.h).
 *
 *	0   time u64			of the first entry
 *	8   commit, a long		bits 0..26: bytes of entries; 31: entries are missing before it; 30: their number follows
 *	16  entry, entry, ...
 *
 *	entry: u32 = type in bits 0..4, time since the last one in bits 5..31
 *	  0		u32 with the length of what follows, itself included; then a payload
 *	  1 .. 28	a payload of 4 bytes each
 *	  29		nothing: with a time, a u32 with its length follows, otherwise the page ends
 *	  30		u32: bits 27 and up of a time to be added
 *	  31		u32: bits 27 and up of a time that is absolute, but for the uppermost 5 bits
 */
#ifndef FORMATS_FTRACE_PAGE_H
#define FORMATS_FTRACE_PAGE_H

#include "formats/base/reader.h"
#include "formats/perf/tracing_data.h"

struct ftrace_entry {
	uint64_t time; /* in units of the clock */
	const uint8_t *data;
	size_t len;
};

struct ftrace_page {
	struct reader entries;
	uint64_t time;
	bool has_missing; /* entries, before its first */
	uint64_t missing; /* how many; 0: not known */
};

/* Begin @page, of @len bytes at @data, which must stay; @offset is in the file. ERR_CORRUPT. */
MUST_USE struct err *ftrace_page_begin(struct ftrace_page *page, const struct tracing_data_page *layout, const uint8_t *data,
				       size_t len, uint64_t offset);

/* The next payload; false at the end, and where it is damaged: then page->entries has failed. */
bool ftrace_page_next(struct ftrace_page *page, struct ftrace_entry *ret);

#endif

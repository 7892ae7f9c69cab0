/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_scan.h - where blocks are in a file: at a known place, or behind a damaged one.
 */
#ifndef FORMATS_TRACE_SCAN_H
#define FORMATS_TRACE_SCAN_H

#include "formats/trace/trace_block.h"
#include "formats/trace/trace_file.h"

struct trace_found {
	struct trace_block head;
	uint64_t offset;
	uint64_t oldest_ns; /* of this and all events blocks behind it; the reader's */
};

/* The head of a block at @offset, whose content must be there too. ERR_CORRUPT, ERR_SYSTEM. */
MUST_USE struct err *trace_scan_head(const struct trace_file *file, uint64_t offset,
				     struct trace_found *ret);

/* Where the next intact block begins, from @offset on; the end of the file if there is none. */
uint64_t trace_scan_next(const struct trace_file *file, uint64_t offset);

/* @err was found at the beginning of @file: if that is something other than a trace, say what. Takes @err. */
MUST_USE struct err *trace_scan_explain(const struct trace_file *file, struct err *err);

#endif

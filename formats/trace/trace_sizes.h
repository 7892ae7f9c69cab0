/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_sizes.h - where the bytes of a trace file are: by kind of block, and events by column.
 */
#ifndef FORMATS_TRACE_SIZES_H
#define FORMATS_TRACE_SIZES_H

#include "formats/event.h"

/* The parts of a file. All packed lengths together are the file's length. */
enum trace_part {
	TRACE_PART_HEADER,
	TRACE_PART_HEADS, /* kind, CPU and thread of events */
	TRACE_PART_TIMES,
	TRACE_PART_SAMPLES, /* addresses, periods, recorded chains */
	TRACE_PART_REGS,
	TRACE_PART_STACK_SHAPES,
	TRACE_PART_STACK_POINTERS,
	TRACE_PART_STACK_NUMBERS,
	TRACE_PART_FRESH, /* addresses when they come for the first time in a block */
	TRACE_PART_EXTRAS,
	TRACE_PART_SIDE_BAND,
	TRACE_PART_IMAGES,
	TRACE_PART_KERNEL_CODE,
	TRACE_PART_LINES,
	TRACE_PART_KSYMS,
	TRACE_PART_JIT_MAPS,
	TRACE_PART_END,
	TRACE_PART_INDEX,
	TRACE_PART_OTHER,      /* kinds of blocks and columns that are not known here */
	TRACE_PART_FRAMING,    /* heads of blocks, directories of columns */
	TRACE_PART_UNREADABLE, /* damaged, or between blocks */
	TRACE_PARTS
};

struct trace_part_size {
	uint64_t packed_len; /* in the file */
	uint64_t len;        /* decompressed */
};

/* @source must come from trace_reader. ERR_SYSTEM: the file cannot be read. */
MUST_USE struct err *trace_sizes(struct event_source *source,
				 struct trace_part_size ret[TRACE_PARTS]);

#endif

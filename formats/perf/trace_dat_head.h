/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_dat_head.h - all of a trace.dat but the entries themselves: trace-cmd.dat.v6(5), trace-cmd.dat.v7(5).
 *
 *	version 6	version 7
 *	start		start, "zstd\0" "1.5.4\0", offset of options u64
 *	headers		options: id u16, length u32, data; those of the parts on the left have the offset of a section
 *	formats		section: id u16, flags u16, description u32, length u64; if flags & 1: packed length u32, length u32
 *	kallsyms: length u32, text; so printk's formats; command names: length u64, text
 *	number of CPUs u32
 *	"options  \0", options with id u16, length u32, data
 *	"flyrecord\0", for each CPU offset u64, length u64
 *
 * A buffer's pages lie at its CPUs' offsets. Where version 7 packs them: number of chunks u32; packed length u32, length u32, bytes.
 */
#ifndef FORMATS_TRACE_DAT_HEAD_H
#define FORMATS_TRACE_DAT_HEAD_H

#include "formats/base/arena.h"
#include "formats/base/vec.h"
#include "formats/base/writer.h"
#include "formats/perf/tracing_data.h"
#include "formats/trace/trace_file.h"

#define TRACE_DAT_UNPACKED_MAX ((size_t)256 << 20) /* bytes of a section or chunk, unpacked */

enum trace_dat_packing {
	TRACE_DAT_PLAIN,
	TRACE_DAT_ZSTD,
	TRACE_DAT_ZLIB,
};

struct trace_dat_event {
	uint32_t id;
	const char *name;   /* "sched:sched_switch" */
	const char *format; /* as tracefs shows it */
};

/* One CPU's pages of one buffer. */
struct trace_dat_part {
	uint32_t cpu;
	uint32_t page_len;
	uint64_t offset, len; /* in the file */
	bool packed;
};

struct trace_dat_text {
	const char *data;
	size_t len;
};

/* A zeroed one is empty. Texts live in the arena, which is the caller's. */
struct trace_dat_head {
	struct arena *arena;
	enum trace_dat_packing packing;
	uint32_t page_len; /* where a buffer does not say */
	struct tracing_data_page page;
	VEC(struct trace_dat_event) events;
	VEC(struct trace_dat_part) parts;
	struct trace_dat_text kallsyms, commands; /* the latter: lines of "PID NAME" */
	const char *clock, *uname, *tool;	  /* "" if not known */
	uint32_t ncpus;
	bool has_wall;
	int64_t wall_ns; /* to be added for the time of day */
	uint32_t tsc_mult, tsc_shift;
	uint64_t tsc_offset; /* the three turn cycles into nanoseconds; 0, 0, 0: not known */
};

bool trace_dat_head_is(const struct trace_file *file);

/* ERR_SYSTEM, ERR_CORRUPT with the offset; ERR_UNSUPPORTED: another version, byte order or packing, or a latency trace's text. */
MUST_USE struct err *trace_dat_head_read(const struct trace_file *file, struct trace_dat_head *head);

void trace_dat_head_deinit(struct trace_dat_head *head);

/* What @len packed bytes hold, which is @unpacked_len long, into @out. ERR_CORRUPT. */
MUST_USE struct err *trace_dat_unpack(enum trace_dat_packing packing, const uint8_t *data, size_t len, size_t unpacked_len,
				      struct writer *out);

#endif

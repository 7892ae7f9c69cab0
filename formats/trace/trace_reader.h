/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_reader.h - reads a trace file (precord-trace(5)) as an event source.
 *
 * Opening reads the header, walks the block headers and loads what stands at the end (counts,
 * embedded images, symbols), so that the recording is complete before the first event. A file
 * whose end is missing or damaged is read as far as it goes; recording.complete and .damaged_at
 * tell, the latter for good only after the last event, since events are unpacked as they are asked
 * for. A pipe is first copied to an unlinked temporary file.
 */
#ifndef FORMATS_TRACE_READER_H
#define FORMATS_TRACE_READER_H

#include "formats/event.h"
#include "formats/trace/trace_file.h"

/* Does @file begin as a trace does? */
bool trace_reader_is(const struct trace_file *file);

/*
 * Open the trace at @path, "-" for standard input.
 *
 * ERR_SYSTEM: it cannot be read.  ERR_CORRUPT: it is no trace or has no readable header.
 * ERR_UNSUPPORTED: another major version, or a format that has another reader (perf.data).
 */
MUST_USE struct err *trace_reader_open(const char *path, struct event_source **ret);

/* The same for a file that is open, which the source closes; on failure, too. @name is for messages. */
MUST_USE struct err *trace_reader_open_file(const char *name, struct trace_file file,
					    struct event_source **ret);

/* The same for @len bytes at @data, which must outlive the source. */
MUST_USE struct err *trace_reader_open_memory(const void *data, size_t len,
					      struct event_source **ret);

/* Where the bytes of the file went; offsets and lengths of blocks are those of the file. */
struct trace_block_info {
	uint64_t offset, len; /* in the file, header included */
	uint64_t packed_len;  /* its zstd frames */
	uint64_t content_len; /* decompressed */
	const char *kind;     /* "header", "events", "image", "ksyms", "jit-map", "end", "index", "lines",
			     "kernel-code", "unknown" */
};

/*
 * All blocks in file order; valid until the source is closed. @source must come from this
 * module.
 */
const struct trace_block_info *trace_reader_blocks(struct event_source *source, size_t *ret_count);

/* The zstd frames of block @number as they are in the file; valid until the next call on @source. ERR_SYSTEM. */
MUST_USE struct err *trace_reader_packed(struct event_source *source, size_t number,
					 const uint8_t **ret);

/* Length of the file in bytes. */
uint64_t trace_reader_len(struct event_source *source);

#endif

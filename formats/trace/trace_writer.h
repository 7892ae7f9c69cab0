/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_writer.h - writes a trace file (precord-trace(5)), block by block, to any descriptor.
 *
 * Order of calls: trace_writer_new(), trace_writer_begin() once, then events, then the attachments
 * and trace_writer_end(). Blocks go out with one write each, so a recorder that is killed leaves a
 * file that reads up to its last whole block. Not thread-safe.
 */
#ifndef FORMATS_TRACE_WRITER_H
#define FORMATS_TRACE_WRITER_H

#include "formats/event.h"
#include "formats/recording.h"
#include "formats/trace/trace_block.h"

#include <stddef.h>
#include <stdint.h>

struct trace_writer;

/* Bytes written so far, compressed as they are in the file, block headers included. */
struct trace_sizes {
	uint64_t total;
	uint64_t samples;   /* event blocks: headers, chains, counts */
	uint64_t stacks;    /* event blocks: registers and stack words */
	uint64_t side_band; /* event blocks: all other events */
	uint64_t images, symbols, other;
	uint64_t nsamples;  /* a number: of samples in blocks of events, but those of trace_writer_block() */
};

/* Write to @fd, which stays the caller's and need not be seekable. */
struct trace_writer *trace_writer_new(int fd);
void trace_writer_free(struct trace_writer *w);

/* Where blocks go in place of a descriptor: @data is the head of @block and what is packed behind it. */
struct trace_sink {
	struct err *(*take)(void *context, const struct trace_block *block, const uint8_t *data,
			    size_t len);
	void *context;
};

struct trace_writer *trace_writer_new_to(const struct trace_sink *sink);

/* Append a block of events, images or a JIT's map as a sink was given it. */
MUST_USE struct err *trace_writer_block(struct trace_writer *w, const struct trace_block *block,
					const uint8_t *data, size_t len);

/*
 * Before the header: events will be written on @nstreams streams, 1 to TRACE_STREAM_MAX + 1, on each of them by one
 * thread at a time. Only trace_writer_add() may be called by several threads at a time.
 */
void trace_writer_set_streams(struct trace_writer *w, size_t nstreams);

/* Write the header: all of @rec that is known now. */
MUST_USE struct err *trace_writer_begin(struct trace_writer *w, const struct recording *rec);

/*
 * Append an event on stream 0. Events come in any order; samples, stacks and strings are copied.
 * A full block is compressed and written here. ERR_SYSTEM: the file cannot be written.
 */
MUST_USE struct err *trace_writer_event(struct trace_writer *w, const struct event *ev);

/*
 * Append an event on a stream. A full block is compressed here, and kept for the next trace_writer_round(), which
 * writes it. ERR_SYSTEM: out of memory.
 */
MUST_USE struct err *trace_writer_add(struct trace_writer *w, size_t stream, const struct event *ev);

/*
 * Promise that no event still to come is older than @time_ns; readers sort within such rounds.
 * Also the moment at which a block that is older than @max_age_ns is written; 0 flushes at once.
 */
MUST_USE struct err *trace_writer_round(struct trace_writer *w, uint64_t time_ns,
					uint64_t max_age_ns);

/*
 * Images are gathered and written in blocks of some megabytes, the last one by
 * trace_writer_flush_images() or trace_writer_end().
 */
MUST_USE struct err *trace_writer_image(struct trace_writer *w,
					const struct recording_image *image);
MUST_USE struct err *trace_writer_flush_images(struct trace_writer *w);
MUST_USE struct err *trace_writer_ksyms(struct trace_writer *w, const struct recording_ksym *ksyms,
					size_t count);
MUST_USE struct err *trace_writer_kernel_code(struct trace_writer *w,
					      const struct recording_kernel_code *code);
MUST_USE struct err *trace_writer_jit_map(struct trace_writer *w,
					  const struct recording_jit_map *map);

MUST_USE struct err *trace_writer_lines(struct trace_writer *w,
					const struct recording_lines *lines);

/* Write what is pending, the counts, notes and end time of @rec, and the index. */
MUST_USE struct err *trace_writer_end(struct trace_writer *w, const struct recording *rec);

/* The same without what is pending, for a program that has no memory left, perhaps in the middle of an event. */
MUST_USE struct err *trace_writer_end_now(struct trace_writer *w, const struct recording *rec);

/* Write what is pending and no end: the trace counts as one whose recorder was killed. */
MUST_USE struct err *trace_writer_stop(struct trace_writer *w);

const struct trace_sizes *trace_writer_sizes(const struct trace_writer *w);

#endif

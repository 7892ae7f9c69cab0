/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_chunk.h - one block of events on its way from the file to the window: read, unpacked, decoded, ordered.
 *
 * A chunk is loaded by itself, so that several can be loaded at a time. Its memory is used again for the next block.
 */
#ifndef FORMATS_TRACE_CHUNK_H
#define FORMATS_TRACE_CHUNK_H

#include "formats/base/err.h"
#include "formats/base/writer.h"
#include "formats/base/zframe.h"
#include "formats/trace/trace_decoder.h"
#include "formats/trace/trace_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a block's content is. */
struct trace_place {
	uint64_t offset;	/* in the file, behind the head */
	size_t packed_len, len; /* there, and unpacked */
};

struct trace_chunk_place {
	uint64_t time_ns;
	uint32_t index; /* in events */
};

struct trace_chunk {
	struct trace_events events;
	struct trace_chunk_place *order; /* of all events, by time and then as in the file */
	size_t len;			 /* of memory that the events hold */
	size_t pos;			 /* next in @order; the window's, as are the following */
	uint64_t number;		 /* of the block among those with events */
	unsigned holds;			 /* batches that need its events */
	bool spent;			 /* all its events were taken */
	struct trace_chunk *next;	 /* among those that are free */
	size_t order_cap, content_cap;	 /* private, as are the following */
	uint8_t *content;
	struct writer packed;
	struct zframe_decoder *zframe;
};

/* All chunks of a trace: those that are free, and how many are in use. Empty when zeroed. */
struct trace_chunks {
	struct trace_chunk *free;
	size_t nused;	 /* were got and not put back */
	size_t len_max;	 /* of memory, of any chunk that was put back */
};

/* One of the list, or a new one. */
struct trace_chunk *trace_chunks_get(struct trace_chunks *chunks);
void trace_chunks_put(struct trace_chunks *chunks, struct trace_chunk *chunk);
void trace_chunks_deinit(struct trace_chunks *chunks);

/*
 * Load the block at @place. @rec must outlive the events.
 *
 * ERR_CORRUPT: not well-formed, the chunk is empty. ERR_SYSTEM: cannot be read.
 */
MUST_USE struct err *trace_chunk_load(struct trace_chunk *chunk, const struct trace_file *file,
				      const struct trace_place *place, const struct recording *rec);

/* Read what is at @place, as it is in the file, to @packed, emptied first. ERR_CORRUPT: the file ends before. ERR_SYSTEM. */
MUST_USE struct err *trace_chunk_read(const struct trace_file *file,
				      const struct trace_place *place, struct writer *packed);

/* Unpack what is at @place to @out, of place->len bytes, by way of @packed. */
MUST_USE struct err *trace_chunk_unpack(const struct trace_file *file,
					const struct trace_place *place, struct writer *packed,
					struct zframe_decoder *zframe, void *out);

#endif

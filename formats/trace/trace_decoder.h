/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_decoder.h - the content of one events block to events.
 */
#ifndef FORMATS_TRACE_DECODER_H
#define FORMATS_TRACE_DECODER_H

#include "formats/base/err.h"
#include "formats/trace/trace_events.h"

#include <stddef.h>
#include <stdint.h>

/* A decoded block: its events in the order of the file. A zeroed one is empty. */
struct trace_events {
	struct event *events;
	size_t count;
	char *memory; /* the events and what they point to; strings and payloads lie in the content */
	size_t memory_len;
	size_t used_len; /* of it, by this block */
};

/*
 * Decode @len bytes of @content, which must outlive the events. @rec tells the architecture and
 * how many events there are. Snapshots get the numbers behind @number, which must not be those of another block.
 * The memory of @ret is used again if it is large enough.
 *
 * ERR_CORRUPT: the content is not well-formed; @ret is then empty.
 */
MUST_USE struct err *trace_events_decode(const void *content, size_t len,
					 const struct recording *rec, uint64_t number,
					 struct trace_events *ret);

void trace_events_deinit(struct trace_events *events);

#endif

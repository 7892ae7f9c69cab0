/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto_writer.h - a protobuf message written field by field; messages within it are collected until they end.
 *
 *	proto_begin(&w, 1);
 *	proto_uint(&w, 8, time_ns);
 *	proto_end(&w);
 *
 * A zeroed writer is an empty message: proto_message() has its bytes.
 */
#ifndef BASE_PROTO_WRITER_H
#define BASE_PROTO_WRITER_H

#include "formats/base/writer.h"

#define PROTO_WRITER_DEPTH 8 /* messages within each other */

struct proto_writer {
	unsigned depth;
	struct writer levels[PROTO_WRITER_DEPTH]; /* those that are open, the outermost first */
	uint32_t numbers[PROTO_WRITER_DEPTH];	  /* the field that each is the value of */
};

void proto_begin(struct proto_writer *w, uint32_t number);
void proto_end(struct proto_writer *w);

void proto_uint(struct proto_writer *w, uint32_t number, uint64_t value);
void proto_bytes(struct proto_writer *w, uint32_t number, const void *data, size_t len);
void proto_text(struct proto_writer *w, uint32_t number, const char *text);

/* The message itself, when none within it is open; proto_reset() begins the next. */
static inline const struct writer *proto_message(const struct proto_writer *w)
{
	return &w->levels[0];
}

static inline void proto_reset(struct proto_writer *w)
{
	writer_reset(&w->levels[0]);
}

void proto_writer_deinit(struct proto_writer *w);

#endif

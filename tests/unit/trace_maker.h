/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_maker.h - traces in memory, for tests: whole ones of random events, and files put together
 * block by block.
 *
 *	trace_maker_begin(&made, seed);
 *	trace_maker_add(&made, 12);
 *	trace_maker_flush(&made);
 *	trace_maker_attach(&made);
 *	trace_maker_read(&made);
 *	... made.bytes, made.len; made.events is what must come out of it ...
 *	trace_maker_deinit(&made);
 */
#ifndef UNIT_TRACE_MAKER_H
#define UNIT_TRACE_MAKER_H

#include "formats/base/vec.h"
#include "formats/trace/trace_block.h"
#include "formats/trace/trace_chunk.h"
#include "formats/trace/trace_writer.h"
#include "tests/unit/event_maker.h"

#include <stddef.h>
#include <stdint.h>

/* A trace under construction. */
struct trace_maker {
	int fd; /* of the file, which has no name */
	struct trace_writer *writer;
	struct recording rec;
	struct event_maker maker;
	VEC(struct event) events; /* all that were written */
	char *bytes;              /* of the file, once it was read */
	size_t len;
	VEC(struct trace_place) places; /* of its blocks of events, once they were located */
};

/* Begin with a header of maker_recording(). */
void trace_maker_begin(struct trace_maker *made, uint64_t seed);

/* @count random events. */
void trace_maker_add(struct trace_maker *made, size_t count);

/* End the block of events. */
void trace_maker_flush(struct trace_maker *made);

/* Write everything that stands at the end. */
void trace_maker_attach(struct trace_maker *made);

/* Fill @made->bytes. */
void trace_maker_read(struct trace_maker *made);

/* Fill @made->places, after trace_maker_read(). */
void trace_maker_locate(struct trace_maker *made);

void trace_maker_deinit(struct trace_maker *made);

/* A whole trace of a few events of each kind, in two blocks, read. */
void trace_maker_small(struct trace_maker *made);

/* How many of the events of @made come out of @source, which must give them in order. */
size_t trace_maker_drain(const struct trace_maker *made, struct event_source *source);

/* Append @block with @content, whose lengths are filled in, to @file. */
void trace_maker_block(struct writer *file, struct trace_block block, const struct writer *content);

#endif

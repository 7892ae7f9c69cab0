/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_encoder.h - events to the content of an events block, one block after another.
 */
#ifndef FORMATS_TRACE_ENCODER_H
#define FORMATS_TRACE_ENCODER_H

#include "formats/base/writer.h"
#include "formats/trace/trace_events.h"

#include <stddef.h>
#include <stdint.h>

struct trace_encoder;

/* For samples of @arch. */
struct trace_encoder *trace_encoder_new(const struct arch *arch);
void trace_encoder_free(struct trace_encoder *enc);

/* Append @ev, copying what it points to. */
void trace_encoder_add(struct trace_encoder *enc, const struct event *ev);

/* What was added since the last trace_encoder_finish(). */
struct trace_encoder_summary {
	size_t count;
	size_t samples;             /* of them */
	size_t content_len;         /* without what trace_encoder_finish() puts in front */
	size_t expanded_len;        /* memory that a decoder will need for it */
	uint64_t first_ns, last_ns; /* oldest and newest */
};

struct trace_encoder_summary trace_encoder_summary(const struct trace_encoder *enc);

/*
 * Append the content to @out and begin anew. The lengths of the columns add up to it; what stands
 * in front of the first is number 0.
 */
void trace_encoder_finish(struct trace_encoder *enc, struct writer *out,
			  size_t column_lens[TRACE_COLUMNS]);

#endif

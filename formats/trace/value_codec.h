/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_codec.h - values that come again and again, and what consists of them: call chains,
 * registers. precord-trace(5), "Values" and "Samples", has the bytes.
 *
 * Writing and reading go in step: both sides see the same values in the same order, from an empty
 * state. Values that are likely to come again (return addresses above all) are numbered as they
 * first appear.
 */
#ifndef FORMATS_VALUE_CODEC_H
#define FORMATS_VALUE_CODEC_H

#include "formats/base/map.h"
#include "formats/base/reader.h"
#include "formats/base/vec.h"
#include "formats/base/writer.h"
#include "formats/event.h"

#include <stddef.h>
#include <stdint.h>

/* Smaller ones are counters, flags or text and would only fill the table. */
#define VALUE_NUMBERED_MIN (1u << 16)

/* Entries of a call chain that are accepted. */
#define CHAIN_IPS_MAX 65536

/* Numbers of values, writing side. A zeroed one is empty but for @fresh. */
struct value_encoder {
	struct map numbers; /* value -> number from 1 */
	uint64_t last_new;
	struct writer *fresh; /* where values go that have no number yet */
};

void value_encoder_reset(struct value_encoder *values);
void value_encoder_deinit(struct value_encoder *values);

/* The same, reading side: by number - 1. */
struct value_decoder {
	VEC(uint64_t) values;
	uint64_t last_new;
	struct reader *fresh;
};

void value_decoder_deinit(struct value_decoder *values);

/* One value: its number in @w (@r), and itself elsewhere if it is new. */
void value_put(struct value_encoder *values, struct writer *w, uint64_t value);
uint64_t value_get(struct value_decoder *values, struct reader *r);

/* A call chain against @prev (@nprev entries, perhaps 0). */
void chain_put(struct value_encoder *values, struct writer *w, const uint64_t *prev, size_t nprev,
	       const uint64_t *ips, size_t nips);

/* Its two parts: how many entries there are (0 after a failure), then the entries. */
struct chain_shape {
	size_t nips, nshared;
};

struct chain_shape chain_get_shape(struct reader *r, size_t nprev);
void chain_get(struct value_decoder *values, struct reader *r, const uint64_t *prev, size_t nprev,
	       struct chain_shape shape, uint64_t *ret);

/* Registers against @prev (with mask 0 if there is none); @ip is the sample's address. */
void regs_put(struct value_encoder *values, struct writer *w, const struct event_regs *prev,
	      const struct event_regs *regs, uint64_t ip);
void regs_get(struct value_decoder *values, struct reader *r, const struct event_regs *prev,
	      uint64_t ip, struct event_regs *ret);

#endif

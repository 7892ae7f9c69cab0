/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_codec.h - registers, stack snapshots and call chains, each coded against the one before it of the
 * same thread. precord-trace(5), "STACKS", has the bytes.
 *
 * Writing and reading go in step: both sides see the same values in the same order, from an empty state.
 * Values that are likely to come again (return addresses above all) are numbered as they first appear.
 */
#ifndef FORMATS_STACK_CODEC_H
#define FORMATS_STACK_CODEC_H

#include "formats/base/map.h"
#include "formats/base/reader.h"
#include "formats/base/vec.h"
#include "formats/base/writer.h"
#include "formats/event.h"

/* A snapshot spans at most so many 8-byte words: 128 MiB. */
#define STACK_SLOTS_MAX (1u << 24)

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

/* What a snapshot is written to and read from: like goes with like, which packs better. */
struct stack_writers {
	struct writer *shapes;   /* lengths, copies, gaps */
	struct writer *pointers; /* pointers into the stack, small words */
	struct writer *numbers;  /* numbers of return addresses */
};

struct stack_readers {
	struct reader *shapes, *pointers, *numbers;
};

void value_decoder_reset(struct value_decoder *values);
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

/* A snapshot against @prev (empty if there is none); @sp is the stack pointer, 0 if not known. */
void stack_put(struct value_encoder *values, const struct stack_writers *to,
	       const struct event_stack *prev, const struct event_stack *stack, uint64_t sp);

/*
 * Its two parts: all but the words, with nwords no larger than the bytes left and @prev allow, then the
 * words into arrays of that length, to which the stack then points.
 */
void stack_get_shape(struct reader *shapes, const struct event_stack *prev, uint64_t sp,
		     struct event_stack *ret);

/* Where the words go. */
struct stack_room {
	uint32_t *slots;
	uint64_t *words;
};

void stack_get(struct value_decoder *values, const struct stack_readers *from,
	       const struct event_stack *prev, struct event_stack *stack, struct stack_room room);

#endif

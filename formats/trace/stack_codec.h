/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_codec.h - stack snapshots, each coded against the one before it of the same thread.
 * precord-trace(5), "Stacks", has the bytes.
 */
#ifndef FORMATS_STACK_CODEC_H
#define FORMATS_STACK_CODEC_H

#include "formats/event.h"
#include "formats/trace/value_codec.h"

#include <stdint.h>

/* A snapshot spans at most so many 8-byte words: 128 MiB. */
#define STACK_SLOTS_MAX (1u << 24)

/* What a snapshot is written to and read from: like goes with like, which packs better. */
struct stack_writers {
	struct writer *shapes;   /* lengths, copies, gaps */
	struct writer *pointers; /* pointers into the stack, small words */
	struct writer *numbers;  /* numbers of return addresses */
};

struct stack_readers {
	struct reader *shapes, *pointers, *numbers;
};

/* A snapshot against @prev (empty if there is none); @sp is the stack pointer, 0 if not known. */
void stack_put(struct value_encoder *values, const struct stack_writers *to,
	       const struct event_stack *prev, const struct event_stack *stack, uint64_t sp);

/*
 * Its two parts: all but the words, with nwords no larger than the bytes left and @prev allow,
 * then the words into arrays of that length, to which the stack then points.
 */
void stack_get_shape(struct reader *shapes, const struct event_stack *prev, uint64_t sp,
		     struct event_stack *ret);

/* Where the words go. */
struct stack_room {
	uint32_t *slots;
	uint64_t *words;
};

/* @prev must last as long as @stack, which may point to it. */
void stack_get(struct value_decoder *values, const struct stack_readers *from,
	       const struct event_stack *prev, struct event_stack *stack, struct stack_room room);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_reader.h - reads a sampled thread's other stack (other_stack.h), in the thread of a ring's reader.
 */
#ifndef RECORD_STACK_READER_H
#define RECORD_STACK_READER_H

#include "record/sample/perf_fds.h"
#include "record/sample/stack_shelf.h"
#include "record/sample/thread_clock.h"

#include <stdint.h>

struct perf_layout;

/* The layouts of samples: set by the recorder's thread, used by all readers. */
struct stack_shapes;

struct stack_shapes *stack_shapes_new(void);
void stack_shapes_free(struct stack_shapes *s);

/* By event number; copied. Once. */
void stack_shapes_set(struct stack_shapes *s, const struct perf_layout *layouts, size_t count);

/* The events that there are by now. */
void stack_shapes_learn(struct stack_shapes *s, const struct perf_fds *fds);

/* One reader's. */
struct stack_reader;

struct stack_reader *stack_reader_new(struct stack_shapes *shapes, struct stack_shelves *shelves, size_t ring);
void stack_reader_free(struct stack_reader *r);

/* Room for a sample, for the caller to copy it into. */
uint8_t *stack_reader_room(struct stack_reader *r);

#define STACK_READER_HEAD_LEN 4096 /* of a sample: user registers are in it, unless it has many branches or addresses */

/* The user registers of the sample whose first @len bytes are in that room; NULL: not known. Valid until the next call. */
const struct event_regs *stack_reader_regs(struct stack_reader *r, size_t len);

/*
 * The sample of @len bytes in that room was just taken: read its other stack, or the rest of its stack; @deep: also the rest of a deep
 * one.
 */
void stack_reader_look(struct stack_reader *r, size_t len, bool deep);

/* Put the result on the shelf; nothing unless the thread is @unchanged since. True: the rest of a deep stack was read, or tried. */
bool stack_reader_keep(struct stack_reader *r, bool unchanged);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_fake.h - the memory of a process that runs an interpreter, made up by a test byte by byte, and a reader of its
 * stacks.
 */
#ifndef TESTS_MANAGED_FAKE_H
#define TESTS_MANAGED_FAKE_H

#include "record/managed/managed.h"

#define FAKE_BASE 0x7f0000000000ULL /* address of the first byte */
#define FAKE_LEN  (64u << 10)
#define FAKE_PID  4711 /* and its only thread */

struct managed_fake {
	uint8_t *bytes;
	size_t reads;			    /* pieces that were read */
	size_t calls;
	bool changes;			    /* each time before it is read */
	unsigned seed;
	const struct managed_runtime *runtime;
	struct managed_names names;
	struct managed_binary binary;
	void *state;
	const struct event_regs *regs; /* of the sample; NULL at first */
	struct managed_view *view;
	struct managed_stack *stack;
};

/* A process that runs @binary; its memory is zero. */
void managed_fake_init(struct managed_fake *fake, const struct managed_runtime *runtime,
		       const struct managed_binary *binary);
/* Of variables, too. */
void managed_fake_ask_locals(struct managed_fake *fake);
/* Anew, after a change of what its binary has. */
void managed_fake_open(struct managed_fake *fake);
void managed_fake_deinit(struct managed_fake *fake);

/* At offset @at of its memory. */
void managed_fake_put(struct managed_fake *fake, size_t at, uint64_t value);
void managed_fake_put32(struct managed_fake *fake, size_t at, uint32_t value);

/* Fill a part of the memory with pointers into it. */
void managed_fake_scribble(struct managed_fake *fake, size_t count);

/* A managed_read_fn of its memory. */
void managed_fake_read(void *context, struct task_memory_piece *pieces, size_t count);

/* Read the stack of thread @tid to fake->stack, and check that it kept to the limits. */
void managed_fake_stack(struct managed_fake *fake, uint32_t tid);

#endif

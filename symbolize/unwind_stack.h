/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_stack.h - reads words of a sparse stack snapshot, mostly upwards.
 *
 * Unwinding goes from low addresses to high ones, so a cursor stays where the last word was found and the
 * search starts there, in steps that double. It also keeps account of what was read, which is what a
 * frame that is taken over from an earlier sample depends on.
 */
#ifndef SYMBOLIZE_UNWIND_STACK_H
#define SYMBOLIZE_UNWIND_STACK_H

#include "formats/event.h"

struct unwind_trace;

enum unwind_read {
	UNWIND_READ_OK,
	UNWIND_READ_BEYOND,    /* above the snapshot: it ended too early */
	UNWIND_READ_ELSEWHERE, /* not this stack */
};

struct unwind_stack {
	const struct event_stack *snapshot;
	size_t cursor;      /* index in the snapshot's slots */
	uint64_t low, high; /* what was read since unwind_stack_watch() lies in [low, high) */
	bool failed;        /* a read since then did not succeed */
	uint64_t missing;   /* the address of the last one that did not */
	struct unwind_trace *trace; /* NULL, or what is told of every word */
};

static inline void unwind_stack_init(struct unwind_stack *s, const struct event_stack *snapshot)
{
	*s = (struct unwind_stack){ .snapshot = snapshot, .low = UINT64_MAX };
}

/* Begin a new account. */
static inline void unwind_stack_watch(struct unwind_stack *s)
{
	s->low = UINT64_MAX;
	s->high = 0;
	s->failed = false;
}

/* The word at @address, which need not be aligned. */
enum unwind_read unwind_stack_word(struct unwind_stack *s, uint64_t address, uint64_t *ret);

/*
 * The next word that is not zero at or above *@address, which becomes its address. False if there
 * is none.
 */
bool unwind_stack_next(struct unwind_stack *s, uint64_t *address, uint64_t *ret);

/* Does the snapshot hold the 16 bytes at @address, aligned to 8? */
bool unwind_stack_holds_pair(const struct unwind_stack *s, uint64_t address);

#endif

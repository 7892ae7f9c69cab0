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

#include "formats/base/compiler.h"
#include "formats/base/vec.h"
#include "formats/event.h"

enum unwind_read {
	UNWIND_READ_OK,
	UNWIND_READ_BEYOND,    /* above the snapshot: it ended too early */
	UNWIND_READ_ELSEWHERE, /* not this stack */
};

/* A word that was asked for. */
struct unwind_read_word {
	uint64_t address, word;
	enum unwind_read read;
};

struct unwind_reads {
	VEC(struct unwind_read_word);
};

struct unwind_stack {
	const struct event_stack *snapshot; /* of the stack that the walk is on */
	const struct event_stack *other;    /* NULL, or of the one that it is not on: see unwind_stack_switch() */
	size_t cursor;      /* index in the snapshot's slots */
	uint64_t low, high; /* what was read since unwind_stack_watch() lies in [low, high) */
	bool failed;        /* a read since then did not succeed */
	uint64_t missing;   /* the address of the last one that did not */
	struct unwind_reads *reads; /* NULL, or where every word that is asked for is noted */
};

static inline void unwind_stack_init(struct unwind_stack *s, const struct event_stack *snapshot)
{
	*s = (struct unwind_stack){ .snapshot = snapshot, .low = UINT64_MAX };
}

/* The walk goes on in @other, which must be there; words of both can be read all the time. */
static inline void unwind_stack_switch(struct unwind_stack *s)
{
	const struct event_stack *left = s->snapshot;

	s->snapshot = s->other;
	s->other = left;
	s->cursor = 0;
}

/* Does @address lie in @stack? */
static inline bool unwind_stack_holds(const struct event_stack *stack, uint64_t address)
{
	return stack && address - stack->base < stack->end - stack->base;
}

/* Begin a new account. */
static inline void unwind_stack_watch(struct unwind_stack *s)
{
	s->low = UINT64_MAX;
	s->high = 0;
	s->failed = false;
}

#define UNWIND_STACK_NEAR 16 /* slots that are compared together */

/* How many of UNWIND_STACK_NEAR slots are below @slot. */
static inline size_t unwind_stack_below(const uint32_t *slots, uint32_t slot)
{
	int32_t below = 0;

	for (unsigned i = 0; i < UNWIND_STACK_NEAR; i++)
		below += (int32_t)slots[i] < (int32_t)slot; /* far less than 2^31; signed is one instruction */
	return (size_t)below;
}

/* Move the cursor to the first word at or above @slot, wherever it is; its index. */
size_t unwind_stack_seek(struct unwind_stack *s, uint32_t slot);

/*
 * The same. Most often it is a little farther up, but how far cannot be predicted: so the next few are counted at once
 * instead of looked at one after another.
 */
static inline size_t unwind_stack_find(struct unwind_stack *s, uint32_t slot)
{
	const struct event_stack *snapshot = s->snapshot;
	const uint32_t *slots = snapshot->slots + s->cursor;
	size_t below;

	if (snapshot->nwords - s->cursor < UNWIND_STACK_NEAR || slots[0] >= slot)
		return unwind_stack_seek(s, slot);
	below = unwind_stack_below(slots, slot);
	s->cursor += below;
	return below < UNWIND_STACK_NEAR ? s->cursor : unwind_stack_seek(s, slot);
}

/* What unwind_stack_word() does not expect: an address between words, outside, or somebody to tell. */
enum unwind_read unwind_stack_any_word(struct unwind_stack *s, uint64_t address, uint64_t *ret);

/* The word at @address, which need not be aligned. */
static inline enum unwind_read unwind_stack_word(struct unwind_stack *s, uint64_t address,
						 uint64_t *ret)
{
	const struct event_stack *snapshot = s->snapshot;
	uint64_t offset = address - snapshot->base;
	size_t i;

	if (offset % 8 || offset >= snapshot->end - snapshot->base || s->reads)
		return unwind_stack_any_word(s, address, ret);
	s->low = MIN(s->low, address);
	s->high = MAX(s->high, address + 8);
	i = unwind_stack_find(s, (uint32_t)(offset / 8));
	*ret = i < snapshot->nwords && snapshot->slots[i] == offset / 8 ? snapshot->words[i] : 0;
	return UNWIND_READ_OK;
}

/*
 * The next word that is not zero at or above *@address, which becomes its address. False if there
 * is none.
 */
bool unwind_stack_next(struct unwind_stack *s, uint64_t *address, uint64_t *ret);

/* Does the snapshot, or the rest of the same stack, hold the 16 bytes at @address, aligned to 8? */
bool unwind_stack_holds_pair(const struct unwind_stack *s, uint64_t address);

#endif

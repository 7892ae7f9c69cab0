/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_codec.c - what is the same as in the thread's previous snapshot is a count, and what is
 * new is made small and, more important, equal to what other frames of the same functions gave, so
 * that zstd finds it.
 *
 * Both lists of words are walked from the root side, by absolute address. Pointers into the stack
 * are coded by their distance from the slot they stand in, return addresses by number: two calls
 * of the same function at different depths give the same bytes.
 */
#include "formats/trace/stack_codec.h"

#include "formats/base/zigzag.h"

#include <string.h>

/* How far outside a snapshot a value still counts as pointing into the same stack. */
#define NEAR_BELOW (64u << 10)
#define NEAR_ABOVE (1u << 20)

/* Top two bits of a token; the rest is a count or a gap. */
#define TOKEN_COPY   0x00u
#define TOKEN_STACK  0x40u
#define TOKEN_NUMBER 0x80u
#define TOKEN_OTHER  0xc0u
#define TOKEN_MORE   0x3fu /* count or gap is this and more: ULEB follows */

/* Next two bits of TOKEN_OTHER. */
#define OTHER_PLAIN     0xc0u
#define OTHER_SKIP      0xd0u
#define OTHER_KIND      0xf0u
#define OTHER_MORE      0x0fu

#define STACK_CUT       0x1u
#define STACK_SHORTENED 0x2u
#define STACK_OTHER_END 0x4u

/* How far slot 0 of @prev lies above slot 0 of @stack, in slots. */
static int64_t slot_shift(const struct event_stack *prev, const struct event_stack *stack)
{
	return (int64_t)(prev->base - stack->base) >> 3;
}

static void put_counted(struct writer *w, unsigned token, unsigned more, uint64_t count)
{
	if (count < more) {
		writer_u8(w, (uint8_t)(token | count));
		return;
	}
	writer_u8(w, (uint8_t)(token | more));
	writer_uleb(w, count - more);
}

static void put_word(struct value_encoder *values, const struct stack_writers *to,
		     const struct event_stack *stack, size_t i, uint64_t gap)
{
	uint64_t word = stack->words[i];
	uint64_t address = stack->base + 8 * (uint64_t)stack->slots[i];
	uint64_t distance = word - address;

	if (word - (stack->base - NEAR_BELOW) <
	    stack->end - stack->base + NEAR_BELOW + NEAR_ABOVE) {
		put_counted(to->shapes, TOKEN_STACK, TOKEN_MORE, gap);
		if (distance & 7)
			writer_uleb(to->pointers, zigzag_encode(distance) << 1 | 1);
		else
			writer_uleb(to->pointers, zigzag_encode((uint64_t)((int64_t)distance >> 3))
							  << 1);
	} else if (word >= VALUE_NUMBERED_MIN) {
		put_counted(to->shapes, TOKEN_NUMBER, TOKEN_MORE, gap);
		value_put(values, to->numbers, word);
	} else {
		put_counted(to->shapes, OTHER_PLAIN, OTHER_MORE, gap);
		writer_uleb(to->pointers, word);
	}
}

/* A walk over two snapshots from the root side. */
struct stack_walk {
	const struct event_stack *prev, *stack;
	int64_t shift;
	size_t nprev;  /* words of @prev not passed yet */
	size_t nleft;  /* words of @stack still to come */
	uint64_t slot; /* the last one that came, at first the end */

	/* Reading: */
	bool differs;       /* below the lower end something was not the same in both */
	uint64_t same_from; /* address of the lowest word above that; 0: there is none */
};

static struct stack_walk walk_begin(const struct event_stack *prev, const struct event_stack *stack)
{
	return (struct stack_walk){
		.prev = prev,
		.stack = stack,
		.shift = slot_shift(prev, stack),
		.nprev = prev->nwords,
		.nleft = stack->nwords,
		.slot = (stack->end - stack->base) >> 3,
	};
}

/* Where word @i of the previous snapshot would be in this one. */
static int64_t prev_slot(const struct stack_walk *walk, size_t i)
{
	return (int64_t)walk->prev->slots[i] + walk->shift;
}

/* Pass the words of the previous snapshot that can no longer be copied. */
static void walk_catch_up(struct stack_walk *walk)
{
	while (walk->nprev && prev_slot(walk, walk->nprev - 1) >= (int64_t)walk->slot)
		walk->nprev--;
}

static bool same_word(const struct stack_walk *walk, size_t iprev, size_t i)
{
	return prev_slot(walk, iprev) == walk->stack->slots[i] &&
	       walk->prev->words[iprev] == walk->stack->words[i];
}

static size_t equal_run(const struct stack_walk *walk, size_t nprev)
{
	size_t n = 0;
	size_t max = MIN(nprev, walk->nleft);

	while (n < max && same_word(walk, nprev - 1 - n, walk->nleft - 1 - n))
		n++;
	return n;
}

/*
 * Copy what is equal from here on, passing words that are gone if that leads to something equal.
 */
static bool put_copy(struct stack_walk *walk, struct writer *w)
{
	size_t next = walk->nprev;
	size_t run;

	while (next && prev_slot(walk, next - 1) > (int64_t)walk->stack->slots[walk->nleft - 1])
		next--;
	run = equal_run(walk, next);
	if (!run)
		return false;
	if (next < walk->nprev)
		put_counted(w, OTHER_SKIP, OTHER_MORE, walk->nprev - next - 1);
	put_counted(w, TOKEN_COPY, TOKEN_MORE, run - 1);
	walk->nprev = next - run;
	walk->nleft -= run;
	walk->slot = walk->stack->slots[walk->nleft];
	return true;
}

void stack_put(struct value_encoder *values, const struct stack_writers *to,
	       const struct event_stack *prev, const struct event_stack *stack, uint64_t sp)
{
	uint64_t expected = sp ? (sp + 7) & ~7ULL : prev->base;
	unsigned flags = (stack->cut ? STACK_CUT : 0) | (stack->shortened ? STACK_SHORTENED : 0);
	struct writer *w = to->shapes;

	if (stack->end != prev->end)
		flags |= STACK_OTHER_END;
	writer_u8(w, (uint8_t)flags);
	writer_uleb(w, zigzag_encode((uint64_t)((int64_t)(stack->base - expected) >> 3)));
	if (flags & STACK_OTHER_END)
		writer_uleb(w, (stack->end - stack->base) >> 3);
	writer_uleb(w, stack->nwords);

	struct stack_walk walk = walk_begin(prev, stack);

	while (walk.nleft) {
		walk_catch_up(&walk);
		if (put_copy(&walk, w))
			continue;
		walk.nleft--;
		put_word(values, to, stack, walk.nleft, walk.slot - 1 - stack->slots[walk.nleft]);
		walk.slot = stack->slots[walk.nleft];
	}
}

void stack_get_shape(struct reader *r, const struct event_stack *prev, uint64_t sp,
		     struct event_stack *ret)
{
	unsigned flags = reader_u8(r, "stack flags");
	uint64_t expected = sp ? (sp + 7) & ~7ULL : prev->base;
	uint64_t base = expected + (zigzag_decode(reader_uleb(r, "stack base")) << 3);
	uint64_t end = prev->end;

	if (flags & STACK_OTHER_END) {
		uint64_t nslots = reader_uleb(r, "stack length");

		end = base + (nslots << 3);
		if (nslots > STACK_SLOTS_MAX)
			reader_fail(r, "stack length");
	}
	uint64_t nwords = reader_uleb(r, "stack words");

	if (end < base || (end - base) >> 3 > STACK_SLOTS_MAX)
		reader_fail(r, "stack length");
	if (nwords > (end - base) >> 3 || nwords > reader_left(r) + prev->nwords)
		reader_fail(r, "stack words");
	*ret = (struct event_stack){ 0 };
	if (r->failed)
		return;
	ret->base = base;
	ret->end = end;
	ret->nwords = nwords;
	ret->cut = flags & STACK_CUT;
	ret->shortened = flags & STACK_SHORTENED;
}

static uint64_t get_counted(struct reader *r, unsigned token, unsigned more)
{
	unsigned count = token & more;

	if (count < more)
		return count;

	uint64_t rest = reader_uleb(r, "stack token");

	return rest > STACK_SLOTS_MAX ? STACK_SLOTS_MAX : rest + more;
}

static uint64_t get_stack_pointer(struct reader *r, uint64_t address)
{
	uint64_t code = reader_uleb(r, "stack pointer");

	if (code & 1)
		return address + zigzag_decode(code >> 1);
	return address + (zigzag_decode(code >> 1) << 3);
}

static void get_copy(struct stack_walk *walk, struct reader *r, uint64_t count,
		     const struct stack_room *room)
{
	walk_catch_up(walk);
	if (count > walk->nprev || count > walk->nleft ||
	    prev_slot(walk, walk->nprev - count) < 0) {
		reader_fail(r, "copied stack words");
		return;
	}
	walk->nprev -= count;
	walk->nleft -= count;
	if (!walk->differs)
		walk->same_from = walk->prev->base + 8 * (uint64_t)walk->prev->slots[walk->nprev];
	walk->differs = true; /* or else the copy would be longer */

	const uint32_t *from = walk->prev->slots + walk->nprev;
	uint32_t *to = room->slots + walk->nleft;
	uint32_t shift = (uint32_t)walk->shift;

	for (size_t i = 0; i < count; i++)
		to[i] = from[i] + shift;
	memcpy(room->words + walk->nleft, walk->prev->words + walk->nprev,
	       count * sizeof(*room->words));
	walk->slot = to[0];
}

/* The place of the next word, or a failure. */
static bool get_place(struct stack_walk *walk, struct reader *r, uint64_t gap,
		      const struct stack_room *room)
{
	if (gap >= walk->slot)
		reader_fail(r, "stack slot");
	if (r->failed)
		return false;
	walk->slot -= gap + 1;
	walk->nleft--;
	walk->differs |= walk->stack->base + 8 * walk->slot < walk->prev->end;
	room->slots[walk->nleft] = (uint32_t)walk->slot;
	return true;
}

/* TOKEN_OTHER: a plain word, or words of the previous snapshot that are gone. */
static void get_other(struct stack_walk *walk, const struct stack_readers *from, unsigned token,
		      const struct stack_room *room)
{
	struct reader *r = from->shapes;
	uint64_t count = get_counted(r, token, OTHER_MORE);

	if ((token & OTHER_KIND) == OTHER_PLAIN) {
		if (get_place(walk, r, count, room))
			room->words[walk->nleft] = reader_uleb(from->pointers, "stack word");
		return;
	}
	walk_catch_up(walk);
	walk->differs = true;
	if ((token & OTHER_KIND) != OTHER_SKIP || count >= walk->nprev)
		reader_fail(r, "stack token");
	else
		walk->nprev -= count + 1;
}

void stack_get(struct value_decoder *values, const struct stack_readers *from,
	       const struct event_stack *prev, struct event_stack *stack, struct stack_room room)
{
	struct stack_walk walk = walk_begin(prev, stack);
	struct reader *r = from->shapes;

	while (walk.nleft && !r->failed) {
		unsigned token = reader_u8(r, "stack token");
		uint64_t count;

		if ((token & TOKEN_OTHER) == TOKEN_OTHER) {
			get_other(&walk, from, token, &room);
			continue;
		}
		count = get_counted(r, token, TOKEN_MORE);
		if ((token & TOKEN_OTHER) == TOKEN_COPY) {
			get_copy(&walk, r, count + 1, &room);
			continue;
		}
		if (!get_place(&walk, r, count, &room))
			break;
		if ((token & TOKEN_OTHER) == TOKEN_NUMBER)
			room.words[walk.nleft] = value_get(values, from->numbers);
		else
			room.words[walk.nleft] =
				get_stack_pointer(from->pointers, stack->base + 8 * walk.slot);
	}
	stack->slots = room.slots;
	stack->words = room.words;
	stack->previous = walk.same_from ? prev : NULL;
	stack->same_from = walk.same_from;
}

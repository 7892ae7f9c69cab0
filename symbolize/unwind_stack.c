/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/unwind_stack.h"

#include "symbolize/unwind_trace.h"

/* No stack of a thread is larger; what is farther up is something else. */
#define STACK_LEN_MAX (1ULL << 30)

#define NEAR 8  /* slots that are compared together */
#define FAR  64 /* beyond this the distance doubles */

/* The first index in (@low, @high] whose slot is not below @slot; that at @low is. */
static size_t search(const uint32_t *slots, size_t low, size_t high, uint64_t slot)
{
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (slots[mid] < slot)
			low = mid;
		else
			high = mid;
	}
	return high;
}

/*
 * From @from, whose slot is below @slot, up. Most often it is near, but how near nobody can predict: so the next few are
 * counted at once instead of looked at one after another.
 */
static size_t search_up(const uint32_t *slots, size_t len, size_t from, uint32_t slot)
{
	size_t step = NEAR, low;

	while (len - from > NEAR) {
		uint32_t below = 0;

		for (unsigned i = 0; i < NEAR; i++)
			below += slots[from + i] < slot;
		from += below;
		if (below < NEAR)
			return from;
		if ((step += NEAR) > FAR)
			break;
	}
	low = from ? from - 1 : 0; /* still below */
	while (low + step < len && slots[low + step] < slot) {
		low += step;
		step *= 2;
	}
	return search(slots, low, low + step < len ? low + step : len, slot);
}

/* The slot at @from is not below @slot. */
static size_t search_down(const uint32_t *slots, size_t from, uint64_t slot)
{
	size_t step = 1, high = from;

	while (high >= step && slots[high - step] >= slot) {
		high -= step;
		step *= 2;
	}
	if (high < step) {
		if (slots[0] >= slot)
			return 0;
		return search(slots, 0, high, slot);
	}
	return search(slots, high - step, high, slot);
}

/* The index of the first word at or above @slot. */
static size_t find(struct unwind_stack *s, uint64_t slot)
{
	const struct event_stack *snapshot = s->snapshot;
	size_t i = s->cursor;

	if (!snapshot->nwords)
		return 0;
	if (i < snapshot->nwords && snapshot->slots[i] < slot)
		i = search_up(snapshot->slots, snapshot->nwords, i,
			      (uint32_t)MIN(slot, UINT32_MAX));
	else
		i = search_down(snapshot->slots, i, slot);
	s->cursor = i;
	return i;
}

static uint64_t aligned_word(struct unwind_stack *s, uint64_t slot)
{
	size_t i = find(s, slot);

	return i < s->snapshot->nwords && s->snapshot->slots[i] == slot ? s->snapshot->words[i] : 0;
}

static void tell(struct unwind_stack *s, uint64_t address, uint64_t word, enum unwind_read read)
{
	unwind_trace_word(s->trace, (struct unwind_trace_read){ address, word, read });
}

static enum unwind_read fail(struct unwind_stack *s, uint64_t address)
{
	enum unwind_read read = UNWIND_READ_ELSEWHERE;

	s->failed = true;
	s->missing = address;
	if (address >= s->snapshot->end && address - s->snapshot->end < STACK_LEN_MAX)
		read = UNWIND_READ_BEYOND;
	if (s->trace)
		tell(s, address, 0, read);
	return read;
}

enum unwind_read unwind_stack_word(struct unwind_stack *s, uint64_t address, uint64_t *ret)
{
	uint64_t offset = address - s->snapshot->base;
	uint64_t len = s->snapshot->end - s->snapshot->base;
	unsigned shift = address % 8 * 8;
	uint64_t word;

	if (offset >= len || len - offset < (shift ? 16 : 8))
		return fail(s, address);
	s->low = MIN(s->low, address);
	s->high = MAX(s->high, address + (shift ? 16 : 8));
	word = aligned_word(s, offset / 8);
	if (shift)
		word = word >> shift | aligned_word(s, offset / 8 + 1) << (64 - shift);
	*ret = word;
	if (s->trace)
		tell(s, address, word, UNWIND_READ_OK);
	return UNWIND_READ_OK;
}

bool unwind_stack_next(struct unwind_stack *s, uint64_t *address, uint64_t *ret)
{
	const struct event_stack *snapshot = s->snapshot;
	uint64_t from = *address < snapshot->base ? 0 : (*address - snapshot->base + 7) / 8;
	size_t i = find(s, from);

	s->low = MIN(s->low, *address);
	s->high = MAX(s->high, snapshot->end);
	if (i >= snapshot->nwords)
		return false;
	*address = snapshot->base + 8ULL * snapshot->slots[i];
	*ret = snapshot->words[i];
	return true;
}

bool unwind_stack_holds_pair(const struct unwind_stack *s, uint64_t address)
{
	uint64_t offset = address - s->snapshot->base;
	uint64_t len = s->snapshot->end - s->snapshot->base;

	return address % 8 == 0 && len >= 16 && offset <= len - 16;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/unwind/unwind_stack.h"

#define NEAR UNWIND_STACK_NEAR
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

/* From @from, whose slot is below @slot, up. */
static size_t search_up(const uint32_t *slots, size_t len, size_t from, uint32_t slot)
{
	size_t far = from + FAR, step = NEAR, low;

	if (len < NEAR) {
		while (from < len && slots[from] < slot)
			from++;
		return from;
	}
	while (from < far) {
		size_t at = MIN(from, len - NEAR);
		size_t below = unwind_stack_below(slots + at, slot);

		from = at + below;
		if (below < NEAR || from == len)
			return from;
	}
	low = from - 1; /* still below */
	while (low + step < len && slots[low + step] < slot) {
		low += step;
		step *= 2;
	}
	return search(slots, low, low + step < len ? low + step : len, slot);
}

/* The slot before @from is not below @slot. */
static size_t search_down(const uint32_t *slots, size_t from, uint64_t slot)
{
	size_t step = 1, high = from - 1;

	while (high >= step && slots[high - step] >= slot) {
		high -= step;
		step *= 2;
	}
	if (high >= step)
		return search(slots, high - step, high, slot);
	return slots[0] >= slot ? 0 : search(slots, 0, high, slot);
}

size_t unwind_stack_seek(struct unwind_stack *s, uint32_t slot)
{
	const uint32_t *slots = s->snapshot->slots;
	size_t i = s->cursor, len = s->snapshot->nwords;

	if (i < len && slots[i] < slot)
		i = search_up(slots, len, i, slot);
	else if (i && slots[i - 1] >= slot)
		i = search_down(slots, i, slot);
	s->cursor = i;
	return i;
}

static uint64_t aligned_word(struct unwind_stack *s, uint32_t slot)
{
	size_t i = unwind_stack_seek(s, slot);

	return i < s->snapshot->nwords && s->snapshot->slots[i] == slot ? s->snapshot->words[i] : 0;
}

static void note(struct unwind_stack *s, uint64_t address, uint64_t word, enum unwind_read read)
{
	vec_push(s->reads, ((struct unwind_read_word){ address, word, read }));
}

/* A step that reads two stacks is not taken over: @low is below both. */
static enum unwind_read read_other(struct unwind_stack *s, uint64_t address, uint64_t *ret)
{
	const struct event_stack *other = s->other;
	uint64_t slot = (address - other->base) / 8;
	size_t i = other->nwords && other->slots[0] < slot ? search(other->slots, 0, other->nwords, slot) : 0;

	*ret = i < other->nwords && other->slots[i] == slot ? other->words[i] : 0;
	s->low = 0;
	if (s->reads)
		note(s, address, *ret, UNWIND_READ_OK);
	return UNWIND_READ_OK;
}

static enum unwind_read fail(struct unwind_stack *s, uint64_t address)
{
	enum unwind_read read = UNWIND_READ_ELSEWHERE;

	s->failed = true;
	s->missing = address;
	if (address >= s->snapshot->end && address < event_stack_reach(s->snapshot))
		read = UNWIND_READ_BEYOND;
	if (s->reads)
		note(s, address, 0, read);
	return read;
}

enum unwind_read unwind_stack_any_word(struct unwind_stack *s, uint64_t address, uint64_t *ret)
{
	uint64_t offset = address - s->snapshot->base;
	uint64_t len = s->snapshot->end - s->snapshot->base;
	unsigned shift = address % 8 * 8, need = shift ? 16 : 8;
	uint32_t slot = (uint32_t)(offset / 8);
	uint64_t word;

	if (!shift && offset >= len && unwind_stack_holds(s->other, address))
		return read_other(s, address, ret);
	if (offset >= len || len - offset < need)
		return fail(s, address);
	s->low = MIN(s->low, address);
	s->high = MAX(s->high, address + need);
	word = aligned_word(s, slot);
	if (shift)
		word = word >> shift | aligned_word(s, slot + 1) << (64 - shift);
	*ret = word;
	if (s->reads)
		note(s, address, word, UNWIND_READ_OK);
	return UNWIND_READ_OK;
}

bool unwind_stack_next(struct unwind_stack *s, uint64_t *address, uint64_t *ret)
{
	const struct event_stack *snapshot = s->snapshot;
	uint64_t end = (snapshot->end - snapshot->base) / 8;
	uint64_t from = *address < snapshot->base ? 0 : (*address - snapshot->base + 7) / 8;
	size_t i = unwind_stack_seek(s, (uint32_t)MIN(from, end));

	s->low = MIN(s->low, *address);
	if (i >= snapshot->nwords) {
		s->high = MAX(s->high, snapshot->end);
		return false;
	}
	*address = snapshot->base + 8ULL * snapshot->slots[i];
	s->high = MAX(s->high, *address + 8);
	*ret = snapshot->words[i];
	return true;
}

bool unwind_stack_holds_pair(const struct unwind_stack *s, uint64_t address)
{
	const struct event_stack *other = s->other;
	uint64_t offset = address - s->snapshot->base;
	uint64_t len = s->snapshot->end - s->snapshot->base;

	if (address % 8 == 0 && len >= 16 && offset <= len - 16)
		return true;
	/* The rest of the same stack, which was read besides. */
	return address % 8 == 0 && other && other->base >= s->snapshot->end && other->base - s->snapshot->end < EVENT_STACK_BEYOND &&
	       unwind_stack_holds(other, address) && unwind_stack_holds(other, address + 8);
}

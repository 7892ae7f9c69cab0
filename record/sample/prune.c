/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prune.c - two passes: a branch-free one lists all words between the lowest and the highest address of code and stack,
 * then an exact one checks those few.
 *
 * On 64 KiB snapshots of a compiler the first pass drops zeros and small numbers, which are most words; in the second, a
 * filter of 2 MiB regions drops heap pointers.
 */
#include "record/sample/prune.h"

#include <string.h>

/* The range that counts as the thread's stack: [start, start + len). */
struct window {
	uint64_t start, len;
};

/* Nothing, where no other stack was read. */
static bool is_in_other(const struct prune *prune, uint64_t word)
{
	return word - prune->other_start < prune->other_end - prune->other_start;
}

/*
 * The thread's own stack: the snapshot and what may follow it, even if the snapshot is shorter than its size: the kernel's
 * copy ends at an untouched page, which may lie inside a large frame. A stack has no code in it, so the first mapping
 * of code above the stack pointer ends it: the stack of a thread may lie just below
 * a library, and return addresses into that library are no stack pointers.
 */
static struct window own_stack(const struct process *proc, uint64_t sp, uint64_t len)
{
	uint64_t code = process_next_code(proc, sp);

	return (struct window){ sp, MIN(len + EVENT_STACK_BEYOND, code - sp) };
}

/* Code of the program before an exec may lie where the stack is now: a word that may be either counts as code. */
static bool is_past_code(const struct process *proc, uint64_t addr)
{
	return proc->past.len && process_had_code(proc, addr);
}

/* List the words that lie in [low, low + span). Every word writes; only those inside advance. */
static size_t list_candidates(const uint8_t *bytes, size_t count, struct window span, uint32_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t word;

		memcpy(&word, bytes + 8 * i, sizeof(word));
		ret[n] = (uint32_t)i;
		n += word - span.start < span.len;
	}
	return n;
}

static size_t list_nonzero(const uint8_t *bytes, size_t count, uint32_t *ret)
{
	const struct window all_but_zero = { 1, UINT64_MAX };

	return list_candidates(bytes, count, all_but_zero, ret);
}

/* Addresses between the lowest and the highest of code and own stack. */
static struct window span_of(const struct prune *prune, const struct process *proc, struct window own)
{
	uint64_t low, high;

	process_code_span(proc, &low, &high);
	low = MIN(low, own.start);
	high = MAX(high, own.start + own.len);
	if (prune->other_end > prune->other_start) {
		low = MIN(low, prune->other_start);
		high = MAX(high, prune->other_end);
	}
	return (struct window){ low, high - low };
}

static void keep(struct prune *prune, struct event_stack *stack, uint32_t slot, uint64_t word)
{
	prune->slots[stack->nwords] = slot;
	prune->words[stack->nwords] = word;
	stack->nwords++;
}

static void keep_pointers(struct prune *prune, const struct process *proc, const uint8_t *bytes,
			  struct window own, struct event_stack *stack)
{
	/* Authentication bits make any address large, so that where there are any, the span is no help. */
	uint64_t mask = prune->mask;
	size_t count = (stack->end - stack->base) / 8;
	size_t n = mask == UINT64_MAX
			   ? list_candidates(bytes, count, span_of(prune, proc, own), prune->candidates)
			   : list_nonzero(bytes, count, prune->candidates);

	for (size_t i = 0; i < n; i++) {
		uint32_t slot = prune->candidates[i];
		uint64_t word;

		memcpy(&word, bytes + 8 * (size_t)slot, sizeof(word));
		if (word - own.start < own.len && !is_past_code(proc, word)) {
			keep(prune, stack, slot, word);
		} else if (process_is_code(proc, word & mask)) {
			prune->code[prune->ncode++] = (uint32_t)stack->nwords;
			keep(prune, stack, slot, word);
		} else if (is_in_other(prune, word)) {
			keep(prune, stack, slot, word);
		}
	}
}

static void keep_everything(struct prune *prune, const uint8_t *bytes, struct event_stack *stack)
{
	size_t n = list_nonzero(bytes, (stack->end - stack->base) / 8, prune->candidates);

	for (size_t i = 0; i < n; i++) {
		uint64_t word;

		memcpy(&word, bytes + 8 * (size_t)prune->candidates[i], sizeof(word));
		keep(prune, stack, prune->candidates[i], word);
	}
}

/*
 * Registers follow the same rule; stack and instruction pointer are always kept. A frame pointer of 0 marks the end of the
 * stack, so one that is data must not become 0.
 */
static void prune_regs(const struct prune *prune, const struct process *proc, struct window own,
		       struct event_regs *regs)
{
	const struct arch *arch = prune->arch;
	uint64_t mask = prune->mask;

	for (uint64_t left = regs->mask; left; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);
		uint64_t value = regs->values[reg];

		if (reg == arch->sp || reg == arch->ip || value - own.start < own.len ||
		    is_in_other(prune, value) || process_is_code(proc, value & mask))
			continue;
		regs->values[reg] = reg == arch->fp && value ? PRUNE_DATA : 0;
	}
}

void prune_sample(struct prune *prune, const struct process *proc, size_t max_len,
		  struct perf_record *rec)
{
	struct event_stack *stack = &rec->event.sample.stack;
	uint64_t sp = rec->regs.values[prune->arch->sp];
	uint64_t skip = -sp & 7; /* up to the first aligned word */
	size_t len = MIN(rec->stack_len, max_len);
	uint64_t low, high;

	process_code_span(proc, &low, &high);
	prune->mask = arch_code_mask(prune->arch, prune->code_mask, high);
	prune->ncode = 0;
	*stack = (struct event_stack){
		.base = sp + skip,
		.slots = prune->slots,
		.words = prune->words,
		.cut = rec->stack_len && rec->stack_len == rec->stack_room,
		.shortened = len < rec->stack_len,
	};
	stack->end = stack->base + (len > skip ? (len - skip) & ~7ULL : 0);

	struct window own = own_stack(proc, sp, rec->stack_len);

	prune->own_start = own.start;
	prune->own_len = own.len;
	if (prune->raw) {
		if (rec->stack)
			keep_everything(prune, rec->stack + skip, stack);
		return;
	}
	if (rec->stack)
		keep_pointers(prune, proc, rec->stack + skip, own, stack);
	prune_regs(prune, proc, own, &rec->regs);
}

bool prune_keeps_other(const struct prune *prune, const struct process *proc, uint64_t word, bool *ret_code)
{
	*ret_code = process_is_code(proc, word & prune->mask);
	return prune->raw || *ret_code || is_in_other(prune, word) || word - prune->own_start < prune->own_len;
}

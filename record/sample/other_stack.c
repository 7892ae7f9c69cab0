/* SPDX-License-Identifier: Apache-2.0 */
/*
 * other_stack.c - a pass over the words of a snapshot for one that only a signal frame or a Go program has.
 *
 * Sources: struct rt_sigframe and struct sigcontext of Linux (arch/x86/include/asm/sigframe.h and uapi/asm/sigcontext.h, arch/arm64/kernel/signal.c);
 * Go 1.5 to 1.26, runtime/asm_amd64.s and asm_arm64.s (asmcgocall, gosave_systemstack_switch), runtime2.go (g, gobuf).
 */
#include "record/sample/other_stack.h"

#include <string.h>

/*
 * Of a signal frame, in words from a mark: x86-64's code and stack segment (user_cs and user_ds), which the kernel saves as one word;
 * aarch64's record of the vector registers, the first behind the others.
 */
struct frame_shape {
	const struct arch *arch;
	uint64_t mark;
	size_t sp, stack_base, stack_len; /* below the mark */
	int depth; /* Go: where the depth is from the word that points to the goroutine */
	int code;  /* and the return address into asmcgocall(); 0: that is in a register, or anywhere */
};

static const struct frame_shape shapes[] = {
	{ .arch = &arch_x86_64, .mark = 0x002b000000000033, .sp = 3, .stack_base = 21, .stack_len = 19, .depth = -1, .code = -2 },
	{ .arch = &arch_aarch64, .mark = 0x0000021046508001, .sp = 4, .stack_base = 56, .stack_len = 54, .depth = 1 },
};

#define DEPTH_MAX (1ULL << 24) /* deeper stacks of Go, which may have 1 GiB, are left out */

/* struct g, in words: stack.lo and hi, sched.sp and sched.g. */
#define G_LO 0
#define G_HI 1
#define G_SP 7
#define G_SELF 9
#define G_WORDS 10

static uint64_t word_at(const struct other_stack_snapshot *s, size_t slot)
{
	uint64_t word;

	memcpy(&word, s->bytes + 8 * slot, sizeof(word));
	return word;
}

static bool holds(const struct other_stack_snapshot *s, uint64_t address)
{
	return address - s->base < 8 * (uint64_t)s->nwords;
}

static void keep_proof(const struct other_stack_snapshot *s, size_t slot, struct other_stack_place *ret)
{
	ret->proof_at = s->base + 8 * slot;
	for (size_t i = 0; i < OTHER_STACK_PROOF; i++)
		ret->proof[i] = slot + i < s->nwords ? word_at(s, slot + i) : 0;
}

/* The handler runs on the stack that was set for signals, and did not interrupt that. */
static bool is_signal_frame(const struct other_stack_snapshot *s, const struct frame_shape *shape, size_t slot,
			    struct other_stack_place *ret)
{
	if (slot < shape->stack_base)
		return false;

	uint64_t sp = word_at(s, slot - shape->sp), base = word_at(s, slot - shape->stack_base);
	uint64_t len = word_at(s, slot - shape->stack_len);

	if (s->base - base >= len || sp - base < len || holds(s, sp) || !sp)
		return false;
	*ret = (struct other_stack_place){ .sp = sp };
	keep_proof(s, slot - shape->sp, ret);
	return true;
}

/* Word @from of those around @slot; false: there is none. */
static bool word_near(const struct other_stack_snapshot *s, size_t slot, int from, uint64_t *ret)
{
	uint64_t at = (uint64_t)slot + (uint64_t)(int64_t)from;

	if (at >= s->nwords)
		return false;
	*ret = word_at(s, (size_t)at);
	return true;
}

/* Go's heap has a g in pieces of 32 bytes and more. */
static bool may_be_goroutine(const struct other_stack_snapshot *s, const struct frame_shape *shape, size_t slot,
			     struct other_stack_place *ret)
{
	uint64_t g = word_at(s, slot), depth, code;

	if (g % 32 || g >> 47 || g >> 20 == 0 || !word_near(s, slot, shape->depth, &depth) || !depth || depth % 8 ||
	    depth > DEPTH_MAX || holds(s, g))
		return false;
	if (shape->code && s->proc && (!word_near(s, slot, shape->code, &code) || !process_is_code(s->proc, code)))
		return false;
	*ret = (struct other_stack_place){ .goroutine = g, .depth = depth };
	keep_proof(s, shape->depth < 0 ? slot - 1 : slot, ret);
	for (size_t i = 2; i < OTHER_STACK_PROOF; i++)
		ret->proof[i] = 0;
	return true;
}

bool other_stack_find(const struct other_stack_snapshot *s, size_t *slot, struct other_stack_place *ret)
{
	const struct frame_shape *shape = shapes;

	while (shape < shapes + ARRAY_LEN(shapes) && shape->arch != s->arch)
		shape++;
	if (shape == shapes + ARRAY_LEN(shapes))
		return false;
	while (*slot < s->nwords) {
		size_t i = (*slot)++;

		if (word_at(s, i) == shape->mark ? is_signal_frame(s, shape, i, ret) : may_be_goroutine(s, shape, i, ret))
			return true;
	}
	return false;
}

bool other_stack_is_goroutine(const struct task_memory *mem, uint64_t goroutine)
{
	uint64_t g[G_WORDS];

	return task_memory_read(mem, goroutine, g, sizeof(g)) == sizeof(g) && g[G_SELF] == goroutine && g[G_LO] < g[G_HI] &&
	       g[G_LO] % 2048 == 0 && g[G_HI] % 2048 == 0;
}

/* Where the goroutine's stack was left and ends, if it says itself that it called what does not run on it. */
static bool ask_goroutine(const struct task_memory *mem, const struct other_stack_place *place, uint64_t *ret_sp,
			  uint64_t *ret_end)
{
	uint64_t g[G_WORDS];

	if (task_memory_read(mem, place->goroutine, g, sizeof(g)) != sizeof(g))
		return false;
	*ret_sp = g[G_SP];
	*ret_end = g[G_HI];
	return g[G_SELF] == place->goroutine && g[G_LO] < g[G_SP] && g[G_SP] < g[G_HI] &&
	       g[G_HI] - g[G_SP] == place->depth && g[G_SP] % 8 == 0 && g[G_HI] % 8 == 0;
}

static bool is_unchanged(const struct task_memory *mem, const struct other_stack_place *place)
{
	uint64_t now[OTHER_STACK_PROOF];

	if (task_memory_read(mem, place->proof_at, now, sizeof(now)) != sizeof(now))
		return false;
	for (size_t i = 0; i < OTHER_STACK_PROOF; i++)
		if (place->proof[i] && now[i] != place->proof[i])
			return false;
	return true;
}

/* Small numbers are no addresses; what else is none, pruning finds out. */
static void take_words(const uint64_t *words, size_t count, struct other_stack *ret)
{
	for (size_t i = 0; i < count; i++) {
		if (words[i] < 4096)
			continue;
		ret->slots[ret->nwords] = (uint32_t)i;
		ret->words[ret->nwords] = words[i];
		ret->nwords++;
	}
}

bool other_stack_read(const struct task_memory *mem, struct other_stack_place place, struct other_stack *ret)
{
	uint64_t words[OTHER_STACK_WORDS_MAX], sp = place.sp, end = 0;
	size_t room = sizeof(words), got;

	if (place.goroutine && !ask_goroutine(mem, &place, &sp, &end))
		return false;
	sp = (sp + 7) & ~7ULL;
	if (end && end - sp < room)
		room = (size_t)(end - sp);
	got = task_memory_read(mem, sp, words, room) & ~(size_t)7;
	if (!got || !is_unchanged(mem, &place))
		return false;
	ret->base = sp;
	ret->end = sp + got;
	ret->cut = got == sizeof(words) && ret->end != end;
	ret->nwords = 0;
	take_words(words, got / 8, ret);
	return true;
}

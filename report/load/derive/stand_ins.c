/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stand_ins.c - sums of what has no stack, and a list of what has one: few, since stacks are few.
 */
#include "report/load/derive/stand_ins.h"

#include <stdlib.h>

struct stand_in {
	uint32_t kind;
	unsigned length; /* class */
	struct derived span;
};

struct without_stack {
	uint32_t kind;
	unsigned length;     /* class */
	struct derived span; /* the first of them, with the weight of all */
};

void stand_ins_deinit(struct stand_ins *s)
{
	vec_deinit(&s->with);
	vec_deinit(&s->without);
}

/* Of spans in one class the longest took less than four times as long as the shortest. */
static unsigned length_class(uint64_t len_ns)
{
	return len_ns ? (63u - (unsigned)__builtin_clzll(len_ns)) / 2 : 0;
}

void stand_ins_keep(struct stand_ins *s, uint32_t kind, uint64_t len_ns, const struct derived *span)
{
	vec_push(&s->with, ((struct stand_in){ kind, length_class(len_ns), *span }));
}

void stand_ins_add(struct stand_ins *s, uint32_t kind, uint64_t len_ns, const struct derived *span)
{
	unsigned length = length_class(len_ns);

	for (size_t i = 0; i < s->without.len; i++) {
		struct without_stack *at = &s->without.items[i];

		if (at->kind == kind && at->length == length) {
			at->span.weight += span->weight;
			return;
		}
	}
	vec_push(&s->without, ((struct without_stack){ kind, length, *span }));
	s->without.items[s->without.len - 1].span.waker = PROFILE_NONE; /* each had its own */
}

static bool is_like(const struct stand_in *with, const struct without_stack *without)
{
	return with->kind == without->kind && with->length == without->length;
}

static uint64_t weight_of_like(const struct stand_ins *s, const struct without_stack *without)
{
	uint64_t all_ns = 0;

	for (size_t i = 0; i < s->with.len; i++)
		all_ns += is_like(&s->with.items[i], without) ? s->with.items[i].span.weight : 0;
	return all_ns;
}

/* Returns what went to others. */
static uint64_t share_out(const struct stand_ins *s, const struct without_stack *without,
			  void (*put)(void *context, const struct derived *span), void *context)
{
	uint64_t left_ns = without->span.weight, all_ns = weight_of_like(s, without);
	double factor = all_ns ? (double)left_ns / (double)all_ns : 0;

	if (!all_ns) {
		put(context, &without->span);
		return 0;
	}
	for (size_t i = 0; i < s->with.len && left_ns; i++) {
		struct derived more = s->with.items[i].span;

		if (!is_like(&s->with.items[i], without))
			continue;
		all_ns -= more.weight;
		/* The last one takes what rounding left. */
		more.weight = all_ns ? MIN((uint64_t)(factor * (double)more.weight), left_ns) : left_ns;
		more.more = true;
		left_ns -= more.weight;
		put(context, &more);
	}
	return without->span.weight;
}

uint64_t stand_ins_share_out(struct stand_ins *s, void (*put)(void *context, const struct derived *span), void *context)
{
	uint64_t estimated_ns = 0;

	for (size_t i = 0; i < s->without.len; i++)
		estimated_ns += share_out(s, &s->without.items[i], put, context);
	s->with.len = s->without.len = 0;
	return estimated_ns;
}

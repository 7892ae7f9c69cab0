/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stand_ins.c - sums of what has no stack, and a list of what has one: few, since stacks are few.
 */
#include "report/load/derive/stand_ins.h"

#include <math.h>
#include <stdlib.h>

#define CLASSES	  32
#define ANY_CLASS CLASSES

struct stand_in {
	uint32_t kind;
	unsigned length; /* class */
	struct derived span;
};

struct without_stack {
	uint32_t kind;
	unsigned length;     /* class */
	struct derived span; /* the first of them, with the weight of all */
	uint64_t single_ns;  /* of it: of spans that are known one by one */
	double single_sq;    /* sum of the squares of those */
};

void stand_ins_deinit(struct stand_ins *s)
{
	vec_deinit(&s->with);
	vec_deinit(&s->without);
}

/* Of spans in one class the longest took less than four times as long as the shortest. */
static unsigned length_class(uint64_t len_ns)
{
	if (len_ns == STAND_INS_ANY_LENGTH)
		return ANY_CLASS;
	return len_ns ? (63u - (unsigned)__builtin_clzll(len_ns)) / 2 : 0;
}

void stand_ins_keep(struct stand_ins *s, uint32_t kind, uint64_t len_ns, const struct derived *span)
{
	vec_push(&s->with, ((struct stand_in){ kind, length_class(len_ns), *span }));
}

static struct without_stack *find_without(struct stand_ins *s, uint32_t kind, unsigned length, const struct derived *span)
{
	for (size_t i = 0; i < s->without.len; i++)
		if (s->without.items[i].kind == kind && s->without.items[i].length == length)
			return &s->without.items[i];

	struct without_stack fresh = { .kind = kind, .length = length, .span = *span };

	fresh.span.weight = 0;
	fresh.span.waker = PROFILE_NONE; /* each had its own */
	fresh.span.waker_stack = 0;
	vec_push(&s->without, fresh);
	return &s->without.items[s->without.len - 1];
}

void stand_ins_add(struct stand_ins *s, uint32_t kind, uint64_t len_ns, const struct derived *span)
{
	struct without_stack *at = find_without(s, kind, length_class(len_ns), span);

	at->span.weight += span->weight;
	if (len_ns == STAND_INS_ANY_LENGTH)
		return;
	at->single_ns += span->weight;
	at->single_sq += (double)span->weight * (double)span->weight;
}

static bool has_kind(uint32_t kind, const struct without_stack *without)
{
	return kind == without->kind || without->kind == STAND_INS_ANY_KIND;
}

static bool is_like(const struct stand_in *with, const struct without_stack *without)
{
	return has_kind(with->kind, without) && with->length == without->length;
}

/* The time of the spans that stand for @without, and the sum of the squares of their lengths. */
static uint64_t weight_of_like(const struct stand_ins *s, const struct without_stack *without, double *ret_sq)
{
	uint64_t all_ns = 0;

	*ret_sq = 0;
	for (size_t i = 0; i < s->with.len; i++) {
		double ns = (double)s->with.items[i].span.weight;

		if (!is_like(&s->with.items[i], without))
			continue;
		all_ns += s->with.items[i].span.weight;
		*ret_sq += ns * ns;
	}
	return all_ns;
}

/* F of stand_ins.h. Spans that are not known one by one are as long as those with a stack. */
static double variance_of(const struct without_stack *without, double with_ns, double with_sq)
{
	double ns = (double)without->span.weight, sums_ns = ns - (double)without->single_ns;

	return ns * ns * with_sq / (with_ns * with_ns) + without->single_sq + fmax(sums_ns, 0) * with_sq / with_ns;
}

/* Returns what went to others. */
static uint64_t share_out(const struct stand_ins *s, const struct without_stack *without,
			  void (*put)(void *context, const struct derived *span), void *context)
{
	double with_sq;
	uint64_t left_ns = without->span.weight, all_ns = weight_of_like(s, without, &with_sq);
	double factor = all_ns ? (double)left_ns / (double)all_ns : 0;
	double variance = all_ns ? variance_of(without, (double)all_ns, with_sq) / (double)all_ns : 0;

	if (!left_ns)
		return 0;
	if (!all_ns) {
		put(context, &without->span);
		return 0;
	}
	for (size_t i = 0; i < s->with.len && left_ns; i++) {
		struct derived more = s->with.items[i].span;

		if (!is_like(&s->with.items[i], without))
			continue;
		all_ns -= more.weight;
		more.variance = variance * (double)more.weight;
		/* The last one takes what rounding left. */
		more.weight = all_ns ? MIN((uint64_t)(factor * (double)more.weight), left_ns) : left_ns;
		more.more = true;
		more.state = without->span.state;
		left_ns -= more.weight;
		put(context, &more);
	}
	return without->span.weight;
}

/* Time of any length to where time of its kind is, class by class: what does not fit there has no stand-in. */
static void divide(struct stand_ins *s, size_t any)
{
	struct without_stack whole = s->without.items[any];
	uint64_t by_class[CLASSES] = { 0 }, all_ns = 0, left_ns = whole.span.weight;

	for (size_t i = 0; i < s->with.len; i++)
		if (has_kind(s->with.items[i].kind, &whole) && s->with.items[i].length != ANY_CLASS)
			by_class[s->with.items[i].length] += s->with.items[i].span.weight;
	for (size_t i = 0; i < s->without.len; i++)
		if (has_kind(s->without.items[i].kind, &whole) && s->without.items[i].length != ANY_CLASS)
			by_class[s->without.items[i].length] += s->without.items[i].span.weight;
	for (unsigned i = 0; i < CLASSES; i++)
		all_ns += by_class[i];

	double factor = (double)left_ns / (double)MAX(all_ns, 1);

	for (unsigned i = 0; i < CLASSES && all_ns; i++) {
		struct derived part = whole.span;

		if (!by_class[i])
			continue;
		all_ns -= by_class[i];
		part.weight = all_ns ? MIN((uint64_t)(factor * (double)by_class[i]), left_ns) : left_ns;
		left_ns -= part.weight;
		find_without(s, whole.kind, i, &part)->span.weight += part.weight;
	}
	s->without.items[any].span.weight = left_ns;
}

uint64_t stand_ins_share_out(struct stand_ins *s, void (*put)(void *context, const struct derived *span), void *context)
{
	uint64_t estimated_ns = 0;
	size_t count = s->without.len;

	for (size_t i = 0; i < count; i++)
		if (s->without.items[i].length == ANY_CLASS)
			divide(s, i);
	for (size_t i = 0; i < s->without.len; i++)
		estimated_ns += share_out(s, &s->without.items[i], put, context);
	s->with.len = s->without.len = 0;
	return estimated_ns;
}

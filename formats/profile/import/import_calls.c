/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_calls.c - the heaviest parts are followed from those that nobody calls; the rest is added where most of its function is.
 */
#include "formats/profile/import/import_calls.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"

#include <stdlib.h>
#include <string.h>

#define DEEPEST	   200	/* calls that are followed */
#define PART_LEAST 1e-5 /* of all: less is not followed */

struct call_function {
	struct import_callable is;
	bool open;		     /* on the way that is walked */
	double own, calls, called;   /* of the type at hand: itself, what it calls, what calls of it cost */
	size_t first_cost, ncosts, first_call, ncalls;
};

/* What a function cost at a line, or a call from there did. */
struct cost {
	struct import_cost of;
	size_t values;	 /* where they begin in calls.values, one a type */
	uint64_t value;	 /* of the type at hand */
	uint64_t given;	 /* of that, so far */
	uint32_t stack;	 /* that it was given to first; 0: none */
};

struct import_calls {
	struct profile *p;
	struct map function_ids; /* name, file, module and line mixed -> index + 1, chained by next */
	VEC(struct call_function) functions;
	VEC(uint32_t) next; /* of function_ids' chains */
	VEC(struct cost) costs, calls;
	VEC(uint64_t) values;
	uint32_t thread;
	uint32_t type; /* of the profile, at hand */
	double total; /* what is divided among stacks */
};

struct import_calls *import_calls_new(struct profile *p)
{
	struct import_calls *calls = memory_zeroed(1, sizeof(*calls));

	calls->p = p;
	calls->thread = import_thread(p, PROFILE_NONE, PROFILE_NONE, 0, 0);
	return calls;
}

void import_calls_free(struct import_calls *calls)
{
	if (!calls)
		return;
	map_deinit(&calls->function_ids);
	vec_deinit(&calls->functions);
	vec_deinit(&calls->next);
	vec_deinit(&calls->costs);
	vec_deinit(&calls->calls);
	vec_deinit(&calls->values);
	free(calls);
}

uint32_t import_calls_function(struct import_calls *in, const struct import_callable *function)
{
	uint64_t key = (uint64_t)function->name << 32 | (function->file ^ function->path << 16 ^ function->declared << 8);
	uint64_t *first = map_put(&in->function_ids, key, NULL);
	uint32_t at;

	for (at = (uint32_t)*first; at; at = in->next.items[at - 1])
		if (memcmp(&in->functions.items[at - 1].is, function, sizeof(*function)) == 0)
			return at - 1;
	vec_push(&in->functions, ((struct call_function){ .is = *function }));
	vec_push(&in->next, (uint32_t)*first);
	*first = in->functions.len;
	return (uint32_t)in->functions.len - 1;
}

void import_calls_cost(struct import_calls *in, const struct import_cost *of, const uint64_t *values, uint32_t ntypes)
{
	struct cost cost = { .of = *of, .values = in->values.len };

	if (of->callee == of->function) /* recursion is in its own costs */
		return;
	for (uint32_t i = 0; i < ntypes; i++)
		vec_push(&in->values, values[i]);
	if (of->callee == IMPORT_CALLS_SELF)
		vec_push(&in->costs, cost);
	else
		vec_push(&in->calls, cost);
}

bool import_calls_any(const struct import_calls *in)
{
	return in->calls.len > 0;
}

/* By function, and then the heaviest first, so that the light ones need not be looked at. */
static int heaviest_first(const void *a_, const void *b_)
{
	const struct cost *a = a_, *b = b_;
	int order = COMPARE(a->of.function, b->of.function);

	order = order ? order : COMPARE(b->value, a->value);
	return order ? order : COMPARE(a->values, b->values);
}

static void set_values(struct import_calls *in, struct cost *costs, size_t count, uint32_t type)
{
	for (size_t i = 0; i < count; i++) {
		costs[i].value = in->values.items[costs[i].values + type];
		costs[i].given = 0;
		costs[i].stack = 0;
	}
}

/* The function and all that it calls, or what its callers say that is. */
static double whole_of(const struct call_function *f)
{
	return MAX(f->own + f->calls, f->called);
}

/*
 * In doubles, which do not run over: what a function hands on to those that it calls is never more than it was given, so that the
 * parts that are followed are never more than 1 / PART_LEAST, whatever the file says.
 */
static void add_up(struct import_calls *in)
{
	in->total = 0;
	for (size_t i = 0; i < in->costs.len; i++) {
		struct call_function *f = &in->functions.items[in->costs.items[i].of.function];

		f->first_cost = f->ncosts++ ? f->first_cost : i;
		f->own += (double)in->costs.items[i].value;
	}
	for (size_t i = 0; i < in->calls.len; i++) {
		struct call_function *f = &in->functions.items[in->calls.items[i].of.function];

		f->first_call = f->ncalls++ ? f->first_call : i;
		f->calls += (double)in->calls.items[i].value;
		in->functions.items[in->calls.items[i].of.callee].called += (double)in->calls.items[i].value;
	}
	for (size_t i = 0; i < in->functions.len; i++)
		in->total += whole_of(&in->functions.items[i]) - in->functions.items[i].called;
}

static void prepare(struct import_calls *in, uint32_t type)
{
	set_values(in, in->costs.items, in->costs.len, type);
	set_values(in, in->calls.items, in->calls.len, type);
	vec_sort(&in->costs, heaviest_first);
	vec_sort(&in->calls, heaviest_first);
	for (size_t i = 0; i < in->functions.len; i++) {
		struct call_function *f = &in->functions.items[i];

		f->own = f->calls = f->called = 0;
		f->ncosts = f->ncalls = 0;
	}
	add_up(in);
}

static uint32_t stack_at(struct import_calls *in, uint32_t parent, uint32_t number, const struct import_cost *at)
{
	const struct import_callable *is = &in->functions.items[number].is;
	const char *path = profile_text(in->p, is->path);
	struct profile_function function = { .name = is->name, .file = is->file, .line = is->declared };
	struct profile_line line = { .line = at->line, .file = at->file };

	function.module = import_module(in->p, (struct json_text){ path, strlen(path) }, PROFILE_USER);
	line.function = profile_add_function(in->p, &function);
	return import_stack(in->p, parent, profile_add_named_location(in->p, is->kind, function.module, &line, 1));
}

static void add_sample(struct import_calls *in, uint32_t stack, uint64_t value)
{
	struct import_sample sample = { .stack = stack, .type = in->type, .thread = in->thread,
					.count = 1, .uncounted = true, .weight = (int64_t)value };

	import_sample(in->p, &sample);
}

/* @part of @function's costs is spent below @parent. */
static void walk(struct import_calls *in, uint32_t number, double part, uint32_t parent, unsigned depth)
{
	struct call_function *f = &in->functions.items[number];
	double least = MAX(1.0, in->total * PART_LEAST);

	for (size_t i = f->first_cost; i < f->first_cost + f->ncosts; i++) {
		struct cost *cost = &in->costs.items[i];
		uint64_t value = MIN((uint64_t)((double)cost->value * part), cost->value - cost->given);

		if (!cost->value || (double)cost->value * part < MIN(least, f->own * part))
			break;
		if (!value)
			continue;
		uint32_t stack = stack_at(in, parent, number, &cost->of);

		cost->stack = cost->stack ? cost->stack : stack;
		cost->given += value;
		add_sample(in, stack, value);
	}
	f->open = true;
	for (size_t i = f->first_call; i < f->first_call + f->ncalls && depth < DEEPEST; i++) {
		const struct cost *call = &in->calls.items[i];
		const struct call_function *callee = &in->functions.items[call->of.callee];

		if ((double)call->value * part < least)
			break;
		if (!callee->open)
			walk(in, call->of.callee, (double)call->value * part / whole_of(callee),
			     stack_at(in, parent, number, &call->of), depth + 1);
	}
	f->open = false;
}

static void add_type(struct import_calls *in, uint32_t type)
{
	prepare(in, type);
	for (uint32_t i = 0; i < in->functions.len; i++) {
		const struct call_function *f = &in->functions.items[i];
		double whole = whole_of(f);

		if (whole > f->called)
			walk(in, i, (whole - f->called) / whole, 0, 0);
	}
	for (size_t i = 0; i < in->costs.len; i++) {
		const struct cost *cost = &in->costs.items[i];

		if (cost->given < cost->value)
			add_sample(in, cost->stack ? cost->stack : stack_at(in, 0, cost->of.function, &cost->of),
				   cost->value - cost->given);
	}
}

void import_calls_finish(struct import_calls *in, const uint32_t *types, uint32_t ntypes)
{
	for (uint32_t i = 0; i < ntypes; i++) {
		in->type = types[i];
		add_type(in, i);
	}
}

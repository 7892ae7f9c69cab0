/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_frames.c - names tell: those of V8's builtins are symbols of its file; HotSpot's stubs ("StubRoutines (initial stubs)", "wrong_method_stub",
 * "C1 Runtime counter_overflow_blob") are code on a Java thread, one that libjvm.so has started, that is no method. Each function and each stack is
 * looked at once.
 */
#include "report/view/runtime_frames.h"

#include "formats/base/compiler.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"

#include <stdlib.h>
#include <string.h>

#define BUILTIN "Builtins_"
#define UNKNOWN "Builtins_InterpreterEntryTrampoline" /* the frame of an interpreted function, unless it is the innermost */

enum verdict { VERDICT_NONE, VERDICT_OTHER, VERDICT_STUB, VERDICT_BUILTIN, VERDICT_UNKNOWN };

struct runtime_frames {
	VEC(uint8_t) verdicts; /* enum verdict, by function */
	VEC(uint32_t) taken;   /* stacks from the leaf to the root */
	struct map stacks;     /* stack -> its other self */
};

struct runtime_frames *runtime_frames_new(void)
{
	return memory_zeroed(1, sizeof(struct runtime_frames));
}

void runtime_frames_free(struct runtime_frames *r)
{
	if (!r)
		return;
	vec_deinit(&r->verdicts);
	vec_deinit(&r->taken);
	map_deinit(&r->stacks);
	free(r);
}

static const struct profile_location *location_of(const struct profile *p, uint32_t stack)
{
	return &p->locations.items[p->stacks.items[stack].location];
}

bool runtime_frames_wants(const struct runtime_frames *r, const struct profile *p, uint32_t stack)
{
	if (map_get(&r->stacks, stack))
		return false;
	while (stack && location_of(p, stack)->kind != PROFILE_FRAME_JIT)
		stack = p->stacks.items[stack].parent;
	return stack;
}

/* Methods have their class in front ("java.util.List.of"), in whatever form: with HotSpot's blobs of code there is none. */
static bool is_stub(const char *name)
{
	return *name && *name != '[' && !strpbrk(name, ".:;") && strcmp(name, "Interpreter") != 0;
}

static enum verdict judge(const char *name)
{
	if (strcmp(name, UNKNOWN) == 0)
		return VERDICT_UNKNOWN;
	if (strncmp(name, BUILTIN, strlen(BUILTIN)) == 0)
		return VERDICT_BUILTIN;
	return is_stub(name) ? VERDICT_STUB : VERDICT_OTHER;
}

static enum verdict verdict_of(struct runtime_frames *r, const struct profile *p, uint32_t function)
{
	while (r->verdicts.len <= function)
		vec_push(&r->verdicts, VERDICT_NONE);
	if (!r->verdicts.items[function])
		r->verdicts.items[function] = (uint8_t)judge(profile_text(p, p->functions.items[function].name));
	return (enum verdict)r->verdicts.items[function];
}

static bool is_java(const struct profile *p, uint32_t stack)
{
	for (; stack; stack = p->stacks.items[stack].parent) {
		uint32_t module = location_of(p, stack)->module;

		if (module != PROFILE_NONE && strcmp(profile_text(p, p->modules.items[module].name), "libjvm.so") == 0)
			return true;
	}
	return false;
}

/*
 * Is the frame at @stack, the innermost if @is_leaf, the runtime's alone? With an inlined function it is that function's. @java: it is a Java
 * thread's stack.
 */
static bool is_inner(struct runtime_frames *r, const struct profile *p, uint32_t stack, bool is_leaf, bool java)
{
	const struct profile_location *at = location_of(p, stack);

	if (at->nlines != 1)
		return false;
	enum verdict verdict = verdict_of(r, p, p->lines.items[at->first_line].function);

	if (at->kind == PROFILE_FRAME_JIT)
		return verdict == VERDICT_STUB && java;
	return at->kind == PROFILE_FRAME_NATIVE && (verdict == VERDICT_BUILTIN || (verdict == VERDICT_UNKNOWN && is_leaf));
}

/* What remains of @stack in r->taken; was there a function that a runtime compiled? */
static bool take(struct runtime_frames *r, const struct profile *p, uint32_t stack)
{
	bool compiled = false, java = is_java(p, stack);

	r->taken.len = 0;
	for (bool is_leaf = true; stack; stack = p->stacks.items[stack].parent) {
		/* Of what the kernel did for it, the innermost frame is the one below that. */
		bool is_kernel = location_of(p, stack)->kind == PROFILE_FRAME_KERNEL;

		if (!is_inner(r, p, stack, is_leaf, java)) {
			vec_push(&r->taken, stack);
			compiled = compiled || location_of(p, stack)->kind == PROFILE_FRAME_JIT;
		}
		is_leaf = is_leaf && is_kernel;
	}
	return compiled;
}

static uint32_t rebuild(const struct runtime_frames *r, struct profile *p)
{
	uint32_t stack = 0;

	for (size_t i = r->taken.len; i-- > 0;) {
		struct profile_stack old = p->stacks.items[r->taken.items[i]];

		stack = profile_add_stack(p, stack, old.location, (enum profile_how)old.how);
	}
	return stack;
}

uint32_t runtime_frames_fold(struct runtime_frames *r, struct profile *p, uint32_t stack)
{
	const uint64_t *known = map_get(&r->stacks, stack);
	uint32_t other = stack;

	if (known)
		return (uint32_t)*known;
	if (!runtime_frames_wants(r, p, stack))
		return stack;
	if (take(r, p, stack))
		other = rebuild(r, p);
	*map_put(&r->stacks, stack, NULL) = other;
	return other;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_runtime_frames.c - stacks of JavaScript and Java with what their runtimes put between the functions.
 */
#include "report/view/runtime_frames.h"

#include "tests/unit/test.h"

#include <string.h>

/* A stack of @names, root first: those that begin with '+' were compiled at run time, those with '*' are the kernel's. */
static uint32_t add_names(struct profile *p, const char *file, const char *names)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile_module module = { .name = profile_string(p, file), .path = profile_string(p, file) };
	uint32_t number = profile_add_module(p, &module);
	char *rest = arena_strdup(&arena, names);
	uint32_t stack = 0;

	while (rest) {
		const char *name = strsep(&rest, " ");
		enum profile_frame_kind kind = *name == '+' ? PROFILE_FRAME_JIT : *name == '*' ? PROFILE_FRAME_KERNEL : PROFILE_FRAME_NATIVE;
		uint32_t of = kind == PROFILE_FRAME_NATIVE ? number : PROFILE_NONE;
		struct profile_function function = { .name = profile_string(p, name + (kind != PROFILE_FRAME_NATIVE)), .module = of };
		struct profile_line line = { .function = profile_add_function(p, &function) };
		uint32_t location = profile_add_named_location(p, kind, of, &line, 1);

		stack = profile_add_stack(p, stack, location, PROFILE_HOW_SURE);
	}
	return stack;
}

static const char *names_of(const struct profile *p, uint32_t stack, struct arena *arena)
{
	const char *text = "";

	for (; stack; stack = p->stacks.items[stack].parent) {
		const struct profile_location *at = &p->locations.items[p->stacks.items[stack].location];

		for (uint32_t i = 0; i < at->nlines; i++)
			text = arena_printf(arena, "%s%s%s",
					    profile_text(p, p->functions.items[p->lines.items[at->first_line + i].function].name),
					    *text ? " " : "", text);
	}
	return text;
}

TEST(stacks_lose_the_frames_that_are_a_runtimes_alone)
{
	static const struct {
		const char *file, *stack, *expected;
	} cases[] = {
		{ "node", "Invoke Builtins_JSEntry +main Builtins_ArrayMap +scale Builtins_LoadIC", "Invoke main scale" },
		{ "node", "Invoke Builtins_JSEntry +main Builtins_CEntry v8::Runtime_Parse", "Invoke main v8::Runtime_Parse" },
		{ "node", "Invoke Builtins_RunMicrotasks", "Invoke Builtins_RunMicrotasks" }, /* nothing was compiled */
		/* a function whose name is not known, unless it is just being entered */
		{ "node", "+main Builtins_InterpreterEntryTrampoline +scale", "main Builtins_InterpreterEntryTrampoline scale" },
		{ "node", "+main Builtins_InterpreterEntryTrampoline", "main" },
		{ "node", "+main Builtins_InterpreterEntryTrampoline *asm_exc_page_fault *fault", "main asm_exc_page_fault fault" },
		{ "libjvm.so", "JavaMain +StubRoutines(1) +App.main +wrong_method_stub resolve", "JavaMain App.main resolve" },
		{ "libjvm.so", "JavaMain +StubRoutines(1) +App.main +I2C/C2I_adapters", "JavaMain App.main" },
		{ "libjvm.so", "JavaMain +StubRoutines(1) +Interpreter +App.run", "JavaMain Interpreter App.run" },
		{ "libjvm.so", "JavaMain +[jit,gone] +Lapp/App;::main", "JavaMain [jit,gone] Lapp/App;::main" },
		{ "libjvm.so", "JavaMain +StubRoutines(1)", "JavaMain StubRoutines(1)" },
		{ "lli", "main +fib +fib", "main fib fib" }, /* another compiler's functions have such names */
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_deinit) struct arena arena = { 0 };
		struct profile *p = profile_new();
		struct runtime_frames *r = runtime_frames_new();
		uint32_t stack = add_names(p, cases[i].file, cases[i].stack), folded;

		CHECK(runtime_frames_wants(r, p, stack) == (strchr(cases[i].stack, '+') != NULL));
		folded = runtime_frames_fold(r, p, stack);
		CHECK_STR(names_of(p, folded, &arena), cases[i].expected);
		CHECK(!runtime_frames_wants(r, p, stack));
		CHECK_UINT(runtime_frames_fold(r, p, stack), folded);
		CHECK_UINT(runtime_frames_fold(r, p, folded), folded);
		runtime_frames_free(r);
		profile_free(p);
	}
}

/* An inlined function has its own line at the same address: what is left of a virtual thread's frames in the heap. */
TEST(a_stub_with_a_function_of_its_own_stays)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p = profile_new();
	struct runtime_frames *r = runtime_frames_new();
	struct profile_function stub = { .name = profile_string(p, "StubRoutines"), .module = PROFILE_NONE },
				frozen = { .name = profile_string(p, "[frozen]"), .module = PROFILE_NONE };
	struct profile_line lines[] = { { .function = profile_add_function(p, &frozen) }, { .function = profile_add_function(p, &stub) } };
	uint32_t stack = add_names(p, "libjvm.so", "JavaMain +Continuation.run");

	stack = profile_add_stack(p, stack, profile_add_named_location(p, PROFILE_FRAME_JIT, PROFILE_NONE, lines, 2), PROFILE_HOW_SURE);
	CHECK_STR(names_of(p, runtime_frames_fold(r, p, stack), &arena), "JavaMain Continuation.run StubRoutines [frozen]");
	runtime_frames_free(r);
	profile_free(p);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_names.c - names for the addresses of the profile, each distinct one once.
 *
 * In order of module and address: what lies together in the debug information is read together.
 */
#include "report/load/session_names.h"

#include "report/print/number.h"
#include "report/load/session.h"
#include "symbolize/name/name_ahead.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* "[cc1+0x57a30]" where unwind tables at least tell where the function begins, otherwise "[cc1]". */
static const char *made_up_name(struct session *s, uint32_t module, uint64_t vaddr)
{
	const char *of = profile_text(s->profile, profile_module(s->profile, module)->name);

	if (*of == '[')
		return of;
	if (!vaddr)
		return arena_printf(&s->arena, "[%s]", of);
	return arena_printf(&s->arena, "[%s+0x%" PRIx64 "]", of, vaddr);
}

static uint32_t function_of(struct session *s, uint32_t module, const struct symbol_frame *frame)
{
	struct profile *p = s->profile;
	const char *name = frame->function;
	struct profile_function function = {
		.linkage_name = profile_string(p, frame->linkage_name ? frame->linkage_name : ""),
		.module = module,
		.file = profile_string(p, frame->function_file ? frame->function_file : ""),
		.line = frame->function_line,
		.unnamed = !name,
	};

	if (!name)
		name = made_up_name(s, module, frame->function_vaddr);
	function.name = profile_string(p, name);
	return profile_add_function(p, &function);
}

void session_name(struct session *s, uint32_t location)
{
	struct profile *p = s->profile;
	uint32_t module = p->locations.items[location].module;
	uint64_t vaddr = p->locations.items[location].vaddr;
	size_t count;
	const struct symbol_frame *frames;
	VEC(struct profile_line) lines = { 0 };

	if (p->locations.items[location].nlines)
		return;
	frames = symbolizer_find(s->symbolizer, s->session_modules.items[module], vaddr, &count);
	for (size_t i = 0; i < count; i++) {
		struct profile_line line = {
			.function = function_of(s, module, &frames[i]),
			.file = profile_string(p, frames[i].file ? frames[i].file : ""),
			.line = frames[i].line,
		};

		vec_push(&lines, line);
	}
	profile_set_lines(p, location, lines.items, (uint32_t)lines.len);
	vec_deinit(&lines);
}

static int compare_locations(const void *a, const void *b, void *context)
{
	const struct profile *p = context;
	const struct profile_location *la = &p->locations.items[*(const uint32_t *)a];
	const struct profile_location *lb = &p->locations.items[*(const uint32_t *)b];

	if (la->module != lb->module)
		return la->module < lb->module ? -1 : 1;
	return la->vaddr < lb->vaddr ? -1 : la->vaddr > lb->vaddr;
}

/* Mark @index of @count; was it marked before? */
static bool mark(struct session_marks *marks, uint32_t index, size_t count)
{
	if (marks->of.len <= index) {
		size_t more = count - marks->of.len;

		vec_reserve(&marks->of, more);
		memset(marks->of.items + marks->of.len, 0, more * sizeof(*marks->of.items));
		marks->of.len = count;
	}
	bool before = marks->of.items[index];

	marks->of.items[index] = true;
	return before;
}

static void ask_ahead(struct session *s, uint32_t location)
{
	const struct profile_location *l = &s->profile->locations.items[location];

	name_ahead_ask(s->ahead, session_module(s, l->module), l->vaddr);
}

/* The kernel's part of a stack is short, and tells which way the kernel was entered. */
static bool is_kernel(const struct profile *p, uint32_t stack)
{
	uint32_t module = p->locations.items[p->stacks.items[stack].location].module;

	return profile_module(p, module)->kind == PROFILE_KERNEL;
}

/*
 * Mark the locations of a stack that will be looked at; with all threads at work, have them named at once. That a stack was
 * seen ends a whole walk where another has been.
 */
static void want_stack(struct session *s, struct session_wanted *wanted, uint32_t stack)
{
	const struct profile *p = s->profile;
	bool all = s->names == SESSION_NAME_ALL;
	unsigned depth = s->names == SESSION_NAME_CALLERS ? 2 : s->names == SESSION_NAME_LEAVES;

	for (unsigned i = 0; stack && (all || i < depth || (depth && is_kernel(p, stack))); i++) {
		uint32_t location = p->stacks.items[stack].location;

		if (all && mark(&wanted->stacks, stack, p->stacks.len))
			return;
		if (!p->locations.items[location].nlines &&
		    !mark(&wanted->locations, location, p->locations.len)) {
			vec_push(&wanted->order, location);
			if (s->ahead)
				ask_ahead(s, location);
		}
		stack = p->stacks.items[stack].parent;
	}
}

static void show_progress(struct session *s, size_t done, size_t count)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	progress_show(&s->progress, arena_printf(&arena, "names of %s addresses: %zu %%",
						 number_count(&arena, count), 100 * done / count));
}

/* Meanwhile others look up what is in the modules behind. */
static void wait_for_names(struct session *s, uint32_t location)
{
	if (s->ahead)
		name_ahead_wait(s->ahead,
				session_module(s, s->profile->locations.items[location].module));
}

void session_name_ahead(struct session *s, uint32_t stack)
{
	want_stack(s, &s->wanted, stack);
}

void session_name_samples(struct session *s)
{
	struct profile *p = s->profile;
	struct session_wanted *wanted = &s->wanted;

	for (size_t i = 0; i < p->samples.len; i++)
		want_stack(s, wanted, p->samples.items[i].stack);
	if (s->ahead)
		name_ahead_begin(s->ahead);
	if (wanted->order.len > 1)
		qsort_r(wanted->order.items, wanted->order.len, sizeof(*wanted->order.items),
			compare_locations, p);
	for (size_t i = 0; i < wanted->order.len; i++) {
		if (progress_due(&s->progress))
			show_progress(s, i, wanted->order.len);
		wait_for_names(s, wanted->order.items[i]);
		session_name(s, wanted->order.items[i]);
	}
	progress_end(&s->progress);
	session_wanted_deinit(wanted);
}

void session_wanted_deinit(struct session_wanted *wanted)
{
	vec_deinit(&wanted->locations.of);
	vec_deinit(&wanted->stacks.of);
	vec_deinit(&wanted->order);
}

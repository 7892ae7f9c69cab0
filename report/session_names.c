/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_names.c - names for the addresses of the profile, each distinct one once.
 *
 * In order of module and address: what lies together in the debug information is read together.
 */
#include "report/number.h"
#include "report/session.h"
#include "symbolize/name_ahead.h"

#include <inttypes.h>
#include <stdlib.h>

/* "[cc1+0x57a30]" where unwind tables at least tell where the function begins, otherwise "[cc1]". */
static const char *made_up_name(struct session *s, uint32_t module, uint64_t vaddr)
{
	const char *of = profile_text(s->profile, s->profile->modules.items[module].name);

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

/*
 * Mark the locations of a stack that will be looked at. @seen, by stack, ends a whole walk where another has been.
 */
static void want_stack(const struct session *s, uint32_t stack, bool *wanted, bool *seen)
{
	const struct profile *p = s->profile;
	bool all = s->names == SESSION_NAME_ALL;
	unsigned depth = s->names == SESSION_NAME_CALLERS ? 2 : s->names == SESSION_NAME_LEAVES;

	for (unsigned i = 0; stack && (all || i < depth); i++) {
		if (all && seen[stack])
			return;
		seen[stack] = true;
		wanted[p->stacks.items[stack].location] = true;
		stack = p->stacks.items[stack].parent;
	}
}

static void show_progress(struct session *s, size_t done, size_t count)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	progress_show(&s->progress, arena_printf(&arena, "names of %s addresses: %zu %%",
						 number_count(&arena, count), 100 * done / count));
}

/* Have the other threads look up what session_name() is going to ask for, in the same order. */
static void look_up_ahead(struct session *s, const uint32_t *order, size_t count)
{
	const struct profile_location *locations = s->profile->locations.items;
	uint64_t *vaddrs = memory_alloc(MAX(count, 1) * sizeof(*vaddrs));

	for (size_t i = 0, end; i < count; i = end) {
		uint32_t module = locations[order[i]].module;

		for (end = i; end < count && locations[order[end]].module == module; end++)
			vaddrs[end] = locations[order[end]].vaddr;
		name_ahead_look_up(s->ahead, session_module(s, module), vaddrs + i, end - i);
	}
	name_ahead_wait(s->ahead);
	free(vaddrs);
}

void session_name_samples(struct session *s)
{
	struct profile *p = s->profile;
	bool *wanted = memory_zeroed(p->locations.len + 1, sizeof(*wanted));
	bool *seen = memory_zeroed(p->stacks.len, sizeof(*seen));
	VEC(uint32_t) order = { 0 };

	for (size_t i = 0; i < p->samples.len; i++)
		want_stack(s, p->samples.items[i].stack, wanted, seen);
	for (uint32_t i = 0; i < p->locations.len; i++) {
		if (wanted[i])
			vec_push(&order, i);
	}
	if (order.len > 1) /* by address: what lies together is read together */
		qsort_r(order.items, order.len, sizeof(*order.items), compare_locations, p);
	if (s->ahead)
		look_up_ahead(s, order.items, order.len);
	for (size_t i = 0; i < order.len; i++) {
		if (progress_due(&s->progress))
			show_progress(s, i, order.len);
		session_name(s, order.items[i]);
	}
	progress_end(&s->progress);
	vec_deinit(&order);
	free(wanted);
	free(seen);
}

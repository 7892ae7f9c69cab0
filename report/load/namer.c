/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namer.c - names for the addresses of the profile, each distinct one once.
 *
 * In order of module and address: what lies together in the debug information is read together.
 */
#include "report/load/namer.h"

#include "formats/code_place.h"
#include "report/load/derive/derive_kind.h"
#include "report/view/runtime_work.h"

#include "report/print/number.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* "[cc1+0x57a30]" where unwind tables at least tell where the function begins, otherwise "[cc1]". */
static const char *made_up_name(struct namer *namer, uint32_t module, uint64_t vaddr)
{
	const char *of = profile_text(namer->profile, profile_module(namer->profile, module)->name);

	if (*of == '[')
		return of;
	if (!vaddr)
		return arena_printf(&namer->arena, "[%s]", of);
	return arena_printf(&namer->arena, "[%s+0x%" PRIx64 "]", of, vaddr);
}

/* Code that is made at run time is made again elsewhere, and is the same function. */
static bool has_fixed_addresses(const struct profile *p, uint32_t module)
{
	return p->modules.items[module].kind == PROFILE_USER ||
	       p->modules.items[module].kind == PROFILE_KERNEL;
}

static uint32_t function_of(struct namer *namer, uint32_t module, uint64_t vaddr, const struct symbol_frame *frame)
{
	struct profile *p = namer->profile;
	const char *name = frame->function;
	struct profile_function function = {
		.linkage_name = profile_string(p, frame->linkage_name ? frame->linkage_name : ""),
		.module = module,
		.file = profile_string(p, frame->function_file ? frame->function_file : ""),
		.line = frame->function_line,
		.unnamed = !name,
	};

	if (name && !frame->inlined && !function.file && has_fixed_addresses(p, module))
		function.vaddr = frame->function_vaddr;
	if (!name && p->modules.items[module].kind == PROFILE_JIT && code_place_is_unknown(vaddr))
		name = "[jit, gone before it was read]";
	else if (!name)
		name = made_up_name(namer, module, frame->function_vaddr);
	function.name = profile_string(p, name);
	return profile_add_function(p, &function);
}

void namer_name(struct namer *namer, uint32_t location)
{
	struct profile *p = namer->profile;
	uint32_t module = p->locations.items[location].module;
	uint64_t vaddr = p->locations.items[location].vaddr;
	size_t count;
	const struct symbol_frame *frames;
	VEC(struct profile_line) lines = { 0 };

	if (p->locations.items[location].nlines)
		return;
	frames = symbolizer_find(namer->symbolizer, namer->modules.items[module], vaddr, &count);
	for (size_t i = 0; i < count; i++) {
		struct profile_line line = {
			.function = function_of(namer, module, vaddr, &frames[i]),
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
	return COMPARE(la->vaddr, lb->vaddr);
}

/* Mark @index of @count; was it marked before? */
static bool mark(struct namer_marks *marks, uint32_t index, size_t count)
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

static void ask_ahead(struct namer *namer, uint32_t location)
{
	const struct profile_location *l = &namer->profile->locations.items[location];

	name_ahead_ask(namer->ahead, namer->modules.items[l->module], l->vaddr);
}

static void want_location(struct namer *namer, uint32_t location)
{
	const struct profile *p = namer->profile;

	if (mark(&namer->locations, location, p->locations.len) ||
	    !p->locations.items[location].has_vaddr)
		return;
	vec_push(&namer->order, location);
	if (namer->ahead)
		ask_ahead(namer, location);
}

/* The kernel's part of a stack is short, and tells which way the kernel was entered. */
static bool is_kernel(const struct profile *p, uint32_t stack)
{
	return p->locations.items[p->stacks.items[stack].location].kind == PROFILE_FRAME_KERNEL;
}

/* From @stack up, the frames of runtimes: their names say what work it was. */
static void want_runtimes(struct namer *namer, uint32_t stack)
{
	const struct profile *p = namer->profile;

	for (; stack && !mark(&namer->callers, stack, p->stacks.len); stack = p->stacks.items[stack].parent) {
		uint32_t location = p->stacks.items[stack].location, module = p->locations.items[location].module;

		if (module < namer->runtimes.len && namer->runtimes.items[module])
			want_location(namer, location);
	}
}

/* From @stack up, all of them; callers of a stack that was here before are done. */
static void want_all(struct namer *namer, uint32_t stack)
{
	const struct profile *p = namer->profile;

	for (; stack && !mark(&namer->stacks, stack, p->stacks.len); stack = p->stacks.items[stack].parent)
		want_location(namer, p->stacks.items[stack].location);
}

void namer_want(struct namer *namer, uint32_t stack, bool waits)
{
	const struct profile *p = namer->profile;

	if (namer->depth == NAMER_NONE)
		return;
	if (namer->depth == NAMER_ALL || waits) {
		want_all(namer, stack);
		return;
	}
	for (unsigned i = 0; stack && (i < namer->depth || is_kernel(p, stack)); i++) {
		want_location(namer, p->stacks.items[stack].location);
		stack = p->stacks.items[stack].parent;
	}
	if (namer->runtimes.len)
		want_runtimes(namer, stack);
}

static void show_progress(struct progress *progress, size_t done, size_t count)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	progress_show(progress, arena_printf(&arena, "names of %s addresses: %zu %%",
					     number_count(&arena, count), 100 * done / count));
}

/* Meanwhile others look up what is in the modules behind. */
static void wait_for_names(struct namer *namer, uint32_t location)
{
	if (namer->ahead)
		name_ahead_wait(namer->ahead,
				namer->modules.items[namer->profile->locations.items[location].module]);
}

static void forget_wanted(struct namer *namer)
{
	vec_deinit(&namer->locations.of);
	vec_deinit(&namer->stacks.of);
	vec_deinit(&namer->callers.of);
	vec_deinit(&namer->order);
}

/* Stacks that labels of waits refer to. */
static void want_wakers(struct namer *namer)
{
	struct profile *p = namer->profile;
	uint32_t key = profile_string(p, DERIVE_WAKER_STACK);

	for (size_t i = 0; i < p->labels.len; i++)
		if (p->labels.items[i].key == key)
			namer_want(namer, (uint32_t)p->labels.items[i].number, /* whole= */ true);
}

void namer_name_samples(struct namer *namer, struct progress *progress)
{
	struct profile *p = namer->profile;

	for (size_t i = 0; i < p->samples.len; i++)
		namer_want(namer, p->samples.items[i].stack,
			   p->samples.items[i].state != PROFILE_STATE_NONE);
	want_wakers(namer);
	if (namer->ahead)
		name_ahead_begin(namer->ahead);
	if (namer->order.len > 1)
		qsort_r(namer->order.items, namer->order.len, sizeof(*namer->order.items),
			compare_locations, p);
	for (size_t i = 0; i < namer->order.len; i++) {
		if (progress_due(progress))
			show_progress(progress, i, namer->order.len);
		wait_for_names(namer, namer->order.items[i]);
		namer_name(namer, namer->order.items[i]);
	}
	progress_end(progress);
	forget_wanted(namer);
}

void namer_set_module(struct namer *namer, uint32_t number, struct module *mod)
{
	while (namer->modules.len <= number)
		vec_push(&namer->modules, NULL);
	namer->modules.items[number] = mod;
	if (!mod->path || !runtime_work_is_module(mod->path))
		return;
	while (namer->runtimes.len <= number)
		vec_push(&namer->runtimes, false);
	namer->runtimes.items[number] = true;
}

void namer_deinit(struct namer *namer)
{
	forget_wanted(namer);
	vec_deinit(&namer->modules);
	vec_deinit(&namer->runtimes);
	arena_deinit(&namer->arena);
}

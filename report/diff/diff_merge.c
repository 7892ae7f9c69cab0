/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_merge.c - tables of one profile are mapped to those of the merged one in the order in which they refer to each
 * other: modules, functions, locations, stacks, rows.
 */
#include "report/diff/diff_merge.h"

#include "formats/base/path.h"
#include "formats/profile/same_names.h"

#include "report/diff/stable_names.h"

#include <inttypes.h>
#include <string.h>

/* From numbers of one recording's profile to numbers of the merged one. */
struct translation {
	struct diff_merge *merge;
	const struct profile *from;
	uint32_t side;
	struct arena arena;
	uint32_t *modules, *functions, *locations, *stacks;
};

void diff_merge_init(struct diff_merge *merge, const struct opt_list *same)
{
	*merge = (struct diff_merge){ .profile = profile_new(), .same = same };
}

void diff_merge_deinit(struct diff_merge *merge)
{
	profile_free(merge->profile);
	strtab_deinit(&merge->build_ids);
	map_deinit(&merge->builds);
	map_deinit(&merge->apart);
	vec_deinit(&merge->numbers);
	map_deinit(&merge->number_of);
	map_deinit(&merge->renumbered);
	map_deinit(&merge->kernel_places);
	map_deinit(&merge->kernel_slides);
	arena_deinit(&merge->arena);
	vec_deinit(&merge->rows);
	vec_deinit(&merge->events);
	vec_deinit(&merge->first_row);
}

/* The name of a module in all recordings: of two that the user calls the same, the first. */
static const char *module_name(struct diff_merge *merge, const char *name)
{
	name = stable_names_module(&merge->arena, name);
	for (size_t i = 0; i < merge->same->len; i++) {
		const char *pair = merge->same->items[i], *equals = strchr(pair, '=');

		if (equals && strcmp(path_last_part(equals + 1), name) == 0)
			return path_last_part(
				arena_memdup(&merge->arena, pair, (size_t)(equals - pair)));
	}
	return name;
}

/* Of two functions of one name one recording may have samples of one only, which it does not tell apart then. */
static uint64_t name_key(struct diff_merge *merge, const struct profile *from, uint32_t number)
{
	const struct profile_function *function = &from->functions.items[number];
	const char *module = profile_text(from, profile_module(from, function->module)->name);

	return (uint64_t)profile_string(merge->profile, same_names_plain(from, number)) << 32 |
	       profile_string(merge->profile, *module ? module_name(merge, module) : "");
}

static uint64_t text_key(struct diff_merge *merge, const char *name, uint64_t module)
{
	return (uint64_t)profile_string(merge->profile, name) << 32 | (uint32_t)module;
}

/* The recording has a function of that module called @numbered, which is @without where numbers do not count. */
static void note_numbered(struct diff_merge *merge, uint64_t module, const char *numbered, const char *without)
{
	uint32_t side = merge->nlooked;
	bool is_new;
	uint64_t *index = map_put(&merge->number_of, text_key(merge, numbered, module), &is_new);

	if (is_new) {
		*index = merge->numbers.len + 1;
		vec_push(&merge->numbers, ((struct diff_merge_number){ text_key(merge, without, module), UINT32_MAX, 0 }));
	}

	struct diff_merge_number *have = &merge->numbers.items[*index - 1];

	have->nsides += have->last != side;
	have->last = side;
}

static void look_at_number(struct diff_merge *merge, const struct profile *from, uint32_t number)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *plain = same_names_plain(from, number);
	const char *numbered = stable_names_numbered(&arena, plain), *without = stable_names_function(&arena, plain);
	const char *name = profile_text(from, from->functions.items[number].name);
	const char *without_line = same_names_without_line(from, number, &arena);

	if (strcmp(numbered, without) != 0)
		note_numbered(merge, name_key(merge, from, number), numbered, without);
	if (strcmp(name, without_line) != 0)
		note_numbered(merge, name_key(merge, from, number), name, without_line);
}

/* Once all recordings were looked at. */
static void compare_numbers(struct diff_merge *merge)
{
	for (size_t i = 0; i < merge->numbers.len; i++)
		if (merge->numbers.items[i].nsides < merge->nlooked)
			*map_put(&merge->renumbered, merge->numbers.items[i].without, NULL) = 1;
	merge->numbers.len = 0;
}

static void look_at_names(struct diff_merge *merge, const struct profile *from)
{
	for (uint32_t i = 0; i < from->functions.len; i++)
		if (from->functions.items[i].plain_name)
			*map_put(&merge->apart, name_key(merge, from, i), NULL) = 1;
	for (uint32_t i = 0; i < from->functions.len; i++)
		look_at_number(merge, from, i);
}

/* The kernel lies elsewhere after each boot. Functions whose names are unique show by how much. */
static void look_at_kernel(struct diff_merge *merge, const struct profile *from)
{
	uint32_t side = merge->nlooked++;

	for (uint32_t i = 0; i < from->functions.len; i++) {
		const struct profile_function *function = &from->functions.items[i];
		uint64_t key, *place;
		bool is_new;

		if (!function->vaddr || function->plain_name ||
		    profile_module(from, function->module)->kind != PROFILE_KERNEL)
			continue;
		key = name_key(merge, from, i);
		if (side == 0)
			*map_put(&merge->kernel_places, key, NULL) = function->vaddr;
		place = map_get(&merge->kernel_places, key);
		if (!place || side == 0)
			continue;

		uint64_t *slide = map_put(&merge->kernel_slides, (uint64_t)side << 32 | (uint32_t)key, &is_new);

		if (is_new)
			*slide = function->vaddr - *place;
	}
}

void diff_merge_look(struct diff_merge *merge, const struct profile *from)
{
	for (size_t i = 0; i < from->modules.len; i++) {
		const struct profile_module *mod = profile_module(from, i);
		const char *name = module_name(merge, profile_text(from, mod->name));
		uint32_t build =
			strtab_add(&merge->build_ids, profile_text(from, mod->build_id));
		bool is_new;
		uint64_t *known =
			map_put(&merge->builds, profile_string(merge->profile, name), &is_new);

		if (is_new)
			*known = build;
		else if (*known != build)
			*known = 0;
	}
	look_at_names(merge, from);
	look_at_kernel(merge, from);
}

static void translate_modules(struct translation *t)
{
	struct profile *to = t->merge->profile;

	for (size_t i = 0; i < t->from->modules.len; i++) {
		const struct profile_module *mod = profile_module(t->from, i);
		uint32_t name = profile_string(
			to, module_name(t->merge, profile_text(t->from, mod->name)));
		struct profile_module entry = {
			.name = name, .path = name, .kind = mod->kind
		};

		t->modules[i] = profile_add_module(to, &entry);
	}
}

static uint32_t module_of(const struct translation *t, uint32_t module)
{
	return module == PROFILE_NONE ? PROFILE_NONE : t->modules[module];
}

static uint32_t file_of(struct translation *t, uint32_t file)
{
	return profile_string(t->merge->profile, path_last_part(profile_text(t->from, file)));
}

/* "step (0xffffffff81000200)", as the first recording calls it. */
static const char *named_by_address(struct translation *t, uint32_t number, const char *stable)
{
	const struct profile_function *function = &t->from->functions.items[number];
	uint64_t module = (uint32_t)name_key(t->merge, t->from, number);
	const uint64_t *slide = map_get(&t->merge->kernel_slides, (uint64_t)t->side << 32 | module);

	return arena_printf(&t->merge->arena, "%s (0x%" PRIx64 ")", stable, function->vaddr - (slide ? *slide : 0));
}

/* Of the same build numbers are the same; of others if all recordings have the same ones. */
static const char *stable_name(struct translation *t, const char *plain, uint64_t module, bool same_build)
{
	struct arena *arena = &t->merge->arena;
	const char *stable = stable_names_function(arena, plain);

	if (!same_build && map_get(&t->merge->renumbered, text_key(t->merge, stable, module)))
		return stable;
	return stable_names_numbered(arena, plain);
}

/* The name with its file, and with its line if all recordings have the same lines: they move from build to build. */
static const char *name_apart(struct translation *t, uint32_t number, uint64_t module)
{
	const char *without_line = same_names_without_line(t->from, number, &t->merge->arena);

	if (map_get(&t->merge->renumbered, text_key(t->merge, without_line, module)))
		return without_line;
	return profile_text(t->from, t->from->functions.items[number].name);
}

/* Told apart by its file, or by its address where that is the same in all recordings. */
static const char *named(struct translation *t, uint32_t number, bool same_build)
{
	struct arena *arena = &t->merge->arena;
	const struct profile_function *function = &t->from->functions.items[number];
	const char *plain = same_names_plain(t->from, number);
	uint64_t key = name_key(t->merge, t->from, number);
	const char *stable = stable_name(t, plain, key, same_build);
	const char *file = profile_text(t->from, function->file);

	if (!map_get(&t->merge->apart, key))
		return stable;
	if (!*file && !(same_build && function->plain_name))
		return stable;
	if (function->plain_name && !*file)
		return named_by_address(t, number, stable);
	if (function->plain_name)
		return arena_printf(arena, "%s%s", stable, name_apart(t, number, key) + strlen(plain));
	return arena_printf(arena, "%s (%s)", stable, path_last_part(file));
}

/* What has no symbol is known by where it lies, which is elsewhere in each build; then only the module stays. */
static const char *function_name(struct translation *t, uint32_t number)
{
	const struct profile_function *function = &t->from->functions.items[number];
	const struct profile *to = t->merge->profile;
	uint32_t module_name = profile_module(to, module_of(t, function->module))->name;
	const uint64_t *build = map_get(&t->merge->builds, module_name);
	const char *module = profile_text(to, module_name);

	if (function->unnamed && build && *build)
		return profile_text(t->from, function->name);
	if (!function->unnamed)
		return named(t, number, build && *build);
	return *module == '[' ? module : arena_printf(&t->merge->arena, "[%s]", module);
}

static void translate_functions(struct translation *t)
{
	struct profile *to = t->merge->profile;

	for (size_t i = 0; i < t->from->functions.len; i++) {
		const struct profile_function *function = &t->from->functions.items[i];
		struct profile_function entry = {
			.name = profile_string(to, function_name(t, (uint32_t)i)),
			.module = module_of(t, function->module),
			.unnamed = function->unnamed,
		};

		t->functions[i] = profile_add_function(to, &entry);
	}
}

/* Locations with the same lines in the same module are one. */
static uint32_t translate_location(struct translation *t, const struct profile_location *at)
{
	struct profile *to = t->merge->profile;
	struct profile_line *lines = ARENA_ARRAY(&t->arena, struct profile_line, at->nlines + 1);

	for (uint32_t i = 0; i < at->nlines; i++) {
		const struct profile_line *line = &t->from->lines.items[at->first_line + i];

		lines[i] = (struct profile_line){ t->functions[line->function],
						  file_of(t, line->file), line->line };
	}

	return profile_add_named_location(to, (enum profile_frame_kind)at->kind,
					  module_of(t, at->module), lines, at->nlines);
}

static void translate_stacks(struct translation *t)
{
	const struct profile *from = t->from;

	for (size_t i = 0; i < from->locations.len; i++)
		t->locations[i] = translate_location(t, &from->locations.items[i]);
	for (size_t i = 1; i < from->stacks.len; i++) {
		const struct profile_stack *stack = &from->stacks.items[i];

		t->stacks[i] = profile_add_stack(t->merge->profile, t->stacks[stack->parent],
						 t->locations[stack->location], PROFILE_HOW_SURE);
	}
}

static uint32_t add_row(struct translation *t, const struct profile_sample *row, uint32_t side)
{
	struct profile *to = t->merge->profile;
	const struct profile_thread *thread = &t->from->threads.items[row->thread];
	struct profile_thread entry = {
		.pid = PROFILE_NONE,
		.tid = PROFILE_NONE,
		.comm = profile_string(to, profile_text(t->from, thread->comm)),
		.process = profile_string(to, profile_text(t->from, thread->process)),
	};
	struct profile_sample sample = *row;

	sample.stack = t->stacks[row->stack];
	sample.type = side;
	sample.labels = 0;
	sample.thread = profile_add_thread(to, &entry);
	return profile_add_sample(to, &sample);
}

void diff_merge_add(struct diff_merge *merge, const struct profile *from, uint32_t event)
{
	struct translation t = { .merge = merge, .from = from };
	const struct profile_value_type *of = &from->types.items[event];
	struct profile_value_type as = {
		.name = profile_string(merge->profile, profile_text(from, of->name)),
		.unit = profile_string(merge->profile, profile_text(from, of->unit)),
		.rate = of->rate,
		.is_freq = of->is_freq,
	};
	uint32_t side = t.side = profile_add_value_type(merge->profile, &as);

	compare_numbers(merge);
	t.modules = ARENA_ARRAY(&t.arena, uint32_t, from->modules.len + 1);
	t.functions = ARENA_ARRAY(&t.arena, uint32_t, from->functions.len + 1);
	t.locations = ARENA_ARRAY(&t.arena, uint32_t, from->locations.len + 1);
	t.stacks = ARENA_ARRAY(&t.arena, uint32_t, from->stacks.len + 1);
	translate_modules(&t);
	translate_functions(&t);
	translate_stacks(&t);
	vec_push(&merge->events, event);
	vec_push(&merge->first_row, merge->rows.len);
	for (size_t i = 0; i < from->samples.len; i++) {
		const struct profile_sample *row = &from->samples.items[i];

		vec_push(&merge->rows,
			 row->type == event ? add_row(&t, row, side) : PROFILE_NONE);
	}
	arena_deinit(&t.arena);
}

uint32_t diff_merge_row(const struct diff_merge *merge, uint32_t side, uint32_t row)
{
	return merge->rows.items[merge->first_row.items[side] + row];
}

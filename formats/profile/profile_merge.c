/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_merge.c - tables are gone through in the order in which they refer to each other, and their numbers translated.
 */
#include "formats/profile/profile_merge.h"

#include "formats/base/arena.h"
#include "formats/profile/same_names.h"

#include <inttypes.h>
#include <string.h>

/* Numbers of @from to those of @into. */
struct translation {
	struct profile *into;
	const struct profile *from;
	struct arena arena;
	uint32_t *modules, *functions, *locations, *stacks, *threads, *types, *data, *labels;
};

static uint32_t string(const struct translation *t, uint32_t number)
{
	return number ? profile_string(t->into, profile_text(t->from, number)) : 0;
}

static uint32_t module_of(const struct translation *t, uint32_t number)
{
	return number == PROFILE_NONE ? PROFILE_NONE : t->modules[number];
}

static void add_modules(struct translation *t)
{
	t->modules = ARENA_ARRAY(&t->arena, uint32_t, t->from->modules.len + 1);
	for (size_t i = 0; i < t->from->modules.len; i++) {
		struct profile_module mod = t->from->modules.items[i];

		mod.name = string(t, mod.name);
		mod.path = string(t, mod.path);
		mod.build_id = string(t, mod.build_id);
		t->modules[i] = profile_add_module(t->into, &mod);
	}
}

static void add_functions(struct translation *t)
{
	t->functions = ARENA_ARRAY(&t->arena, uint32_t, t->from->functions.len + 1);
	for (size_t i = 0; i < t->from->functions.len; i++) {
		struct profile_function function = t->from->functions.items[i];

		function.name = profile_string(t->into, same_names_plain(t->from, (uint32_t)i));
		function.plain_name = 0;
		function.linkage_name = string(t, function.linkage_name);
		function.file = string(t, function.file);
		function.module = module_of(t, function.module);
		t->functions[i] = profile_add_function(t->into, &function);
	}
}

/* An address is the same place only where it has the same lines: code of a JIT and of another build does not. */
static uint32_t add_location(struct translation *t, const struct profile_location *from, const struct profile_line *lines)
{
	uint32_t module = module_of(t, from->module), number;
	const struct profile_location *known;

	if (!from->has_vaddr)
		return profile_add_named_location(t->into, from->kind, module, lines, from->nlines);
	number = profile_add_location(t->into, module, from->vaddr, from->kind);
	t->into->locations.items[number].is_place = from->is_place;
	known = &t->into->locations.items[number];
	if (!known->nlines)
		profile_set_lines(t->into, number, lines, from->nlines);
	else if (known->nlines != from->nlines ||
		 memcmp(&t->into->lines.items[known->first_line], lines, from->nlines * sizeof(*lines)) != 0)
		return profile_add_named_location(t->into, from->kind, module, lines, from->nlines);
	return number;
}

static void add_locations(struct translation *t)
{
	VEC(struct profile_line) lines = { 0 };

	t->locations = ARENA_ARRAY(&t->arena, uint32_t, t->from->locations.len + 1);
	for (size_t i = 0; i < t->from->locations.len; i++) {
		const struct profile_location *from = &t->from->locations.items[i];

		lines.len = 0;
		for (uint32_t n = 0; n < from->nlines; n++) {
			struct profile_line line = t->from->lines.items[from->first_line + n];

			line.function = t->functions[line.function];
			line.file = string(t, line.file);
			vec_push(&lines, line);
		}
		t->locations[i] = add_location(t, from, lines.items);
	}
	vec_deinit(&lines);
}

static void add_stacks(struct translation *t)
{
	t->stacks = ARENA_ARRAY(&t->arena, uint32_t, t->from->stacks.len);
	t->stacks[0] = 0;
	for (size_t i = 1; i < t->from->stacks.len; i++) {
		const struct profile_stack *from = &t->from->stacks.items[i];

		t->stacks[i] = profile_add_stack(t->into, t->stacks[from->parent], t->locations[from->location],
						 (enum profile_how)from->how);
	}
}

static void add_threads(struct translation *t)
{
	t->threads = ARENA_ARRAY(&t->arena, uint32_t, t->from->threads.len + 1);
	for (size_t i = 0; i < t->from->threads.len; i++) {
		struct profile_thread thread = t->from->threads.items[i];

		thread.comm = string(t, thread.comm);
		thread.process = string(t, thread.process);
		thread.life = 0;
		t->threads[i] = profile_add_thread(t->into, &thread);
	}
}

static uint32_t type_like(const struct profile *p, const struct profile_value_type *type)
{
	for (uint32_t i = 0; i < p->types.len; i++)
		if (p->types.items[i].name == type->name && p->types.items[i].unit == type->unit)
			return i;
	return PROFILE_NONE;
}

static struct err *add_types(struct translation *t)
{
	bool shared = !t->into->samples.len;

	t->types = ARENA_ARRAY(&t->arena, uint32_t, t->from->types.len + 1);
	for (size_t i = 0; i < t->from->types.len; i++) {
		struct profile_value_type type = t->from->types.items[i];

		type.name = string(t, type.name);
		type.unit = string(t, type.unit);
		t->types[i] = type_like(t->into, &type);
		shared = shared || t->types[i] != PROFILE_NONE;
		if (t->types[i] == PROFILE_NONE)
			t->types[i] = profile_add_value_type(t->into, &type);
	}
	if (shared)
		return NULL;
	if (!t->from->types.len)
		return err_new(ERR_UNSUPPORTED, "it has no event in common with those before it");
	return err_new(ERR_UNSUPPORTED, "it has no event in common with those before it: '%s' is not '%s'",
		       profile_text(t->from, t->from->types.items[0].name), profile_text(t->into, t->into->types.items[0].name));
}

static void add_data(struct translation *t)
{
	t->data = ARENA_ARRAY(&t->arena, uint32_t, t->from->data.len);
	for (size_t i = 0; i < t->from->data.len; i++) {
		struct profile_data data = t->from->data.items[i];

		data.object = string(t, data.object);
		data.module = string(t, data.module);
		data.type = string(t, data.type);
		data.field = string(t, data.field);
		t->data[i] = profile_add_data(t->into, &data);
	}
}

static void add_labels(struct translation *t)
{
	VEC(struct profile_label) labels = { 0 };

	t->labels = ARENA_ARRAY(&t->arena, uint32_t, t->from->label_sets.len);
	for (size_t i = 0; i < t->from->label_sets.len; i++) {
		const struct profile_label_set *set = &t->from->label_sets.items[i];

		labels.len = 0;
		for (uint32_t n = 0; n < set->count; n++) {
			struct profile_label label = t->from->labels.items[set->first + n];

			label.key = string(t, label.key);
			label.text = string(t, label.text);
			label.unit = string(t, label.unit);
			vec_push(&labels, label);
		}
		t->labels[i] = profile_add_labels(t->into, labels.items, (uint32_t)labels.len);
	}
	vec_deinit(&labels);
}

static struct err *add_samples(struct translation *t)
{
	for (size_t i = 0; i < t->from->samples.len; i++) {
		struct profile_sample sample = t->from->samples.items[i];

		if (!profile_fits(t->into, sample.weight))
			return err_new(ERR_UNSUPPORTED, "the values add up to more than 64 bits can hold");
		sample.stack = t->stacks[sample.stack];
		sample.type = t->types[sample.type];
		sample.thread = t->threads[sample.thread];
		sample.data = t->data[sample.data];
		sample.labels = t->labels[sample.labels];
		profile_add_sample(t->into, &sample);
	}
	return NULL;
}

struct err *profile_merge(struct profile *into, const struct profile *from)
{
	struct translation t = { .into = into, .from = from };
	struct err *err = add_types(&t);

	if (!err) {
		add_modules(&t);
		add_functions(&t);
		add_locations(&t);
		add_stacks(&t);
		add_threads(&t);
		add_data(&t);
		add_labels(&t);
		err = add_samples(&t);
	}
	arena_deinit(&t.arena);
	return err;
}

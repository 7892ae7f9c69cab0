/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same_names.c - functions are sorted by name, module and place; where a name has several places, each gets its own name.
 *
 * Compiled functions of one file are not distinguished by their lines, as a declaration and the definition are of one function.
 * Functions of scripts and of JITs are: they have no declaration, and step() of two classes is just "step" to V8. So are lambdas,
 * which have no name of their own. Of a module that has files for some entries of a name, and none for others,
 * these others are the same function if there is but one file: it depends on the address how much is known. Constructors
 * and the like, whose linkage names differ, are one function at several addresses.
 */
#include "formats/profile/same_names.h"

#include "formats/base/path.h"

#include <inttypes.h>
#include <string.h>

#define PARTS_MAX 100 /* places of one name that are compared with each other */

struct place {
	uint32_t name, module, linkage_name;
	uint32_t file, line; /* line 0: it does not matter */
	uint64_t vaddr;
	uint32_t function;
};

struct apart {
	struct profile *p;
	struct arena arena;
	VEC(struct place) places;
};

const char *same_names_plain(const struct profile *p, uint32_t number)
{
	const struct profile_function *function = &p->functions.items[number];

	return profile_text(p, function->plain_name ? function->plain_name : function->name);
}

const char *same_names_without_line(const struct profile *p, uint32_t number, struct arena *arena)
{
	const struct profile_function *function = &p->functions.items[number];
	const char *name = profile_text(p, function->name);
	const char *line = arena_printf(arena, ":%" PRIu32 ")", function->line);
	size_t len = strlen(name), tail = strlen(line);

	if (!function->plain_name || !function->line || len < tail || strcmp(name + len - tail, line) != 0)
		return name;
	return arena_printf(arena, "%.*s)", (int)(len - tail), name);
}

/* Does the line at which it begins say which function of its file it is? */
static bool has_one_line(const struct profile *p, const struct profile_function *function, uint32_t name)
{
	return !*profile_text(p, function->linkage_name) || profile_module(p, function->module)->kind == PROFILE_JIT ||
	       strstr(profile_text(p, name), "lambda");
}

static void add_places(struct apart *a)
{
	struct profile *p = a->p;

	for (uint32_t i = 0; i < p->functions.len; i++) {
		const struct profile_function *function = &p->functions.items[i];
		const char *file = profile_text(p, function->file);
		uint32_t name = function->plain_name ? function->plain_name : function->name;
		struct place place = { .name = name,
				       .module = function->module,
				       .linkage_name = function->linkage_name,
				       .vaddr = function->vaddr,
				       .function = i };

		if (function->unnamed)
			continue;
		if (*file) {
			/* Units that were compiled in different folders shall name a header alike. */
			place.file = profile_string(p, path_without_dots(&a->arena, file));
			place.line = has_one_line(p, function, name) ? function->line : 0;
		}
		vec_push(&a->places, place);
		arena_reset(&a->arena);
	}
}

static int compare_groups(const struct place *a, const struct place *b)
{
	int order = COMPARE(a->name, b->name);

	return order ? order : COMPARE(a->module, b->module);
}

/* Those without a file come first. */
static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	int order = compare_groups(a, b);

	order = order ? order : COMPARE(a->file, b->file);
	order = order ? order : COMPARE(a->line, b->line);
	order = order ? order : COMPARE(a->linkage_name, b->linkage_name);
	order = order ? order : COMPARE(a->vaddr, b->vaddr);
	return order ? order : COMPARE(a->function, b->function);
}

static bool is_other_file(const struct place *a, const struct place *b)
{
	return a->file != b->file || a->line != b->line;
}

/* Does the last part of a path stand for one file of the group only? @count is bounded, or paths are shown whole. */
static bool part_is_unique(const struct apart *a, const struct place *places, size_t count,
			   const struct place *of)
{
	const char *part = path_last_part(profile_text(a->p, of->file));

	if (count > PARTS_MAX)
		return false;
	for (size_t i = 0; i < count; i++)
		if (places[i].file && places[i].file != of->file &&
		    strcmp(path_last_part(profile_text(a->p, places[i].file)), part) == 0)
			return false;
	return true;
}

static const char *file_text(struct apart *a, const struct place *places, size_t count,
			     const struct place *of)
{
	const char *path = profile_text(a->p, of->file);

	if (part_is_unique(a, places, count, of))
		path = path_last_part(path);
	return of->line ? arena_printf(&a->arena, "%s:%" PRIu32, path, of->line) : path;
}

static void rename_function(struct apart *a, const struct place *of, const char *by)
{
	struct profile_function *function = &a->p->functions.items[of->function];
	const char *text = arena_printf(&a->arena, "%s (%s)", profile_text(a->p, of->name), by);

	function->name = profile_string(a->p, text);
	function->plain_name = of->name;
}

/* How many addresses functions of one linkage name have among @places, which have no file. */
static size_t count_addresses(const struct place *places, size_t count)
{
	size_t addresses = 0;

	for (size_t i = 0; i < count; i++)
		addresses += places[i].vaddr &&
			     (i == 0 || places[i].vaddr != places[i - 1].vaddr) &&
			     places[i].linkage_name == places[0].linkage_name;
	return addresses;
}

/* Where a file has one line only, the file says it all, also after lines have been inserted. */
static void forget_single_lines(struct place *places, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		bool single = true;

		for (end = i; end < count && places[end].file == places[i].file; end++)
			single &= places[end].line == places[i].line;
		for (size_t j = i; j < end && single; j++)
			places[j].line = 0;
	}
}

static void tell_apart(struct apart *a, struct place *places, size_t count)
{
	size_t nowhere = 0, nfiles = 0;

	while (nowhere < count && !places[nowhere].file)
		nowhere++;
	forget_single_lines(places + nowhere, count - nowhere);
	for (size_t i = nowhere; i < count; i++)
		nfiles += i == nowhere || is_other_file(&places[i - 1], &places[i]);
	for (size_t i = nowhere; i < count && nfiles > 1; i++)
		rename_function(a, &places[i], file_text(a, places, count, &places[i]));
	if (nfiles == 1 || count_addresses(places, nowhere) + nfiles < 2)
		return;
	for (size_t i = 0; i < nowhere; i++)
		if (places[i].vaddr && places[i].linkage_name == places[0].linkage_name)
			rename_function(a, &places[i],
					arena_printf(&a->arena, "0x%" PRIx64, places[i].vaddr));
}

void same_names_tell_apart(struct profile *p)
{
	struct apart a = { .p = p };
	size_t first = 0;

	add_places(&a);
	vec_sort(&a.places, compare_places);
	for (size_t i = 1; i <= a.places.len; i++) {
		if (i < a.places.len && !compare_groups(&a.places.items[first], &a.places.items[i]))
			continue;
		if (i - first > 1)
			tell_apart(&a, &a.places.items[first], i - first);
		arena_reset(&a.arena);
		first = i;
	}
	vec_deinit(&a.places);
	arena_deinit(&a.arena);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate.c - gathers the leaf samples of the functions that were asked for, by module and start address.
 *
 * First the functions are found, by the locations that the operand means; then every sample is given to the function
 * that its address lies in, whichever inlined function it was in.
 */
#include "report/code/annotate.h"

#include "formats/base/bisect.h"
#include "formats/base/text.h"
#include "report/view/lookup.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What the operand asks for; each location of the profile is held against it. */
struct wanted {
	const char *file; /* FILE:LINE */
	size_t file_len;
	uint64_t line;
	bool is_address; /* address, perhaps with module */
	uint64_t vaddr;
	const char *module;
	size_t module_len;
	struct lookup functions; /* otherwise */
	const bool *hot;         /* or these functions, by number */
};

/* "0x1234", or "libc.so.6:0x1234". */
static bool parse_address(const char *text, struct wanted *ret)
{
	const char *hex = strstr(text, "0x");
	char *end;

	if (!hex || (hex != text && hex[-1] != ':') || !isxdigit((uint8_t)hex[2]))
		return false;
	ret->vaddr = strtoull(hex, &end, 16);
	ret->is_address = !*end;
	ret->module = text;
	ret->module_len = hex == text ? 0 : (size_t)(hex - text) - 1;
	return ret->is_address;
}

/* "parse.c:17": the part behind the last colon is a number, and what stands before looks like a file. */
static bool parse_line(const char *text, struct wanted *ret)
{
	const char *colon = strrchr(text, ':');

	if (!colon || colon == text || colon[-1] == ':' || !text_parse_u64(colon + 1, &ret->line))
		return false;
	ret->file = text;
	ret->file_len = (size_t)(colon - text);
	return memchr(text, '.', ret->file_len) || memchr(text, '/', ret->file_len);
}

/* Names of JITs may look like a line: "JS:*work /srv/app.js:1:14". */
static bool is_name(const struct profile *p, const char *text)
{
	for (size_t i = 0; i < p->functions.len; i++)
		if (strcmp(profile_text(p, p->functions.items[i].name), text) == 0)
			return true;
	return false;
}

/* If no leaf has the name, those of callers tell whether it was met at all. */
static struct err *parse_wanted(struct session *s, const char *text, struct wanted *ret)
{
	if (parse_address(text, ret) || (!is_name(s->profile, text) && parse_line(text, ret)))
		return NULL;
	ret->file = NULL;

	struct err *err = lookup_function(s->profile, text, &s->arena, &ret->functions);

	if (!err || s->names == NAMER_ALL)
		return err;
	err_free(err);
	session_name_all(s);
	return lookup_function(s->profile, text, &s->arena, &ret->functions);
}

/* Is @path the file, or does it end in "/FILE"? */
static bool path_matches(const char *path, const struct wanted *wanted)
{
	size_t len = strlen(path);

	if (len < wanted->file_len ||
	    strncmp(path + len - wanted->file_len, wanted->file, wanted->file_len) != 0)
		return false;
	return len == wanted->file_len || path[len - wanted->file_len - 1] == '/';
}

/* The function at @location that has code of its own. */
static uint32_t own_function(const struct profile *p, const struct profile_location *location)
{
	return p->lines.items[location->first_line + location->nlines - 1].function;
}

static bool location_matches(const struct profile *p, const struct profile_location *location,
			     const struct wanted *wanted)
{
	if (wanted->hot)
		return wanted->hot[own_function(p, location)];
	for (uint32_t i = 0; i < location->nlines; i++) {
		const struct profile_line *line = &p->lines.items[location->first_line + i];

		if (wanted->file ? line->line == wanted->line &&
					   path_matches(profile_text(p, line->file), wanted)
				 : wanted->functions.matches[line->function])
			return true;
	}
	return false;
}

/* The function with code of its own around @location: its symbol's extent, or just the address. */
static struct annotate_function container_of(const struct annotate *a,
					     const struct profile_location *location)
{
	const struct profile *p = a->s->profile;
	size_t count;
	const struct symbol_frame *frames = symbolizer_find(
		a->s->binaries.symbolizer, session_module(a->s, location->module), location->vaddr, &count);
	const struct symbol_frame *own = &frames[count - 1];

	return (struct annotate_function){
		.module = location->module,
		.vaddr = own->function_vaddr ? own->function_vaddr : location->vaddr,
		.len = own->function_len,
		.name = profile_text(p, p->functions.items[own_function(p, location)].name),
	};
}

static bool covers(const struct profile *p, const struct annotate_function *function,
		   const struct wanted *wanted)
{
	if (wanted->module_len &&
	    !lookup_matches_module(p, function->module, wanted->module, wanted->module_len))
		return false;
	uint64_t start = code_place_address(function->vaddr);

	return wanted->vaddr >= start && wanted->vaddr - start < MAX(function->len, 1);
}

/* The leaf's location, NULL for a sample without one, or with one that is no machine code. */
static const struct profile_location *leaf_of(const struct profile *p,
					      const struct profile_sample *sample)
{
	const struct profile_location *leaf =
		sample->stack ? &p->locations.items[p->stacks.items[sample->stack].location] : NULL;

	return leaf && leaf->has_vaddr ? leaf : NULL;
}

static int by_place(const void *a, const void *b)
{
	const struct annotate_function *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return COMPARE(x->vaddr, y->vaddr);
}

static void keep_distinct(struct annotate *a)
{
	size_t kept = 0;

	vec_sort(&a->functions, by_place);
	for (size_t i = 0; i < a->functions.len; i++) {
		struct annotate_function *function = &a->functions.items[i];

		if (kept && by_place(function, &a->functions.items[kept - 1]) == 0)
			continue;
		function->sums = ARENA_ARRAY(&a->s->arena, struct profile_sum, a->events.len);
		a->functions.items[kept++] = *function;
	}
	a->functions.len = kept;
}

/* The functions that the operand means: those around a matching location. Ascending by module and address. */
static void find_functions(struct annotate *a, const struct wanted *wanted)
{
	const struct profile *p = a->s->profile;
	bool *seen = memory_zeroed(p->locations.len + 1, sizeof(*seen));

	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_location *location = leaf_of(p, &p->samples.items[i]);

		if (!location || seen[location - p->locations.items])
			continue;
		seen[location - p->locations.items] = true;
		if (!wanted->is_address && !location_matches(p, location, wanted))
			continue;
		struct annotate_function function = container_of(a, location);

		if (!wanted->is_address || covers(p, &function, wanted))
			vec_push(&a->functions, function);
	}
	free(seen);
	keep_distinct(a);
}

static bool begins_upto(const struct annotate_function *function, const struct profile_location *location)
{
	return function->module < location->module ||
	       (function->module == location->module && function->vaddr <= location->vaddr);
}

/* The function found that covers @location, NULL if none does. */
static struct annotate_function *function_at(struct annotate *a,
					     const struct profile_location *location)
{
	size_t count = BISECT(a->functions.len, i, begins_upto(&a->functions.items[i], location));
	struct annotate_function *function = count ? &a->functions.items[count - 1] : NULL;

	if (function && function->module == location->module &&
	    location->vaddr - function->vaddr < MAX(function->len, 1))
		return function;
	return NULL;
}

/* All leaf samples inside the functions found, whichever inlined function they were in. */
static void add_hits(struct annotate *a)
{
	const struct profile *p = a->s->profile;
	uint32_t *column = memory_zeroed(p->types.len + 1, sizeof(*column));

	for (uint32_t i = 0; i < a->events.len; i++)
		column[a->events.items[i].event] = i;
	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *sample = &p->samples.items[i];
		const struct profile_location *location = leaf_of(p, sample);
		struct annotate_function *function = location ? function_at(a, location) : NULL;

		if (!function)
			continue;
		struct annotate_hit hit = { .vaddr = location->vaddr,
					    .column = column[sample->type] };

		stats_add(&hit.sum, sample);
		stats_add(&function->sums[hit.column], sample);
		vec_push(&function->hits, hit);
	}
	free(column);
}

static int compare_hits(const void *a, const void *b)
{
	const struct annotate_hit *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return COMPARE(x->column, y->column);
}

static void merge_hits(struct annotate_function *function)
{
	size_t kept = 0;

	vec_sort(&function->hits, compare_hits);
	for (size_t i = 0; i < function->hits.len; i++) {
		const struct annotate_hit *hit = &function->hits.items[i];

		if (kept && compare_hits(hit, &function->hits.items[kept - 1]) == 0)
			stats_add_sum(&function->hits.items[kept - 1].sum, &hit->sum);
		else
			function->hits.items[kept++] = *hit;
	}
	function->hits.len = kept;
}

static int compare_functions(const void *a, const void *b)
{
	const struct annotate_function *x = a, *y = b;

	if (x->sums[0].weight != y->sums[0].weight)
		return x->sums[0].weight > y->sums[0].weight ? -1 : 1;
	if (strcmp(x->name, y->name) != 0)
		return strcmp(x->name, y->name);
	return by_place(x, y);
}

static void annotate_init(struct annotate *a, struct session *s)
{
	*a = (struct annotate){ .s = s,
				.measures = a->measures,
				.nmeasures = a->nmeasures,
				.branches = a->branches };
	for (uint32_t i = 0; i < s->profile->types.len; i++) {
		struct annotate_event event = {
			.event = i,
			.name = profile_text(s->profile, s->profile->types.items[i].name),
			.total = profile_total(s->profile, i),
		};

		if (event.total.count)
			vec_push(&a->events, event);
	}
}

static void rank(struct annotate *a)
{
	add_hits(a);
	for (size_t i = 0; i < a->functions.len; i++)
		merge_hits(&a->functions.items[i]);
	vec_sort(&a->functions, compare_functions);
}

struct err *annotate_find(struct annotate *a, struct session *s, const char *wanted_text)
{
	struct wanted wanted = { 0 };

	annotate_init(a, s);
	struct err *err = parse_wanted(s, wanted_text, &wanted);

	if (err)
		return err;
	find_functions(a, &wanted);
	if (!a->functions.len)
		return err_remedy(
			err_new(ERR_USAGE, "no sample was taken in '%s' itself", wanted_text),
			"perhaps only its callees were sampled: try --callees-of '%s'",
			wanted_text);
	rank(a);
	return NULL;
}

struct weighed {
	uint32_t function;
	int64_t weight;
};

static int by_weight(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return COMPARE(x->function, y->function);
}

/* The @count heaviest functions of the first event, by name; so that no more than these are looked for. */
static bool *hot_functions(const struct annotate *a, size_t count)
{
	const struct profile *p = a->s->profile;
	bool *hot = memory_zeroed(p->functions.len + 1, sizeof(*hot));
	struct weighed *all = memory_zeroed(p->functions.len + 1, sizeof(*all));

	for (uint32_t i = 0; i < p->functions.len; i++)
		all[i].function = i;
	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *sample = &p->samples.items[i];
		const struct profile_location *location = leaf_of(p, sample);

		if (location && sample->type == a->events.items[0].event)
			all[own_function(p, location)].weight += sample->weight;
	}
	qsort(all, p->functions.len, sizeof(*all), by_weight);
	for (size_t i = 0; i < count && i < p->functions.len && all[i].weight > 0; i++)
		hot[all[i].function] = true;
	free(all);
	return hot;
}

void annotate_find_hot(struct annotate *a, struct session *s, size_t count)
{
	struct wanted wanted = { 0 };

	annotate_init(a, s);
	if (!a->events.len)
		return;
	bool *hot = hot_functions(a, count);

	wanted.hot = hot;
	find_functions(a, &wanted);
	rank(a);
	for (size_t i = count; i < a->functions.len; i++) /* several functions may share a name */
		vec_deinit(&a->functions.items[i].hits);
	a->functions.len = MIN(a->functions.len, count);
	free(hot);
}

void annotate_deinit(struct annotate *a)
{
	for (size_t i = 0; i < a->functions.len; i++)
		vec_deinit(&a->functions.items[i].hits);
	vec_deinit(&a->functions);
	vec_deinit(&a->events);
}

/* Types of events (linux/perf_event.h). */
enum { TYPE_SOFTWARE = 1, TYPE_TRACEPOINT = 2, TYPE_BREAKPOINT = 5 };

const char *annotate_skid(const struct annotate *a, const struct annotate_event *event)
{
	const struct recording *rec = a->s->recording;

	if (event->event >= rec->nevents)
		return NULL;
	const struct recording_event *asked = &rec->events[event->event];

	if (strcmp(asked->unit, "ns") == 0)
		return "a timer interrupt samples the instruction that was being waited for "
		       "or behind it; in the kernel where interrupts were allowed again";
	if (asked->precise || asked->type == TYPE_SOFTWARE || asked->type == TYPE_TRACEPOINT ||
	    asked->type == TYPE_BREAKPOINT)
		return NULL;
	return "samples land some instructions after the one that caused them (skid): look above a hot instruction too, at loads, divisions and jumps; where the processor supports it, record precisely (-e cycles:pp)";
}

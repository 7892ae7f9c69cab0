/* SPDX-License-Identifier: Apache-2.0 */
#include "report/code/script_lines.h"

#include "formats/base/map.h"
#include "formats/base/text.h"
#include "report/code/source_text.h"
#include "report/print/number.h"
#include "report/print/stats.h"

#include <inttypes.h>
#include <stdlib.h>

#define AROUND	 2    /* lines shown before and after one with samples */
#define LINES_MAX 100000 /* of a function that are shown; longer ones are hardly true */

/* One line of a function. */
struct script_line {
	uint32_t line;
	struct profile_sum total, self;
};

struct script_listing {
	VEC(struct script_line) lines; /* with samples, ascending */
};

/* The function that the location at @location is a line of; PROFILE_NONE if it is not interpreted. */
static uint32_t script_function_at(const struct profile *p, uint32_t location,
				   const struct profile_line **ret_line)
{
	const struct profile_location *at = &p->locations.items[location];

	if (at->kind != PROFILE_FRAME_INTERPRETED || !at->nlines)
		return PROFILE_NONE;
	*ret_line = &p->lines.items[at->first_line];
	return (*ret_line)->function;
}

/* ---- functions ------------------------------------------------------------------------------------- */

static int by_total(const void *a, const void *b)
{
	const struct script_function *x = a, *y = b;

	if (x->total.weight != y->total.weight)
		return x->total.weight > y->total.weight ? -1 : 1;
	return COMPARE(x->function, y->function);
}

static struct script_function *add_function(struct script_functions *functions, struct map *known,
					    uint32_t number)
{
	bool fresh;
	uint64_t *at = map_put(known, number, &fresh);

	if (fresh) {
		*at = functions->items.len;
		vec_push(&functions->items, ((struct script_function){ .function = number }));
	}
	return &functions->items.items[*at];
}

/* Add a sample to each function on its stack that is wanted, once. */
static void add_stack(struct script_functions *functions, struct map *known, const struct profile *p,
		      const struct profile_sample *sample, const struct lookup *wanted)
{
	VEC(uint32_t) seen = { 0 };
	const struct profile_line *line;

	for (uint32_t stack = sample->stack; stack; stack = p->stacks.items[stack].parent) {
		uint32_t number = script_function_at(p, p->stacks.items[stack].location, &line);
		bool counted = number == PROFILE_NONE || !wanted->matches[number];

		for (size_t i = 0; i < seen.len && !counted; i++)
			counted = seen.items[i] == number;
		if (counted)
			continue;
		struct script_function *function = add_function(functions, known, number);

		vec_push(&seen, number);
		stats_add(&function->total, sample);
		if (stack == sample->stack)
			stats_add(&function->self, sample);
	}
	vec_deinit(&seen);
}

void script_functions_find(struct script_functions *functions, struct session *s,
			   const struct lookup *wanted, uint32_t type)
{
	const struct profile *p = s->profile;
	struct map known = { 0 };

	for (size_t i = 0; i < p->samples.len; i++) {
		if (p->samples.items[i].type == type)
			add_stack(functions, &known, p, &p->samples.items[i], wanted);
	}
	map_deinit(&known);
	vec_sort(&functions->items, by_total);
}

void script_functions_deinit(struct script_functions *functions)
{
	vec_deinit(&functions->items);
}

/* ---- lines ----------------------------------------------------------------------------------------- */

static struct script_line *line_at(struct script_listing *listing, uint32_t number)
{
	for (size_t i = 0; i < listing->lines.len; i++) {
		if (listing->lines.items[i].line == number)
			return &listing->lines.items[i];
	}
	vec_push(&listing->lines, ((struct script_line){ .line = number }));
	return &listing->lines.items[listing->lines.len - 1];
}

static int by_line(const void *a, const void *b)
{
	const struct script_line *x = a, *y = b;

	return COMPARE(x->line, y->line);
}

/* Under recursion a sample counts for the innermost line. */
static void gather(struct script_listing *listing, const struct profile *p, uint32_t function,
		   uint32_t type)
{
	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *sample = &p->samples.items[i];
		const struct profile_line *line = NULL;
		uint32_t stack = sample->type == type ? sample->stack : 0;

		while (stack &&
		       script_function_at(p, p->stacks.items[stack].location, &line) != function)
			stack = p->stacks.items[stack].parent;
		if (!stack || !line)
			continue;
		struct script_line *at = line_at(listing, line->line);

		stats_add(&at->total, sample);
		if (stack == sample->stack)
			stats_add(&at->self, sample);
	}
	vec_sort(&listing->lines, by_line);
}

static const struct table_column columns[] = {
	{ "share", "share", TABLE_RIGHT, TABLE_KEEP, true },
	{ "95 % range", NULL, TABLE_RIGHT, TABLE_DROP, false },
	{ NULL, "low", TABLE_RIGHT, TABLE_KEEP, true },
	{ NULL, "high", TABLE_RIGHT, TABLE_KEEP, true },
	{ "samples", "samples", TABLE_RIGHT, TABLE_KEEP, true },
	{ "self", "self", TABLE_RIGHT, TABLE_KEEP, true },
	{ NULL, "function", TABLE_LEFT, TABLE_KEEP, false },
	{ NULL, "file", TABLE_LEFT, TABLE_KEEP, false },
	{ "line", "line", TABLE_RIGHT, TABLE_KEEP, true },
	{ "source", "source", TABLE_LEFT, TABLE_CUT_END, false },
};

/* What all lines of a listing share. */
struct script_table {
	struct arena *arena;
	struct table *table;
	struct source_text *source;
	const char *name, *file;
	const struct profile_sum *whole;
};

static void add_row(const struct script_table *t, uint32_t number, const struct script_line *line)
{
	struct stats_share share = { 0 };
	struct arena *a = t->arena;

	if (line)
		share = stats_share(&line->total, t->whole);
	table_add_row(t->table, 0, line && share.low > 0.05 ? TABLE_HOT : TABLE_PLAIN);
	table_add_cell(t->table, line ? number_share(a, share.share) : "",
		       arena_printf(a, "%.6f", share.share));
	table_add_cell(t->table, line ? number_interval(a, &share) : "", "");
	table_add_cell(t->table, number_bound(a, &share, share.low), NULL);
	table_add_cell(t->table, number_bound(a, &share, share.high), NULL);
	table_add_cell(t->table, line ? number_samples(a, &line->total) : "",
		       line ? number_samples_data(a, &line->total) : "0");
	double self = line ? stats_share(&line->self, t->whole).share : 0;

	table_add_cell(t->table, line ? number_share(a, line->self.count ? self : 0) : "",
		       arena_printf(a, "%.6f", line && line->self.count ? self : 0));
	table_add_cell(t->table, t->name, NULL);
	table_add_cell(t->table, t->file, NULL);
	table_add_format(t->table, "%" PRIu32, number);
	table_add_cell(t->table, number ? source_text_line(t->source, t->file, number) : "[line not known]",
		       NULL);
}

/* Is @number near a line with samples, or is it the function's first? */
static bool is_shown(const struct script_listing *listing, uint32_t number)
{
	for (size_t i = 0; i < listing->lines.len; i++) {
		uint32_t at = listing->lines.items[i].line;

		if (number + AROUND >= at && number <= (uint64_t)at + AROUND)
			return true;
	}
	return false;
}

/* The lines from the function's first one to the last that has samples, and a row for those that have no line. */
static void add_rows(const struct script_table *t, const struct script_listing *listing, uint32_t first,
		     bool all)
{
	uint32_t last = listing->lines.items[listing->lines.len - 1].line;
	size_t next = 0;

	if (!listing->lines.items[0].line)
		add_row(t, 0, &listing->lines.items[next++]);
	if (next == listing->lines.len)
		return;
	first = MIN(first ? first : UINT32_MAX, listing->lines.items[next].line);
	first = MAX(first, last > LINES_MAX ? last - LINES_MAX : 1);
	while (next < listing->lines.len && listing->lines.items[next].line < first)
		next++;
	for (uint32_t number = first; number <= last && next < listing->lines.len; number++) {
		const struct script_line *line = &listing->lines.items[next];

		if (line->line == number)
			add_row(t, number, &listing->lines.items[next++]);
		else if (all || number == first || is_shown(listing, number))
			add_row(t, number, NULL);
	}
}

/* How much of @whole, whose noun follows: "120" samples, or a weight. A function that never was the leaf has no samples of its own. */
static const char *part_text(struct arena *arena, const struct profile_sum *part, const struct profile_sum *whole, const char *unit)
{
	return profile_is_counted(whole) ? number_count(arena, part->count) : number_weight(arena, part->weight, unit);
}

static void print_function(const struct script_function *from, struct session *s, uint32_t type,
			   const struct script_options *options, bool first, FILE *out)
{
	const struct profile *p = s->profile;
	const struct profile_function *function = &p->functions.items[from->function];
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	CLEANUP(source_text_deinit) struct source_text source = { 0 };
	CLEANUP(table_deinit) struct table table;
	const char *unit = profile_text(p, p->types.items[type].unit);
	struct profile_sum whole = profile_total(p, type);
	struct script_listing listing = { 0 };
	struct script_table t = { &arena, &table, &source, profile_text(p, function->name),
				  profile_text(p, function->file), &whole };

	table_init(&table, &arena);
	table_add_columns(&table, columns, ARRAY_LEN(columns));
	gather(&listing, p, from->function, type);
	add_rows(&t, &listing, function->line, options->all);
	if (options->format == TABLE_TEXT)
		fprintf(out, "%s%s, %s:%" PRIu32 ": %s of %s, %s in it itself\n", first ? "" : "\n",
			text_escape(&arena, t.name), text_escape(&arena, t.file), function->line,
			part_text(&arena, &from->total, &whole, unit), number_extent(&arena, &whole, "sample", unit),
			part_text(&arena, &from->self, &whole, unit));
	if (options->format == TABLE_CSV)
		table_print_csv(&table, out, first);
	else
		table_print(&table, options->format, "lines", options->term, out);
	vec_deinit(&listing.lines);
}

void script_lines_print(const struct script_functions *functions, struct session *s, uint32_t type,
			const struct script_options *options, FILE *out)
{
	for (size_t i = 0; i < functions->items.len; i++)
		print_function(&functions->items.items[i], s, type, options, i == 0, out);
}

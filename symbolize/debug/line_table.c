/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_table.c - writes and reads the table. Functions and positions are numbered as they come; a position
 * names the one it was inlined into, which has a lower number, so that no chain can run in a circle.
 */
#include "symbolize/debug/line_table.h"

#include "formats/base/arena.h"
#include "formats/base/bisect.h"
#include "formats/base/map.h"
#include "formats/base/reader.h"
#include "formats/base/strtab.h"
#include "formats/base/vec.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of strings are 0 for none. */
struct function {
	uint32_t linkage_name, name, file, line;
};

struct position {
	uint32_t function, file, line, column;
	uint32_t caller; /* number of a position from 1; 0: none */
};

struct range {
	uint64_t begin, end;
	uint32_t position;
};

/* ---- making ---------------------------------------------------------------------------------------- */

struct line_table_maker {
	struct strtab strings; /* its number 0 is "" */
	VEC(struct function) functions;
	VEC(struct position) positions;
	VEC(struct range) ranges;
	struct map function_slots, position_slots; /* hash of the entry -> number + 1 */
};

struct line_table_maker *line_table_maker_new(void)
{
	struct line_table_maker *maker = memory_zeroed(1, sizeof(*maker));

	strtab_add(&maker->strings, "");
	return maker;
}

void line_table_maker_free(struct line_table_maker *maker)
{
	if (!maker)
		return;
	strtab_deinit(&maker->strings);
	vec_deinit(&maker->functions);
	vec_deinit(&maker->positions);
	vec_deinit(&maker->ranges);
	map_deinit(&maker->function_slots);
	map_deinit(&maker->position_slots);
	free(maker);
}

static uint64_t hash_words(const uint32_t *words, size_t count)
{
	uint64_t hash = count;

	for (size_t i = 0; i < count; i++)
		hash = map_hash(hash ^ words[i]) + 1;
	return hash;
}

/*
 * The number of @entry among @count of @len bytes at @entries; @count if it is new. @slots finds it; where two
 * different ones have one hash, the second looks on.
 */
static uint32_t number_of(struct map *slots, const void *entries, size_t count, const void *entry,
			  size_t len)
{
	const uint8_t *bytes = entries;
	uint64_t hash = hash_words(entry, len / sizeof(uint32_t));

	for (;; hash++) {
		uint64_t *slot = map_put(slots, hash, NULL);

		if (!*slot) {
			*slot = count + 1;
			return (uint32_t)count;
		}
		if (memcmp(bytes + (*slot - 1) * len, entry, len) == 0)
			return (uint32_t)(*slot - 1);
	}
}

static uint32_t string_number(struct line_table_maker *maker, const char *text)
{
	return text ? strtab_add(&maker->strings, text) : 0;
}

static uint32_t add_function(struct line_table_maker *maker, const struct debug_frame *frame)
{
	struct function function = {
		.linkage_name = string_number(maker, frame->linkage_name),
		.name = string_number(maker, frame->name),
		.file = string_number(maker, frame->decl_file),
		.line = frame->decl_line,
	};
	uint32_t number = number_of(&maker->function_slots, maker->functions.items,
				    maker->functions.len, &function, sizeof(function));

	if (number == maker->functions.len)
		vec_push(&maker->functions, function);
	return number;
}

/* Its number from 1. */
static uint32_t add_position(struct line_table_maker *maker, const struct debug_frame *frame,
			     uint32_t caller)
{
	struct position position = {
		.function = add_function(maker, frame),
		.file = string_number(maker, frame->file),
		.line = frame->line,
		.column = frame->column,
		.caller = caller,
	};
	uint32_t number = number_of(&maker->position_slots, maker->positions.items,
				    maker->positions.len, &position, sizeof(position));

	if (number == maker->positions.len)
		vec_push(&maker->positions, position);
	return number + 1;
}

void line_table_maker_add(struct line_table_maker *maker, uint64_t begin, uint64_t end,
			  const struct debug_frame *frames, size_t nframes)
{
	uint32_t position = 0;

	if (begin >= end || !nframes)
		return;
	for (size_t i = nframes; i-- > 0;)
		position = add_position(maker, &frames[i], position);
	struct range *last =
		maker->ranges.len ? &maker->ranges.items[maker->ranges.len - 1] : NULL;

	if (last && last->end == begin && last->position == position)
		last->end = end;
	else
		vec_push(&maker->ranges, ((struct range){ begin, end, position }));
}

size_t line_table_maker_len(const struct line_table_maker *maker)
{
	return maker->ranges.len;
}

static void put_ranges(const struct line_table_maker *maker, struct writer *out)
{
	uint64_t end = 0;
	uint32_t position = 0;

	writer_uleb(out, maker->ranges.len);
	for (size_t i = 0; i < maker->ranges.len; i++) {
		const struct range *range = &maker->ranges.items[i];

		writer_uleb(out, range->begin - end);
		writer_uleb(out, range->end - range->begin);
		writer_zigzag(out, (int64_t)range->position - (int64_t)position);
		end = range->end;
		position = range->position;
	}
}

void line_table_maker_finish(const struct line_table_maker *maker, struct writer *out)
{
	writer_uleb(out, maker->strings.len - 1);
	for (uint32_t i = 1; i < maker->strings.len; i++)
		writer_string(out, strtab_get(&maker->strings, i));
	writer_uleb(out, maker->functions.len);
	for (size_t i = 0; i < maker->functions.len; i++) {
		const struct function *function = &maker->functions.items[i];

		writer_uleb(out, function->linkage_name);
		writer_uleb(out, function->name);
		writer_uleb(out, function->file);
		writer_uleb(out, function->line);
	}
	writer_uleb(out, maker->positions.len);
	for (size_t i = 0; i < maker->positions.len; i++) {
		const struct position *position = &maker->positions.items[i];

		writer_uleb(out, position->function);
		writer_uleb(out, position->file);
		writer_uleb(out, position->line);
		writer_uleb(out, position->column);
		writer_uleb(out, position->caller);
	}
	put_ranges(maker, out);
}

/* ---- reading --------------------------------------------------------------------------------------- */

struct line_table {
	struct arena arena;
	const char **strings; /* [0] is NULL */
	const struct function *functions;
	const struct position *positions; /* number - 1 */
	struct range *ranges;
	size_t nstrings, nfunctions, npositions, nranges;
};

/* How many entries follow; each takes @min_len bytes at least. */
static size_t read_count(struct reader *r, size_t min_len, const char *what)
{
	uint64_t count = reader_uleb(r, what);

	if (count > reader_left(r) / min_len)
		reader_fail(r, what);
	return r->failed ? 0 : (size_t)count;
}

/* A number below @limit. */
static uint32_t read_below(struct reader *r, size_t limit, const char *what)
{
	uint64_t value = reader_uleb(r, what);

	if (value >= limit)
		reader_fail(r, what);
	return r->failed ? 0 : (uint32_t)value;
}

static void read_strings(struct line_table *t, struct reader *r)
{
	t->nstrings = read_count(r, 1, "number of strings") + 1;
	t->strings = ARENA_ARRAY(&t->arena, const char *, t->nstrings);
	t->strings[0] = NULL;
	for (size_t i = 1; i < t->nstrings; i++)
		t->strings[i] = reader_string(r, "string");
}

static void read_functions(struct line_table *t, struct reader *r)
{
	struct function *functions;

	t->nfunctions = read_count(r, 4, "number of functions");
	functions = ARENA_ARRAY(&t->arena, struct function, t->nfunctions);
	for (size_t i = 0; i < t->nfunctions && !r->failed; i++) {
		functions[i].linkage_name = read_below(r, t->nstrings, "name of a function");
		functions[i].name = read_below(r, t->nstrings, "name of a function");
		functions[i].file = read_below(r, t->nstrings, "file of a function");
		functions[i].line = read_below(r, (size_t)UINT32_MAX + 1, "line of a function");
	}
	t->functions = functions;
}

static void read_positions(struct line_table *t, struct reader *r)
{
	struct position *positions;
	uint8_t *depths;

	t->npositions = read_count(r, 5, "number of positions");
	positions = ARENA_ARRAY(&t->arena, struct position, t->npositions);
	depths = ARENA_ARRAY(&t->arena, uint8_t, t->npositions + 1);
	for (size_t i = 0; i < t->npositions && !r->failed; i++) {
		struct position *position = &positions[i];

		position->function = read_below(r, t->nfunctions, "function of a position");
		position->file = read_below(r, t->nstrings, "file of a position");
		position->line = read_below(r, (size_t)UINT32_MAX + 1, "line of a position");
		position->column = read_below(r, (size_t)UINT32_MAX + 1, "column of a position");
		position->caller = read_below(r, i + 1, "caller of a position");
		depths[i + 1] = (uint8_t)(depths[position->caller] + 1);
		if (depths[i + 1] > DEBUG_INFO_FRAMES_MAX)
			reader_fail(r, "depth of a position");
	}
	t->positions = positions;
}

static void read_ranges(struct line_table *t, struct reader *r)
{
	uint64_t end = 0, position = 0;

	t->nranges = read_count(r, 3, "number of ranges");
	t->ranges = ARENA_ARRAY(&t->arena, struct range, t->nranges);
	for (size_t i = 0; i < t->nranges && !r->failed; i++) {
		struct range *range = &t->ranges[i];

		range->begin = end + reader_uleb(r, "range");
		range->end = range->begin + reader_uleb(r, "length of a range");
		position += (uint64_t)reader_zigzag(r, "position of a range");
		if (range->begin < end || range->end <= range->begin || position == 0 ||
		    position > t->npositions)
			reader_fail(r, "range");
		range->position = (uint32_t)position;
		end = range->end;
	}
}

struct err *line_table_new(const void *data, size_t len, struct line_table **ret)
{
	struct line_table *t = memory_zeroed(1, sizeof(*t));
	struct reader r;

	reader_init(&r, data, len, /* big_endian= */ false);
	read_strings(t, &r);
	read_functions(t, &r);
	read_positions(t, &r);
	read_ranges(t, &r);
	struct err *err = reader_check(&r);

	if (err)
		line_table_free(t);
	else
		*ret = t;
	return err;
}

void line_table_free(struct line_table *table)
{
	if (!table)
		return;
	arena_deinit(&table->arena);
	free(table);
}

struct line_table *line_table_find_recorded(const struct recording *rec, const char *path,
					    const uint8_t *build_id, size_t build_id_len,
					    struct diag *diag)
{
	for (size_t i = 0; i < rec->nlines; i++) {
		const struct recording_lines *lines = &rec->lines[i];
		struct line_table *table = NULL;

		if (strcmp(lines->path, path) != 0 || lines->build_id_len != build_id_len ||
		    memcmp(lines->build_id, build_id, build_id_len) != 0)
			continue;
		struct err *err = line_table_new(lines->table, lines->table_len, &table);

		if (err)
			diag_err(diag, err_wrap(err, "the lines of '%s' in the trace are damaged",
						path));
		return table;
	}
	return NULL;
}

static uint32_t find_position(const struct line_table *t, uint64_t vaddr)
{
	size_t low = BISECT(t->nranges, i, t->ranges[i].end <= vaddr);

	return low < t->nranges && t->ranges[low].begin <= vaddr ? t->ranges[low].position : 0;
}

size_t line_table_find(const struct line_table *table, uint64_t vaddr,
		       struct debug_frame ret[DEBUG_INFO_FRAMES_MAX])
{
	size_t count = 0;

	for (uint32_t at = find_position(table, vaddr); at; at = table->positions[at - 1].caller) {
		const struct position *position = &table->positions[at - 1];
		const struct function *function = &table->functions[position->function];

		ret[count++] = (struct debug_frame){
			.linkage_name = table->strings[function->linkage_name],
			.name = table->strings[function->name],
			.file = table->strings[position->file],
			.line = position->line,
			.column = position->column,
			.decl_file = table->strings[function->file],
			.decl_line = function->line,
		};
	}
	return count;
}

bool line_table_range(const struct line_table *table, size_t number, uint64_t *ret_begin,
		      uint64_t *ret_end)
{
	if (number >= table->nranges)
		return false;
	*ret_begin = table->ranges[number].begin;
	*ret_end = table->ranges[number].end;
	return true;
}

bool line_table_is_empty(const struct line_table *table)
{
	return table->nranges == 0;
}

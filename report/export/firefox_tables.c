/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firefox_tables.c - numbers are given while tables are written: the samples number stacks and frames, the frames
 * functions, the functions modules. So the order of writing matters.
 */
#include "report/export/firefox_tables.h"

#define NUMBER_MAX (1ULL << 53) /* what JSON's readers hold exactly */

/* ---- numbering ---- */

static uint32_t table_number(struct firefox_table *table, uint64_t key)
{
	bool is_new;
	uint64_t *number = map_put(&table->numbers, key, &is_new);

	if (is_new) {
		*number = table->keys.len;
		vec_push(&table->keys, key);
	}
	return (uint32_t)*number;
}

static void table_clear(struct firefox_table *table)
{
	map_clear(&table->numbers);
	table->keys.len = 0;
}

static void table_deinit(struct firefox_table *table)
{
	map_deinit(&table->numbers);
	vec_deinit(&table->keys);
}

/* A frame is one of a location's lines; the reasons stand behind them. */
static uint32_t frame_number(struct firefox_tables *t, const struct frame *frame)
{
	uint64_t nlocations = t->p->locations.len;

	if (frame->line == FRAME_REASON)
		return table_number(&t->frames, (nlocations + t->list.stop) << 32);

	uint64_t location = t->p->stacks.items[frame->stack].location;

	return table_number(&t->frames, location << 32 | frame->inlined);
}

uint32_t firefox_add_stack(struct firefox_tables *t, const struct profile_sample *row)
{
	uint32_t prefix = PROFILE_NONE;

	frame_list_fill(&t->list, t->p, row);
	for (size_t i = 0; i < t->list.frames.len; i++) {
		struct firefox_node node = { frame_number(t, &t->list.frames.items[i]), prefix };

		prefix = table_number(&t->stacks, (uint64_t)(prefix + 1) << 32 | node.frame);
		if (prefix == t->nodes.len)
			vec_push(&t->nodes, node);
	}
	return prefix;
}

/* ---- writing ---- */

void firefox_put_or_null(struct json *json, uint32_t number)
{
	if (number == PROFILE_NONE)
		json_number(json, NULL, "null");
	else
		json_uint(json, NULL, number);
}

/* A column that is the same in all rows. */
void firefox_put_same(struct json *json, const char *key, size_t len, const char *value)
{
	json_open(json, key, '[');
	for (size_t i = 0; i < len; i++)
		json_number(json, NULL, value);
	json_close(json, ']');
}

static void put_stack_table(struct json *json, struct firefox_tables *t)
{
	json_open(json, "stackTable", '{');
	json_uint(json, "length", t->nodes.len);
	json_open(json, "frame", '[');
	for (size_t i = 0; i < t->nodes.len; i++)
		json_uint(json, NULL, t->nodes.items[i].frame);
	json_close(json, ']');
	json_open(json, "prefix", '[');
	for (size_t i = 0; i < t->nodes.len; i++)
		firefox_put_or_null(json, t->nodes.items[i].prefix);
	json_close(json, ']');
	json_close(json, '}');
}

/* What stands behind number @i of the frame table. */
struct shown_frame {
	const struct profile_location *location; /* NULL for a reason */
	const struct profile_line *line;
	uint32_t inlined, stop;
};

static struct shown_frame shown_frame(const struct firefox_tables *t, size_t i)
{
	uint64_t key = t->frames.keys.items[i], location = key >> 32;
	struct shown_frame frame = { .inlined = (uint32_t)key };

	if (location >= t->p->locations.len) {
		frame.stop = (uint32_t)(location - t->p->locations.len);
		return frame;
	}
	frame.location = &t->p->locations.items[location];
	frame.line = &t->p->lines.items[frame.location->first_line + frame.location->nlines - 1 -
					frame.inlined];
	return frame;
}

static enum firefox_category category_of(const struct firefox_tables *t, const struct shown_frame *frame)
{
	if (!frame->location)
		return FIREFOX_OTHER;
	switch (profile_module(t->p, frame->location->module)->kind) {
	case PROFILE_KERNEL:
		return FIREFOX_KERNEL;
	case PROFILE_JIT:
		return FIREFOX_JIT;
	case PROFILE_USER:
		return FIREFOX_USER;
	default:
		return FIREFOX_OTHER;
	}
}

enum frame_column { COLUMN_ADDRESS, COLUMN_DEPTH, COLUMN_CATEGORY, COLUMN_FUNCTION, COLUMN_LINE };

static void put_frame_cell(struct json *json, struct firefox_tables *t, size_t i, enum frame_column column)
{
	struct shown_frame frame = shown_frame(t, i);

	switch (column) {
	case COLUMN_ADDRESS:
		if (frame.location && frame.location->has_vaddr && profile_address(frame.location) < NUMBER_MAX)
			json_uint(json, NULL, profile_address(frame.location));
		else
			json_number(json, NULL, "-1");
		break;
	case COLUMN_DEPTH:
		json_uint(json, NULL, frame.inlined);
		break;
	case COLUMN_CATEGORY:
		json_uint(json, NULL, category_of(t, &frame));
		break;
	case COLUMN_FUNCTION:
		json_uint(json, NULL,
			  table_number(&t->functions, frame.line ? frame.line->function :
						      t->p->functions.len + frame.stop));
		break;
	case COLUMN_LINE:
		firefox_put_or_null(json,
			    frame.line && frame.line->line ? frame.line->line : PROFILE_NONE);
		break;
	}
}

/* Numbers the functions, too. */
static void put_frame_table(struct json *json, struct firefox_tables *t)
{
	static const char *const columns[] = { "address", "inlineDepth", "category", "func", "line" };
	size_t len = t->frames.keys.len;

	json_open(json, "frameTable", '{');
	json_uint(json, "length", len);
	for (unsigned column = 0; column < ARRAY_LEN(columns); column++) {
		json_open(json, columns[column], '[');
		for (size_t i = 0; i < len; i++)
			put_frame_cell(json, t, i, column);
		json_close(json, ']');
	}
	firefox_put_same(json, "subcategory", len, "0");
	firefox_put_same(json, "nativeSymbol", len, "null");
	firefox_put_same(json, "innerWindowID", len, "0");
	firefox_put_same(json, "column", len, "null");
	json_close(json, '}');
}

static const struct profile_function *table_function(const struct firefox_tables *t, size_t i)
{
	uint64_t function = t->functions.keys.items[i];

	return function < t->p->functions.len ? &t->p->functions.items[function] : NULL;
}

enum function_column { COLUMN_NAME, COLUMN_RESOURCE, COLUMN_FILE, COLUMN_START };

static void put_function_cell(struct json *json, struct firefox_tables *t, size_t i, enum function_column column)
{
	const struct profile_function *function = table_function(t, i);
	uint64_t stop = t->functions.keys.items[i] - t->p->functions.len;

	switch (column) {
	case COLUMN_NAME:
		json_uint(json, NULL, function ? function->name : t->p->strings.len + stop);
		break;
	case COLUMN_RESOURCE:
		if (function && function->module != PROFILE_NONE)
			json_uint(json, NULL, table_number(&t->modules, function->module));
		else
			json_number(json, NULL, "-1");
		break;
	case COLUMN_FILE:
		firefox_put_or_null(json, function && function->file ? function->file : PROFILE_NONE);
		break;
	case COLUMN_START:
		firefox_put_or_null(json, function && function->line ? function->line : PROFILE_NONE);
		break;
	}
}

/* Numbers the modules, too. */
static void put_function_table(struct json *json, struct firefox_tables *t)
{
	static const char *const columns[] = { "name", "resource", "fileName", "lineNumber" };
	size_t len = t->functions.keys.len;

	json_open(json, "funcTable", '{');
	json_uint(json, "length", len);
	for (unsigned column = 0; column < ARRAY_LEN(columns); column++) {
		json_open(json, columns[column], '[');
		for (size_t i = 0; i < len; i++)
			put_function_cell(json, t, i, column);
		json_close(json, ']');
	}
	firefox_put_same(json, "columnNumber", len, "null");
	firefox_put_same(json, "isJS", len, "false");
	firefox_put_same(json, "relevantForJS", len, "false");
	json_close(json, '}');
}

static void put_resource_table(struct json *json, struct firefox_tables *t)
{
	size_t len = t->modules.keys.len;

	json_open(json, "resourceTable", '{');
	json_uint(json, "length", len);
	json_open(json, "lib", '[');
	for (size_t i = 0; i < len; i++)
		json_uint(json, NULL, t->modules.keys.items[i]);
	json_close(json, ']');
	json_open(json, "name", '[');
	for (size_t i = 0; i < len; i++)
		json_uint(json, NULL, t->p->modules.items[t->modules.keys.items[i]].name);
	json_close(json, ']');
	firefox_put_same(json, "host", len, "null");
	firefox_put_same(json, "type", len, "1"); /* a library */
	json_close(json, '}');
}

/* Tables that the page wants to see though there is nothing in them. */
static void put_empty(struct json *json, const char *name, const char *const *columns)
{
	json_open(json, name, '{');
	json_uint(json, "length", 0);
	for (; *columns; columns++)
		firefox_put_same(json, *columns, 0, NULL);
	json_close(json, '}');
}

static void put_empty_tables(struct json *json)
{
	static const char *const symbols[] = { "libIndex", "address", "name", "functionSize", NULL };
	static const char *const markers[] = { "data",	  "name",     "startTime", "endTime",
					       "phase", "category", NULL };

	put_empty(json, "nativeSymbols", symbols);
	put_empty(json, "markers", markers);
}

void firefox_put_tables(struct json *json, struct firefox_tables *t)
{
	put_stack_table(json, t);
	put_frame_table(json, t);
	put_function_table(json, t);
	put_resource_table(json, t);
	put_empty_tables(json);
}

void firefox_tables_clear(struct firefox_tables *t)
{
	table_clear(&t->stacks);
	table_clear(&t->frames);
	table_clear(&t->functions);
	table_clear(&t->modules);
	t->nodes.len = 0;
}

void firefox_tables_deinit(struct firefox_tables *t)
{
	table_deinit(&t->stacks);
	table_deinit(&t->frames);
	table_deinit(&t->functions);
	table_deinit(&t->modules);
	vec_deinit(&t->nodes);
	frame_list_deinit(&t->list);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - three renderings of the same cells.
 *
 * Widths are terminal columns, not bytes. In a table that is too wide the widest of the columns that may be cut gives
 * way, a character at a time, so that short ones stay whole; before any is cut to less than names need to be
 * distinguished, the columns that may go are left out.
 */
#include "report/print/table.h"

#include "formats/base/csv.h"
#include "formats/base/text.h"
#include "report/print/short_name.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#define CUT_EASY     36 /* columns that may go are left out before one is cut below this */
#define CUT_TIGHT    16 /* those of TABLE_CUT_LAST before one is cut below this */
#define CUT_MIN      10 /* a column is not cut below this */
#define ALIGN_MAX    60 /* where lines have no limit, longer names push the rest of their line aside */
#define INDENT_WIDTH 2
#define GAP          2 /* columns between columns */

/* How one column is shown. */
struct shown {
	size_t width, full; /* @full: of the longest cell */
	bool hidden;
};

const char *const table_formats[] = { "text", "csv", "json", NULL };

enum table_format table_format_named(const char *name)
{
	enum table_format format = TABLE_TEXT;

	while (name && table_formats[format] && strcmp(name, table_formats[format]) != 0)
		format++;
	return format;
}

void table_init(struct table *table, struct arena *arena)
{
	*table = (struct table){ .arena = arena };
}

void table_deinit(struct table *table)
{
	vec_deinit(&table->columns);
	vec_deinit(&table->cells);
	vec_deinit(&table->indents);
	vec_deinit(&table->tones);
}

void table_add_column(struct table *table, const struct table_column *column)
{
	assert(table->cells.len == 0);
	vec_push(&table->columns, *column);
}

void table_add_columns(struct table *table, const struct table_column *columns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		table_add_column(table, &columns[i]);
}

void table_add_row(struct table *table, unsigned indent, enum table_tone tone)
{
	assert(table->cells.len == table_rows(table) * table->columns.len);
	vec_push(&table->indents, (uint8_t)indent);
	vec_push(&table->tones, (uint8_t)tone);
}

void table_add_cell(struct table *table, const char *text, const char *data)
{
	struct table_cell cell = { text_escape(table->arena, text), data };

	if (!data && cell.text != text)
		cell.data = text; /* programs get it as it is */
	assert(table->cells.len < table_rows(table) * table->columns.len);
	vec_push(&table->cells, cell);
}

void table_add_format(struct table *table, const char *fmt, ...)
{
	char text[128];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	table_add_cell(table, arena_strdup(table->arena, text), NULL);
}

size_t table_rows(const struct table *table)
{
	return table->indents.len;
}

static const struct table_cell *cell_at(const struct table *table, size_t row, size_t column)
{
	return &table->cells.items[row * table->columns.len + column];
}

static size_t indent_of(const struct table *table, size_t row, size_t column)
{
	return column == table->indent_column ? table->indents.items[row] * (size_t)INDENT_WIDTH
					      : 0;
}

/* ---- text ---- */

static void measure(const struct table *table, struct shown *shown)
{
	for (size_t c = 0; c < table->columns.len; c++) {
		const char *title = table->columns.items[c].title;

		shown[c].hidden = !title;
		if (!title)
			continue;
		shown[c].width = text_width(title);
		for (size_t row = 0; row < table_rows(table); row++) {
			size_t width = text_width(cell_at(table, row, c)->text);

			shown[c].width = MAX(shown[c].width, width + indent_of(table, row, c));
		}
		shown[c].full = shown[c].width;
	}
}

static size_t total_width(const struct table *table, const struct shown *shown)
{
	size_t width = 0;

	for (size_t c = 0; c < table->columns.len; c++)
		width += shown[c].hidden ? 0 : shown[c].width + GAP;
	return width ? width - GAP : 0;
}

/* The widest column that may be cut and is wider than @least; NULL if there is none. */
static struct shown *widest(const struct table *table, struct shown *shown, size_t least)
{
	struct shown *best = NULL;

	for (size_t c = 0; c < table->columns.len; c++) {
		enum table_fit fit = table->columns.items[c].fit;

		if (shown[c].hidden || fit == TABLE_KEEP || fit == TABLE_DROP || fit == TABLE_DROP_ZERO)
			continue;
		if (shown[c].width > least && (!best || shown[c].width > best->width))
			best = &shown[c];
	}
	return best;
}

/* Cut columns, none below @least, until the whole is at most @columns wide. */
static void cut_widest(const struct table *table, struct shown *shown, size_t columns, size_t least)
{
	for (size_t total = total_width(table, shown); total > columns; total--) {
		struct shown *column = widest(table, shown, least);

		if (!column)
			return;
		column->width--;
	}
}

static bool is_zero(const struct table *table, size_t column)
{
	bool zero = true;

	for (size_t row = 0; row < table_rows(table) && zero; row++)
		zero = strcmp(cell_at(table, row, column)->text, "0") == 0;
	return zero;
}

/* Leave out columns of that kind, the last first, until the whole is at most @columns wide. */
static void leave_out(const struct table *table, struct shown *shown, size_t columns, enum table_fit kind)
{
	size_t total = total_width(table, shown);

	for (size_t c = table->columns.len; c-- > 0 && total > columns;) {
		if (table->columns.items[c].fit != kind || shown[c].hidden ||
		    (kind == TABLE_DROP_ZERO && !is_zero(table, c)))
			continue;
		shown[c].hidden = true;
		total = total_width(table, shown);
	}
}

/* What is left of the columns is cut once more from its full width: there may be more room for it now. */
static void fit(const struct table *table, struct shown *shown, size_t columns)
{
	leave_out(table, shown, columns, TABLE_DROP_ZERO);
	cut_widest(table, shown, columns, CUT_EASY);
	leave_out(table, shown, columns, TABLE_DROP);
	cut_widest(table, shown, columns, CUT_TIGHT);
	leave_out(table, shown, columns, TABLE_CUT_LAST);
	for (size_t c = 0; c < table->columns.len; c++)
		shown[c].width = shown[c].full;
	cut_widest(table, shown, columns, CUT_MIN);
}

/* The first byte of the longest end of @text that is at most @width wide. */
static const char *end_within(const char *text, size_t width)
{
	while (*text && text_width(text) > width)
		text += MAX(text_char_len(text), 1);
	return text;
}

/* How many bytes of @text are at most @width wide. */
static size_t start_within(struct arena *arena, const char *text, size_t width)
{
	size_t len = 0;

	while (text[len]) {
		size_t next = len + MAX(text_char_len(text + len), 1);

		if (text_width(arena_memdup(arena, text, next)) > width)
			break;
		len = next;
	}
	return len;
}

/* The bytes of @text that are the branches of a tree in front of a name. */
static size_t guides_len(const char *text)
{
	static const char *const guides[] = { " ", "| ", "+ ", "` ", "\xe2\x94\x82 ", "\xe2\x94\x9c ",
					      "\xe2\x94\x94 ", "~ " };
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_LEN(guides); i++) {
		if (strncmp(text + len, guides[i], strlen(guides[i])) != 0)
			continue;
		len += strlen(guides[i]);
		i = SIZE_MAX; /* once more from the first */
	}
	return len;
}

/* A name that still has to be cut says most with its beginning. */
static const char *shorten(const struct table *table, const char *text, size_t width, bool utf8)
{
	size_t guides = guides_len(text);
	const char *lead = arena_printf(table->arena, "%.*s", (int)guides, text);
	size_t taken = text_width(lead);
	const char *name =
		short_name(table->arena, text + guides, width > taken ? width - taken : 0, utf8);

	return arena_printf(table->arena, "%s%s", lead, name);
}

/* ":10" at the end of "hash_tables.cpp:10", "" if there is no number of a line. */
static const char *line_number(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1) ? colon : "";
}

static const char *cut(const struct table *table, const char *text, size_t width,
		       enum table_fit how, bool utf8)
{
	CLEANUP(arena_deinit) struct arena scratch = { 0 };
	const char *mark = utf8 ? "\xe2\x80\xa6" : "..";
	size_t mark_width = utf8 ? 1 : 2;
	const char *file = strrchr(text, '/'), *line = line_number(text);
	bool is_name = how == TABLE_CUT_NAME || how == TABLE_CUT_LAST;

	if (is_name && *text == '/')
		how = TABLE_CUT_START;
	else if (text_width(text) > width && is_name && !*line)
		text = shorten(table, text, width, utf8);
	if (text_width(text) <= width)
		return text;
	if (width <= mark_width)
		return "";
	width -= mark_width;
	if (how == TABLE_CUT_START && (!file || text_width(file) <= width))
		return arena_printf(table->arena, "%s%s", mark, end_within(text, width));
	if (file && how == TABLE_CUT_START)
		text = file + 1;
	if (text_width(text) <= width + mark_width)
		return text;
	width -= MIN(text_width(line), width);
	return arena_printf(table->arena, "%.*s%s%s", (int)start_within(&scratch, text, width), text,
			    mark, line);
}

/* A line that is being written: blanks wait until something follows them. */
struct line {
	FILE *out;
	size_t blanks;
	bool limited; /* to the width of a terminal */
};

static void put_text(struct line *line, const char *text)
{
	if (!*text)
		return;
	fprintf(line->out, "%*s%s", (int)line->blanks, "", text);
	line->blanks = 0;
}

static void put_cell(const struct table *table, const struct shown *shown, size_t column,
		     const char *text, struct line *line)
{
	size_t width = text_width(text);
	size_t limit = line->limited ? SIZE_MAX : ALIGN_MAX;
	size_t aligned = MIN(shown[column].width, limit);
	size_t pad = aligned > width ? aligned - width : 0;
	bool right = table->columns.items[column].align == TABLE_RIGHT;

	line->blanks += right ? pad : 0;
	put_text(line, text);
	line->blanks += (right ? 0 : pad) + GAP;
}

/* The title of a column has room above the columns behind it that have none. */
static size_t title_room(const struct table *table, const struct shown *shown, size_t column)
{
	size_t room = shown[column].width;

	for (size_t c = column + 1; c < table->columns.len; c++) {
		if (shown[c].hidden)
			continue;
		if (*table->columns.items[c].title)
			break;
		room += GAP + shown[c].width;
	}
	return room;
}

static void put_header(const struct table *table, const struct shown *shown,
		       const struct terminal *term, FILE *out)
{
	struct line line = { .out = out, .limited = term->columns != 0 };

	if (term->colour)
		fputs("\033[1m", out);
	for (size_t c = 0; c < table->columns.len; c++) {
		if (!shown[c].hidden)
			put_cell(table, shown, c, cut(table, table->columns.items[c].title,
						      title_room(table, shown, c), TABLE_CUT_END, term->utf8), &line);
	}
	fputs(term->colour ? "\033[0m\n" : "\n", out);
}

static void put_row(const struct table *table, const struct shown *shown, size_t row,
		    const struct terminal *term, FILE *out)
{
	static const char *const codes[] = { NULL, "\033[2m", "\033[1m", "\033[33m" };
	const char *code = term->colour ? codes[table->tones.items[row]] : NULL;
	struct line line = { .out = out, .limited = term->columns != 0 };

	if (code)
		fputs(code, out);
	for (size_t c = 0; c < table->columns.len; c++) {
		size_t indent = indent_of(table, row, c);

		if (shown[c].hidden)
			continue;

		size_t room = shown[c].width - MIN(indent, shown[c].width);
		const char *text = cut(table, cell_at(table, row, c)->text, room,
				       table->columns.items[c].fit, term->utf8);

		if (indent)
			text = arena_printf(table->arena, "%*s%s", (int)indent, "", text);
		put_cell(table, shown, c, text, &line);
	}
	fputs(code ? "\033[0m\n" : "\n", out);
}

void table_print_text(const struct table *table, const struct terminal *term, FILE *out)
{
	struct shown *shown = memory_zeroed(table->columns.len, sizeof(*shown));

	measure(table, shown);
	if (term->columns)
		fit(table, shown, term->columns);
	put_header(table, shown, term, out);
	for (size_t row = 0; row < table_rows(table); row++)
		put_row(table, shown, row, term, out);
	free(shown);
}

/* ---- CSV ---- */

void table_print_csv(const struct table *table, FILE *out, bool with_header)
{
	for (size_t row = 0; row < table_rows(table) + with_header; row++) {
		const char *separator = "";

		for (size_t c = 0; c < table->columns.len; c++) {
			const struct table_column *column = &table->columns.items[c];
			const char *text = column->key;

			if (!text)
				continue;
			if (!with_header || row > 0) {
				const struct table_cell *cell =
					cell_at(table, row - with_header, c);

				text = text_escape(table->arena,
						   cell->data ? cell->data : cell->text);
			}
			fputs(separator, out);
			csv_put(out, text);
			separator = ",";
		}
		fputc('\n', out); /* not CRLF: what reads this here are Unix tools */
	}
}

/* ---- JSON ---- */

void table_print_json(const struct table *table, const char *key, struct json *json)
{
	json_open(json, key, '[');
	for (size_t row = 0; row < table_rows(table); row++) {
		json_open(json, NULL, '{');
		for (size_t c = 0; c < table->columns.len; c++) {
			const struct table_column *column = &table->columns.items[c];
			const struct table_cell *cell = cell_at(table, row, c);
			const char *text = cell->data ? cell->data : cell->text;

			if (!column->key)
				continue;
			if (column->number && *text)
				json_number(json, column->key, text);
			else if (column->number)
				json_number(json, column->key, "null");
			else
				json_string(json, column->key, text);
		}
		json_close(json, '}');
	}
	json_close(json, ']');
}

void table_print(const struct table *table, enum table_format format, const char *key, const struct terminal *term, FILE *out)
{
	struct json json;

	switch (format) {
	case TABLE_TEXT:
		table_print_text(table, term, out);
		break;
	case TABLE_CSV:
		table_print_csv(table, out, /* with_header= */ true);
		break;
	case TABLE_JSON:
		json_init(&json, out);
		json.lines = true;
		json_open(&json, NULL, '{');
		table_print_json(table, key, &json);
		json_close(&json, '}');
		break;
	}
}

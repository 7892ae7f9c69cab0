/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - rows and columns, rendered as text for people, as CSV (RFC 4180) and as JSON.
 *
 * Columns first, then row by row one cell for each column. All strings must outlive the table, which lives in an
 * arena. Names are escaped here, so callers pass them as they are.
 */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include "formats/base/arena.h"
#include "formats/base/vec.h"
#include "formats/base/json_writer.h"
#include "report/print/terminal.h"

#include <stdbool.h>
#include <stdio.h>

enum table_format {
	TABLE_TEXT,
	TABLE_CSV,
	TABLE_JSON,
};

/* "text", "csv", "json", NULL: the choices of --format, in the order of enum table_format. */
extern const char *const table_formats[];

/* The format of that name, one of table_formats; NULL is text. */
enum table_format table_format_named(const char *name);

enum table_align {
	TABLE_LEFT,
	TABLE_RIGHT,
};

/* What to do with a column when the terminal is too narrow. */
enum table_fit {
	TABLE_KEEP,      /* nothing */
	TABLE_CUT_END,   /* cut cells: "std::vector<int, st…" */
	TABLE_CUT_START, /* "…/x86_64-linux-gnu/libc.so.6"; a file that is longer is cut itself: "hash_ta…:10" */
	TABLE_CUT_NAME,  /* functions' names are shortened, "vector<…>::push_back", and cut if nothing else helps */
	TABLE_CUT_LAST,  /* the same as TABLE_CUT_NAME, but left out before others are cut to what says little */
	TABLE_DROP,      /* leave the column out */
	TABLE_DROP_ZERO, /* the same, before anything is cut, if all its cells are 0 */
};

struct table_column {
	const char *title; /* above the column in text; NULL: not in text */
	const char *key;   /* name in CSV and JSON; NULL: not there */
	enum table_align align;
	enum table_fit fit;
	bool number; /* a number or true/false in JSON: not quoted */
};

/* How a row stands out where there is colour; never the only sign of anything. */
enum table_tone {
	TABLE_PLAIN,
	TABLE_DIM,      /* less important: what is left out, what everything passes through */
	TABLE_HOT,      /* bold: surely more than a twentieth */
	TABLE_DOUBTFUL, /* yellow: the name is not known */
};

struct table_cell {
	const char *text; /* for people */
	const char *data; /* for CSV and JSON; NULL: the same */
};

struct table {
	struct arena *arena;
	VEC(struct table_column) columns;
	VEC(struct table_cell) cells; /* row by row */
	VEC(uint8_t) indents;         /* one for each row: of its first name column, in text */
	VEC(uint8_t) tones;           /* one for each row: enum table_tone */
	unsigned indent_column;       /* which column is indented */
};

void table_init(struct table *table, struct arena *arena);
void table_deinit(struct table *table);

void table_add_column(struct table *table, const struct table_column *column);
void table_add_columns(struct table *table, const struct table_column *columns, size_t count);

/* Begin a row; then exactly one table_add_cell() for each column. */
void table_add_row(struct table *table, unsigned indent, enum table_tone tone);
void table_add_cell(struct table *table, const char *text, const char *data);

/* A cell made with printf, the same for people and programs. */
void table_add_format(struct table *table, const char *fmt, ...) PRINTF(2, 3);

size_t table_rows(const struct table *table);

void table_print_text(const struct table *table, const struct terminal *term, FILE *out);
void table_print_csv(const struct table *table, FILE *out, bool with_header);

/* As an array of objects under @key of the object that is open in @json. */
void table_print_json(const struct table *table, const char *key, struct json *json);

/* In @format and with nothing around it; as JSON, one object with @key. */
void table_print(const struct table *table, enum table_format format, const char *key, const struct terminal *term, FILE *out);

#endif

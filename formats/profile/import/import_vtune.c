/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_vtune.c - tables that Intel VTune exports with -format csv.
 *
 *	vtune -report hotspots: a row for each function
 *		Function,CPU Time,CPU Time:Effective Time,Module,Source File
 *		compress_block,12.504,12.100,app,compress.c
 *	vtune -report top-down -call-stack-mode all: a tree, indented by blanks in front of the name or its quotes
 *		Function Stack,CPU Time:Total,CPU Time:Self,Module
 *		Total,100.0%,0.0,
 *		 main,100.0%,0.0,app
 *		  "f<int, long>",100.0%,0.5,app
 *
 * Times are seconds; whatever counts keeps its number. Rates and shares of other columns are left out: they do not add up.
 */
#include "formats/profile/import/import_outline.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/import_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define HEADER_LINES  16 /* it stands among the first so many */
#define COLUMNS_MAX   512
#define NUMBER_MAX    64

enum column_kind {
	COLUMN_LEFT_OUT,
	COLUMN_FUNCTION,
	COLUMN_STACK,
	COLUMN_MODULE,
	COLUMN_FILE,
	COLUMN_LINE,
	COLUMN_VALUE,
};

struct column {
	enum column_kind kind;
	struct json_text name;
	bool is_self, is_total;
	double scale; /* of values: to ns, or 1 */
	uint32_t type;
};

struct table {
	char delimiter;
	size_t ncolumns;
	struct column columns[COLUMNS_MAX];
	bool is_tree;
};

struct vtune {
	struct profile *p;
	struct table table;
	struct import_outline outline;
	uint32_t thread;
	uint64_t number; /* of the line */
	VEC(char) quoted; /* a cell in which quotes are doubled */
};

/* ---- cells ----------------------------------------------------------------------------------------- */

/* The part of a quoted cell behind its first quote; @line goes behind the last one. */
static struct json_text take_quoted(struct vtune *in, struct json_text *line)
{
	struct json_text plain = { line->data, 0 };
	bool doubled = false;

	in->quoted.len = 0;
	while (line->len) {
		struct json_text part = import_take(line, '"');

		vec_append(&in->quoted, part.data, part.len);
		plain.len += part.len;
		if (!line->len || *line->data != '"')
			break;
		doubled = true;
		vec_push(&in->quoted, '"');
		line->data++;
		line->len--;
	}
	return doubled ? (struct json_text){ in->quoted.items, in->quoted.len } : plain;
}

/* The next cell, without quotes; *@ret_indent is how many blanks stood in front of it. */
static struct json_text take_cell(struct vtune *in, struct json_text *line, size_t *ret_indent)
{
	struct json_text cell;
	size_t indent = 0;

	while (line->len && *line->data == ' ') {
		line->data++;
		line->len--;
		indent++;
	}
	if (!line->len || *line->data != '"') {
		cell = import_take(line, in->table.delimiter);
	} else {
		line->data++;
		line->len--;
		cell = take_quoted(in, line);
		import_take(line, in->table.delimiter);
	}
	while (cell.len && *cell.data == ' ') {
		cell.data++;
		cell.len--;
		indent++;
	}
	*ret_indent = indent;
	return cell;
}

/* ---- the header ------------------------------------------------------------------------------------ */

static bool ends_with(struct json_text text, const char *with)
{
	size_t len = strlen(with);

	return text.len >= len && memcmp(text.data + text.len - len, with, len) == 0;
}

/* Take ":Self" or ": Self" off the end of @name. */
static bool take_suffix(struct json_text *name, const char *suffix)
{
	struct json_text rest = *name;

	if (!ends_with(rest, suffix))
		return false;
	rest.len -= strlen(suffix);
	while (rest.len && rest.data[rest.len - 1] == ' ')
		rest.len--;
	if (!rest.len || rest.data[rest.len - 1] != ':')
		return false;
	rest.len--;
	*name = rest;
	return true;
}

/* Of what is in front of the first colon, does it add up? "CPU Time:Spin Time" does as "CPU Time" does. */
static bool read_measure(struct json_text name, double *ret_scale)
{
	static const char *const counts[] = { "Clockticks", "Instructions Retired", "Loads", "Stores", "Hardware Event Count",
					      "Hardware Event Sample Count" };
	struct json_text root = import_trim(import_take(&name, ':'));

	if (ends_with(root, "Time")) {
		*ret_scale = 1e9;
		return true;
	}
	*ret_scale = 1;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (json_is(root, counts[i]))
			return true;
	return ends_with(root, " Count");
}

static struct column read_column(struct json_text name)
{
	static const struct {
		const char *name;
		enum column_kind kind;
	} known[] = { { "Function", COLUMN_FUNCTION }, { "Function Stack", COLUMN_STACK }, { "Module", COLUMN_MODULE },
		      { "Source File", COLUMN_FILE },  { "Source Line", COLUMN_LINE } };
	struct column column = { .name = import_trim(name) };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (json_is(column.name, known[i].name))
			column.kind = known[i].kind;
	if (column.kind || memchr(column.name.data, '%', column.name.len))
		return column;
	column.is_self = take_suffix(&column.name, "Self");
	column.is_total = take_suffix(&column.name, "Total");
	if (!column.is_total && read_measure(column.name, &column.scale))
		column.kind = COLUMN_VALUE;
	return column;
}

/* Where a column has its own share named, those without it are sums with what was called. */
static void leave_out_sums(struct table *table)
{
	bool selves = false;

	for (size_t i = 0; i < table->ncolumns; i++)
		selves = selves || (table->columns[i].kind == COLUMN_VALUE && table->columns[i].is_self);
	for (size_t i = 0; i < table->ncolumns && (selves || table->is_tree); i++)
		if (table->columns[i].kind == COLUMN_VALUE && !table->columns[i].is_self)
			table->columns[i].kind = COLUMN_LEFT_OUT;
}

/* Is @line the header? It begins with the name of the function; its columns are then in in->table. */
static bool read_header(struct vtune *in, struct json_text line)
{
	static const char *const starts[] = { "Function Stack", "Function" };
	struct table *table = &in->table;
	bool has_time = false;
	size_t indent;

	for (size_t i = 0; i < 2 && !table->delimiter; i++) {
		size_t len = strlen(starts[i]);

		if (import_starts(line, starts[i]) && line.len > len && strchr(",;\t|", line.data[len]))
			table->delimiter = line.data[len];
	}
	if (!table->delimiter)
		return false;
	while (line.len && table->ncolumns < COLUMNS_MAX) {
		struct column column = read_column(take_cell(in, &line, &indent));

		has_time = has_time || column.is_total || column.kind == COLUMN_VALUE;
		table->is_tree = table->is_tree || column.kind == COLUMN_STACK;
		table->columns[table->ncolumns++] = column;
	}
	leave_out_sums(table);
	return has_time;
}

static bool find_header(struct vtune *in, struct import_lines *lines)
{
	struct json_text line;

	for (int i = 0; i < HEADER_LINES && import_lines_next(lines, &line); i++) {
		in->table.delimiter = 0;
		in->table.ncolumns = 0;
		in->table.is_tree = false;
		in->number = lines->number;
		if (lines->number == 1 && import_starts(line, "\xef\xbb\xbf")) {
			line.data += 3;
			line.len -= 3;
		}
		if (read_header(in, line))
			return true;
	}
	return false;
}

static unsigned recognise(const uint8_t *start, size_t len)
{
	struct vtune in = { 0 };
	struct import_lines lines;
	bool found;

	import_lines_init(&lines, start, len);
	found = find_header(&in, &lines);
	vec_deinit(&in.quoted);
	return found ? 85 : 0;
}

/* ---- rows ------------------------------------------------------------------------------------------ */

/* "12.504", also "12.504s"; empty is 0. */
static struct err *read_value(const struct vtune *in, const struct column *column, struct json_text cell, double *ret)
{
	char text[NUMBER_MAX], *end;

	*ret = 0;
	cell = import_trim(cell);
	if (!cell.len)
		return NULL;
	if (cell.len < sizeof(text)) {
		memcpy(text, cell.data, cell.len);
		text[cell.len] = 0;
		*ret = strtod(text, &end);
		if (end != text && (!*end || strcmp(end, "s") == 0) && isfinite(*ret) && *ret >= 0 && *ret * column->scale < 9e18)
			return NULL;
	}
	return err_new(ERR_CORRUPT, "line %" PRIu64 ": '%.*s' is no number of '%.*s'", in->number, (int)MIN(cell.len, (size_t)NUMBER_MAX),
		       cell.data, (int)MIN(column->name.len, (size_t)NUMBER_MAX), column->name.data);
}

struct row {
	struct import_frame frame;
	size_t depth;
	bool is_root; /* "Total", above all */
	double values[COLUMNS_MAX];
};

static struct err *take_row_cell(struct vtune *in, size_t index, struct json_text cell, size_t indent, struct row *row)
{
	const struct column *column = &in->table.columns[index];
	uint64_t line = 0;

	switch (column->kind) {
	case COLUMN_FUNCTION:
	case COLUMN_STACK:
		row->frame.name = cell.len ? import_text(in->p, cell) : profile_string(in->p, "[Unknown]");
		row->depth = indent;
		row->is_root = in->table.is_tree && !indent && json_is(cell, "Total");
		return NULL;
	case COLUMN_MODULE:
		row->frame.module = json_is(cell, "[Unknown]") ? PROFILE_NONE : import_module(in->p, cell, PROFILE_USER);
		return NULL;
	case COLUMN_FILE:
		row->frame.file = json_is(cell, "[Unknown]") ? 0 : import_text(in->p, cell);
		return NULL;
	case COLUMN_LINE:
		if (import_number(cell, &line))
			row->frame.line = (uint32_t)MIN(line, (uint64_t)UINT32_MAX - 1);
		return NULL;
	case COLUMN_VALUE:
		return read_value(in, column, cell, &row->values[index]);
	default:
		return NULL;
	}
}

static struct err *read_row(struct vtune *in, struct json_text line, struct row *row)
{
	struct err *err = NULL;
	size_t i, indent;

	*row = (struct row){ .frame = { .module = PROFILE_NONE, .kind = PROFILE_FRAME_NATIVE } };
	for (i = 0; i < in->table.ncolumns && line.len && !err; i++) {
		struct json_text cell = take_cell(in, &line, &indent);

		err = take_row_cell(in, i, cell, indent, row);
	}
	if (!err && i < 2)
		err = err_new(ERR_CORRUPT, "line %" PRIu64 ": the row is cut: it has one cell", in->number);
	return err;
}

static struct err *add_row(struct vtune *in, const struct row *row)
{
	uint32_t stack, location = row->is_root ? PROFILE_NONE : import_frame(in->p, &row->frame);
	size_t depth = in->table.is_tree ? row->depth : 0;

	if (!import_outline_add(&in->outline, in->p, depth, location, &stack))
		return err_new(ERR_CORRUPT, "line %" PRIu64 ": it is indented by %zu, but nothing stands above it at %zu", in->number, depth,
			       depth - 1);
	for (size_t i = 0; i < in->table.ncolumns; i++) {
		const struct column *column = &in->table.columns[i];
		struct import_sample sample = { .stack = stack, .type = column->type, .thread = in->thread, .count = 1, .uncounted = true };

		if (column->kind != COLUMN_VALUE || row->values[i] <= 0)
			continue;
		sample.weight = import_fits(in->p, (int64_t)llrint(row->values[i] * column->scale));
		import_sample(in->p, &sample);
	}
	return NULL;
}

static struct err *add_types(struct vtune *in)
{
	bool any = false;

	for (size_t i = 0; i < in->table.ncolumns; i++) {
		struct column *column = &in->table.columns[i];
		char name[256];

		if (column->kind != COLUMN_VALUE)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)column->name.len, column->name.data);
		column->type = import_type(in->p, name, column->scale == 1 ? "events" : "ns");
		if (column->type == PROFILE_NONE)
			column->kind = COLUMN_LEFT_OUT;
		else
			any = true;
	}
	if (any)
		return NULL;
	return err_remedy(err_new(ERR_UNSUPPORTED, "line %" PRIu64 ": no column is what functions took themselves", in->number),
			  "vtune -report top-down -call-stack-mode all -column 'CPU Time:Self,Module' -format csv -csv-delimiter comma");
}

/* Both a function and a stack: the callers of each function, whose times are not said to add up. */
static struct err *check_layout(const struct vtune *in)
{
	unsigned names = 0;

	for (size_t i = 0; i < in->table.ncolumns; i++)
		names += in->table.columns[i].kind == COLUMN_FUNCTION || in->table.columns[i].kind == COLUMN_STACK;
	if (names == 1)
		return NULL;
	return err_remedy(err_new(ERR_UNSUPPORTED, "line %" PRIu64 ": it has the callers of each function, and not the tree of calls", in->number),
			  "vtune -report top-down -call-stack-mode all -column 'CPU Time:Self,Module' -format csv -csv-delimiter comma");
}

static struct err *read_rows(struct vtune *in, struct import_lines *lines)
{
	struct err *err = check_layout(in);
	struct json_text line;
	struct row *row = NULL;

	if (!err)
		err = add_types(in);
	if (!err)
		row = memory_zeroed(1, sizeof(*row));
	while (!err && import_lines_next(lines, &line)) {
		in->number = lines->number;
		if (line.len)
			err = read_row(in, line, row);
		if (line.len && !err)
			err = add_row(in, row);
	}
	free(row);
	return err;
}

static struct err *read_vtune(const struct import_input *input, struct profile *p, struct profile_facts *facts, struct diag *diag)
{
	struct vtune in = { .p = p, .thread = import_thread(p, PROFILE_NONE, PROFILE_NONE, 0, 0) };
	struct import_lines lines;
	struct err *err;

	(void)facts;
	(void)diag;
	import_lines_init(&lines, input->data, input->len);
	err = find_header(&in, &lines) ? read_rows(&in, &lines) : err_new(ERR_CORRUPT, "none of the first %d lines names its columns", HEADER_LINES);
	import_outline_deinit(&in.outline);
	vec_deinit(&in.quoted);
	return err;
}

const struct importer import_vtune = {
	.name = "vtune",
	.what = "CSV of Intel VTune: vtune -report hotspots or top-down",
	.extensions = ".csv",
	.carries = IMPORT_LINES | IMPORT_TYPES,
	.recognise = recognise,
	.read = read_vtune,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_instruments.c - the call tree of Apple's Instruments, copied as text (Edit, Deep Copy).
 *
 *	Weight	Self Weight		Symbol Name
 *	1.32 s  100.0%	0 s	 	app (84012)
 *	1.32 s  100.0%	0 s	 	 Main Thread  0x30f1f7
 *	1.32 s  100.0%	320.00 ms	 	  main
 *	1.00 s   75.8%	1.00 s	 	   work
 *
 * Cells are separated by tabs, and the tree is in the blanks before the symbol. Older ones call the first column "Running Time" and the second
 * "Self (ms)"; allocations have "Bytes Used". Without a column of own weights they are what the callees do not have, as exact as the numbers
 * that were rounded for the screen.
 */
#include "formats/profile/import/import_outline.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/import_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define COLUMNS_MAX 32
#define TEXT_MAX    64

enum column {
	COLUMN_LEFT_OUT,
	COLUMN_WHOLE,
	COLUMN_SELF,
	COLUMN_SELF_MS,
	COLUMN_SYMBOL,
	COLUMN_FILE,
	COLUMN_MODULE,
};

struct header {
	enum column columns[COLUMNS_MAX];
	size_t ncolumns;
	bool has_whole, has_self, has_symbol;
};

struct node {
	uint32_t stack, thread;
	size_t depth;
	double whole, self;
};

struct instruments {
	struct profile *p;
	struct header header;
	struct import_outline outline;
	VEC(struct node) nodes;
	const char *unit; /* of weights; NULL: none was seen */
	uint32_t thread, pid, process;
	uint64_t number; /* of the line */
};

static enum column column_named(struct json_text name)
{
	static const struct {
		const char *name;
		enum column column;
	} known[] = {
		{ "Weight", COLUMN_WHOLE },	{ "Running Time", COLUMN_WHOLE },  { "Bytes Used", COLUMN_WHOLE },
		{ "Self Weight", COLUMN_SELF }, { "Self (ms)", COLUMN_SELF_MS },   { "Self", COLUMN_SELF },
		{ "Symbol Name", COLUMN_SYMBOL }, { "Source Path", COLUMN_FILE }, { "Library", COLUMN_MODULE },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (json_is(name, known[i].name))
			return known[i].column;
	return COLUMN_LEFT_OUT;
}

static bool read_header(struct json_text line, struct header *ret)
{
	*ret = (struct header){ 0 };
	while (line.len && ret->ncolumns < COLUMNS_MAX) {
		enum column column = column_named(import_trim(import_take(&line, '\t')));

		ret->has_whole |= column == COLUMN_WHOLE;
		ret->has_self |= column == COLUMN_SELF || column == COLUMN_SELF_MS;
		ret->has_symbol |= column == COLUMN_SYMBOL;
		ret->columns[ret->ncolumns++] = column;
	}
	return ret->has_symbol && ret->has_whole;
}

static unsigned recognise(const uint8_t *start, size_t len)
{
	struct import_lines lines;
	struct json_text line;
	struct header header;

	import_lines_init(&lines, start, len);
	return import_lines_next(&lines, &line) && read_header(line, &header) ? 90 : 0;
}

/* ---- weights --------------------------------------------------------------------------------------- */

/* What one of @unit is in *@ret_base; 0: it is none that is known. */
static double scale_of(const char *unit, const char **ret_base)
{
	static const struct {
		const char *unit, *base;
		double scale;
	} known[] = {
		{ "ns", "ns", 1 },	     { "us", "ns", 1e3 },      { "\xc2\xb5s", "ns", 1e3 }, { "\xce\xbcs", "ns", 1e3 },
		{ "ms", "ns", 1e6 },	     { "s", "ns", 1e9 },       { "min", "ns", 60e9 },	   { "h", "ns", 3600e9 },
		{ "Bytes", "bytes", 1 },     { "B", "bytes", 1 },      { "KB", "bytes", 0x1p10 },  { "KiB", "bytes", 0x1p10 },
		{ "MB", "bytes", 0x1p20 },   { "MiB", "bytes", 0x1p20 }, { "GB", "bytes", 0x1p30 }, { "GiB", "bytes", 0x1p30 },
		{ "cycles", "events", 1 },   { "c", "events", 1 },     { "Kc", "events", 1e3 },	   { "Mc", "events", 1e6 },
		{ "Gc", "events", 1e9 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(unit, known[i].unit) == 0) {
			*ret_base = known[i].base;
			return known[i].scale;
		}
	}
	return 0;
}

/* "1.32 s  100.0%", "320.00 ms", "2145.0ms  100.0%", "0"; @unit where it has none. */
static bool read_weight(struct instruments *in, struct json_text cell, const char *unit, double *ret)
{
	char text[TEXT_MAX], *end;
	const char *base = NULL;

	cell = import_trim(cell);
	if (!cell.len || cell.len >= sizeof(text))
		return false;
	memcpy(text, cell.data, cell.len);
	text[cell.len] = 0;
	*ret = strtod(text, &end);
	if (end == text || !isfinite(*ret) || *ret < 0)
		return false;
	end += strspn(end, " ");
	end[strcspn(end, " ")] = 0;
	if (*end && !(*end >= '0' && *end <= '9'))
		unit = end;
	if (!unit)
		return *ret == 0;

	double scale = scale_of(unit, &base);

	*ret *= scale;
	if (!scale || *ret > 9e18 || (in->unit && strcmp(in->unit, base) != 0))
		return false;
	in->unit = base;
	return true;
}

/* ---- rows ------------------------------------------------------------------------------------------ */

/* "app (84012)" above all: a process. */
static bool take_process(struct instruments *in, struct json_text symbol)
{
	const char *open = symbol.len ? memrchr(symbol.data, '(', symbol.len) : NULL;
	uint64_t pid;

	if (!open || symbol.data[symbol.len - 1] != ')')
		return false;

	struct json_text number = { open + 1, (size_t)(symbol.data + symbol.len - 1 - (open + 1)) };
	struct json_text name = import_trim((struct json_text){ symbol.data, (size_t)(open - symbol.data) });

	if (!import_number(number, &pid) || pid >= UINT32_MAX)
		return false;
	in->pid = (uint32_t)pid;
	in->process = import_text(in->p, name);
	in->thread = import_thread(in->p, in->pid, PROFILE_NONE, in->process, in->process);
	return true;
}

/* "Main Thread  0x30f1f7" below it: a thread. */
static bool take_thread(struct instruments *in, struct json_text symbol)
{
	const char *blank = symbol.len ? memrchr(symbol.data, ' ', symbol.len) : NULL;
	uint64_t tid;

	if (!blank || in->pid == PROFILE_NONE)
		return false;

	struct json_text number = { blank + 1, (size_t)(symbol.data + symbol.len - (blank + 1)) };
	struct json_text name = import_trim((struct json_text){ symbol.data, (size_t)(blank - symbol.data) });

	if (!import_starts(number, "0x") || !import_hex(number, &tid) || tid >= UINT32_MAX)
		return false;
	in->thread = import_thread(in->p, in->pid, (uint32_t)tid, in->process, import_text(in->p, name));
	return true;
}

static struct err *add_node(struct instruments *in, struct json_text symbol, struct import_frame *frame, struct node *node)
{
	struct json_text name = import_trim(symbol);
	uint32_t location = PROFILE_NONE;

	node->depth = symbol.len - import_trim((struct json_text){ symbol.data, symbol.len }).len;
	if (!name.len)
		return err_new(ERR_CORRUPT, "line %" PRIu64 ": the row is cut: it has no symbol", in->number);
	if (!(node->depth == 0 && take_process(in, name)) && !(node->depth == 1 && take_thread(in, name))) {
		frame->name = import_text(in->p, name);
		location = import_frame(in->p, frame);
	}
	node->thread = in->thread;
	if (!import_outline_add(&in->outline, in->p, node->depth, location, &node->stack))
		return err_new(ERR_CORRUPT, "line %" PRIu64 ": it is indented by %zu, but nothing stands above it at %zu", in->number,
			       node->depth, node->depth - 1);
	vec_push(&in->nodes, *node);
	return NULL;
}

static struct err *take_row(struct instruments *in, struct json_text line)
{
	struct import_frame frame = { .module = PROFILE_NONE, .kind = PROFILE_FRAME_NATIVE };
	struct node node = { 0 };
	struct json_text symbol = { "", 0 };
	bool fits = true;

	for (size_t i = 0; i < in->header.ncolumns; i++) {
		struct json_text cell = import_take(&line, '\t');

		if (in->header.columns[i] == COLUMN_WHOLE)
			fits = fits && read_weight(in, cell, NULL, &node.whole);
		else if (in->header.columns[i] == COLUMN_SELF)
			fits = fits && read_weight(in, cell, NULL, &node.self);
		else if (in->header.columns[i] == COLUMN_SELF_MS)
			fits = fits && read_weight(in, cell, "ms", &node.self);
		else if (in->header.columns[i] == COLUMN_SYMBOL)
			symbol = cell;
		else if (in->header.columns[i] == COLUMN_FILE)
			frame.file = import_text(in->p, import_trim(cell));
		else if (in->header.columns[i] == COLUMN_MODULE)
			frame.module = import_module(in->p, import_trim(cell), PROFILE_USER);
	}
	if (!fits)
		return err_new(ERR_CORRUPT, "line %" PRIu64 ": its weight is no number with a unit that is known, or of another than before",
			       in->number);
	return add_node(in, symbol, &frame, &node);
}

/* What the rows one step below do not have. */
static void find_selves(struct instruments *in)
{
	VEC(size_t) above = { 0 };

	for (size_t i = 0; i < in->nodes.len; i++) {
		struct node *node = &in->nodes.items[i];

		node->self = node->whole;
		above.len = MIN(above.len, node->depth);
		if (above.len)
			in->nodes.items[above.items[above.len - 1]].self -= node->whole;
		vec_push(&above, i);
	}
	vec_deinit(&above);
}

static void add_samples(struct instruments *in)
{
	const char *unit = in->unit ? in->unit : "ns";
	uint32_t type = import_type(in->p, strcmp(unit, "ns") == 0 ? "time" : strcmp(unit, "bytes") == 0 ? "space" : "cycles", unit);

	if (!in->header.has_self)
		find_selves(in);
	for (size_t i = 0; i < in->nodes.len; i++) {
		const struct node *node = &in->nodes.items[i];
		struct import_sample sample = { .stack = node->stack, .type = type, .thread = node->thread, .count = 1, .uncounted = true };

		if (node->self < 0.5)
			continue;
		sample.weight = import_fits(in->p, (int64_t)llrint(node->self));
		import_sample(in->p, &sample);
	}
}

static struct err *read_instruments(const struct import_input *input, struct profile *p, struct profile_facts *facts, struct diag *diag)
{
	struct instruments in = { .p = p, .pid = PROFILE_NONE, .thread = import_thread(p, PROFILE_NONE, PROFILE_NONE, 0, 0) };
	struct import_lines lines;
	struct json_text line;
	struct err *err = NULL;

	(void)facts;
	(void)diag;
	import_lines_init(&lines, input->data, input->len);
	if (!import_lines_next(&lines, &line) || !read_header(line, &in.header))
		err = err_new(ERR_CORRUPT, "line 1 does not name the columns");
	while (!err && import_lines_next(&lines, &line)) {
		in.number = lines.number;
		if (line.len)
			err = take_row(&in, line);
	}
	if (!err)
		add_samples(&in);
	import_outline_deinit(&in.outline);
	vec_deinit(&in.nodes);
	return err;
}

const struct importer import_instruments = {
	.name = "instruments",
	.what = "call tree of Apple's Instruments, copied as text",
	.extensions = ".txt",
	.carries = IMPORT_THREADS,
	.recognise = recognise,
	.read = read_instruments,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.c - runs the line number program and keeps what lookups need.
 *
 * Rows come in sequences, each ascending. A sequence that the linker threw away begins at 0 or at the top of
 * the address space; it is harmless, since no address is looked up there.
 */
#include "symbolize/debug/lines.h"

#include "formats/base/bisect.h"
#include "formats/base/vec.h"
#include "symbolize/debug/line_header.h"

#include <dwarf.h>
#include <limits.h>
#include <string.h>

#define FILE_BITS   20
#define COLUMN_BITS 12

struct row {
	uint32_t offset; /* of the address in its sequence */
	uint32_t line;
	uint32_t file : FILE_BITS, column : COLUMN_BITS;
};

struct sequence {
	uint64_t begin, end;
	uint32_t first, nrows; /* in debug_lines.rows */
};

struct debug_lines {
	struct line_header header;
	VEC(struct row) rows;
	VEC(struct sequence) sequences; /* ascending by end */
	const char **paths;             /* by file number, NULL until asked for */
	struct arena arena;
};

/* Registers of the line number machine (DWARF 5, 6.2.2) that matter here. */
struct machine {
	struct debug_lines *lines;
	struct reader r;
	uint64_t address, file, line, column;
	uint64_t op_index;
	uint64_t begin; /* address of the first row of the sequence */
	size_t first;   /* its index */
	bool open;      /* the sequence has a row */
	bool broken;    /* its addresses went backwards or too far */
};

static void reset(struct machine *m)
{
	m->address = m->column = m->op_index = 0;
	m->file = m->line = 1;
	m->open = m->broken = false;
	m->first = m->lines->rows.len;
}

static void add_row(struct machine *m)
{
	struct debug_lines *lines = m->lines;
	uint64_t columns_max = (1u << COLUMN_BITS) - 1;

	if (!m->open)
		m->begin = m->address;
	m->open = true;
	uint64_t offset = m->address - m->begin;
	struct row *last =
		lines->rows.len > m->first ? &lines->rows.items[lines->rows.len - 1] : NULL;

	if (offset > UINT32_MAX || (last && offset < last->offset)) {
		m->broken = true;
		return;
	}
	struct row row = { .offset = (uint32_t)offset,
			   .line = (uint32_t)MIN(m->line, UINT32_MAX),
			   .file = (uint32_t)MIN(m->file, (1u << FILE_BITS) - 1),
			   .column = (uint32_t)MIN(m->column, columns_max) };

	if (last && last->offset == row.offset)
		*last = row;
	else
		vec_push(&lines->rows, row);
}

static void end_sequence(struct machine *m)
{
	struct debug_lines *lines = m->lines;
	struct sequence seq = { .begin = m->begin,
				.end = m->address,
				.first = (uint32_t)m->first,
				.nrows = (uint32_t)(lines->rows.len - m->first) };

	if (m->open && !m->broken && seq.begin < seq.end && lines->rows.len < UINT32_MAX)
		vec_push(&lines->sequences, seq);
	else
		lines->rows.len = m->first;
	reset(m);
}

/* DWARF 5, 6.2.5.1, for machines with one and with several operations in an instruction. */
static void advance(struct machine *m, uint64_t operations)
{
	const struct line_header *h = &m->lines->header;

	if (h->max_ops == 1) {
		m->address += h->min_instruction_len * operations;
		return;
	}
	m->address += h->min_instruction_len * ((m->op_index + operations) / h->max_ops);
	m->op_index = (m->op_index + operations) % h->max_ops;
}

static void run_special(struct machine *m, uint8_t opcode)
{
	const struct line_header *h = &m->lines->header;
	unsigned adjusted = (unsigned)(opcode - h->opcode_base);

	advance(m, adjusted / h->line_range);
	m->line += (uint64_t)(int64_t)(h->line_base + (int)(adjusted % h->line_range));
	add_row(m);
}

static void define_file(struct machine *m, struct reader *r)
{
	struct line_file file = { .name = reader_string(r, "file name") };

	file.directory = reader_uleb(r, "directory of a file");
	if (!r->failed)
		vec_push(&m->lines->header.files, file);
}

static void run_extended(struct machine *m)
{
	uint64_t len = reader_uleb(&m->r, "extended opcode length");
	struct reader r = reader_slice(&m->r, (size_t)len, "extended opcode");
	uint8_t opcode = reader_u8(&r, "extended opcode");

	if (r.failed)
		return;
	if (opcode == DW_LNE_end_sequence) {
		end_sequence(m);
	} else if (opcode == DW_LNE_set_address) {
		m->address = len == 5 ? reader_u32(&r, "address") : reader_u64(&r, "address");
		m->op_index = 0;
	} else if (opcode == DW_LNE_define_file) {
		define_file(m, &r);
	}
}

static void run_standard(struct machine *m, uint8_t opcode)
{
	const struct line_header *h = &m->lines->header;

	switch (opcode) {
	case DW_LNS_copy:
		add_row(m);
		return;
	case DW_LNS_advance_pc:
		advance(m, reader_uleb(&m->r, "operation advance"));
		return;
	case DW_LNS_advance_line:
		m->line += (uint64_t)reader_sleb(&m->r, "line advance");
		return;
	case DW_LNS_set_file:
		m->file = reader_uleb(&m->r, "file number");
		return;
	case DW_LNS_set_column:
		m->column = reader_uleb(&m->r, "column");
		return;
	case DW_LNS_const_add_pc:
		advance(m, (255u - h->opcode_base) / h->line_range);
		return;
	case DW_LNS_fixed_advance_pc:
		m->address += reader_u16(&m->r, "address advance");
		m->op_index = 0;
		return;
	}
	for (unsigned i = 0; i < h->operand_counts[opcode]; i++)
		reader_uleb(&m->r, "operand");
}

static void run_program(struct debug_lines *lines, struct reader program)
{
	struct machine m = { .lines = lines, .r = program };

	reset(&m);
	while (reader_left(&m.r)) {
		uint8_t opcode = reader_u8(&m.r, "opcode");

		if (opcode >= lines->header.opcode_base)
			run_special(&m, opcode);
		else if (opcode)
			run_standard(&m, opcode);
		else
			run_extended(&m);
	}
	lines->rows.len = m.first; /* of a sequence without an end */
}

static int by_end(const void *a, const void *b)
{
	const struct sequence *x = a, *y = b;

	return COMPARE(x->end, y->end);
}

struct debug_lines *debug_lines_new(const struct debug_unit *unit)
{
	struct debug_lines *lines = memory_zeroed(1, sizeof(*lines));
	struct reader program;

	if (!unit->has_lines || !line_header_read(unit, &lines->header, &program))
		return lines;
	run_program(lines, program);
	vec_sort(&lines->sequences, by_end);
	vec_fit(&lines->rows);
	lines->paths = ARENA_ARRAY(&lines->arena, const char *, lines->header.files.len);
	return lines;
}

void debug_lines_free(struct debug_lines *lines)
{
	if (!lines)
		return;
	line_header_deinit(&lines->header);
	vec_deinit(&lines->rows);
	vec_deinit(&lines->sequences);
	arena_deinit(&lines->arena);
	free(lines);
}

/* The sequence that holds @vaddr: the first that ends behind it, if it has begun. */
/* How many sequences end at or before @vaddr. */
static size_t sequences_before(const struct debug_lines *lines, uint64_t vaddr)
{
	return BISECT(lines->sequences.len, i, lines->sequences.items[i].end <= vaddr);
}

/* How many rows of @seq are at or before @vaddr, which it holds: one at least, the first is at offset 0. */
static size_t rows_upto(const struct debug_lines *lines, const struct sequence *seq, uint64_t vaddr)
{
	const struct row *rows = lines->rows.items + seq->first;
	return BISECT(seq->nrows, i, rows[i].offset <= vaddr - seq->begin);
}

bool debug_lines_find(const struct debug_lines *lines, uint64_t vaddr, struct debug_position *ret)
{
	size_t at = sequences_before(lines, vaddr);

	if (at == lines->sequences.len || lines->sequences.items[at].begin > vaddr)
		return false;
	const struct sequence *seq = &lines->sequences.items[at];
	const struct row *row =
		&lines->rows.items[seq->first + rows_upto(lines, seq, vaddr) - 1];

	*ret = (struct debug_position){ row->file, row->line, row->column };
	return true;
}

uint64_t debug_lines_next(const struct debug_lines *lines, uint64_t vaddr)
{
	size_t at = sequences_before(lines, vaddr);

	if (at == lines->sequences.len)
		return UINT64_MAX;
	const struct sequence *seq = &lines->sequences.items[at];

	if (seq->begin > vaddr)
		return seq->begin;
	size_t next = rows_upto(lines, seq, vaddr);

	return next < seq->nrows ? seq->begin + lines->rows.items[seq->first + next].offset :
				   seq->end;
}

void debug_lines_ranges(const struct debug_lines *lines, struct debug_ranges *ranges)
{
	for (size_t i = 0; i < lines->sequences.len; i++) {
		const struct sequence *seq = &lines->sequences.items[i];
		struct layer range = { seq->begin, seq->end };

		vec_push(ranges, range);
	}
}

/* Not one that goes on and on: what is longer than any system takes is no path. */
static bool is_usable(const char *name)
{
	return name && *name && strnlen(name, PATH_MAX) < PATH_MAX;
}

/* What must stand between @dir and a name. */
static const char *separator(const char *dir)
{
	return dir[strlen(dir) - 1] == '/' ? "" : "/";
}

/* "dir/name", with the unit's directory in front of a relative one. */
static const char *make_path(struct debug_lines *lines, const struct line_file *file)
{
	const struct line_header *h = &lines->header;
	const char *dir =
		file->directory < h->directories.len ? h->directories.items[file->directory] : NULL;
	const char *top =
		h->version >= 5 && h->directories.len ? h->directories.items[0] : h->comp_dir;

	dir = is_usable(dir) ? dir : NULL;
	top = is_usable(top) ? top : NULL;
	if (file->name[0] == '/' || (!dir && !top))
		return file->name;
	if (!dir)
		return arena_printf(&lines->arena, "%s%s%s", top, separator(top), file->name);
	if (dir[0] == '/' || !top || dir == top)
		return arena_printf(&lines->arena, "%s%s%s", dir, separator(dir), file->name);
	return arena_printf(&lines->arena, "%s%s%s%s%s", top, separator(top), dir, separator(dir),
			    file->name);
}

const char *debug_lines_file(struct debug_lines *lines, uint64_t number)
{
	if (!lines->paths || number >= lines->header.files.len ||
	    !is_usable(lines->header.files.items[number].name))
		return NULL;
	if (!lines->paths[number])
		lines->paths[number] = make_path(lines, &lines->header.files.items[number]);
	return lines->paths[number];
}

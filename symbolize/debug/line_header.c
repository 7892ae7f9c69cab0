/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_header.c - DWARF 5, section 6.2.4; DWARF 4 and before, the same section, other tables.
 */
#include "symbolize/debug/line_header.h"

#include "formats/base/vec.h"

#include <dwarf.h>

/* What an entry of a DWARF 5 table consists of. */
struct entry_format {
	uint64_t content; /* DW_LNCT_* */
	uint16_t form;
};

#define FORMATS_MAX 16

/* Lists that end with an empty name. */
static void read_old_tables(struct line_header *h, struct reader *r)
{
	const char *name;
	struct line_file none = { 0 };

	vec_push(&h->directories, h->comp_dir);
	while ((name = reader_string(r, "directory")) && *name)
		vec_push(&h->directories, name);
	vec_push(&h->files, none);
	while ((name = reader_string(r, "file name")) && *name) {
		struct line_file file = { .name = name };

		file.directory = reader_uleb(r, "directory of a file");
		reader_uleb(r, "time of a file");
		reader_uleb(r, "length of a file");
		vec_push(&h->files, file);
	}
}

static unsigned read_formats(struct reader *r, struct entry_format *ret)
{
	unsigned count = reader_u8(r, "entry format count");

	if (count > FORMATS_MAX)
		reader_fail(r, "entry format count");
	for (unsigned i = 0; i < count && !r->failed; i++) {
		uint64_t form;

		ret[i].content = reader_uleb(r, "content type");
		form = reader_uleb(r, "form");
		ret[i].form = (uint16_t)MIN(form, UINT16_MAX);
	}
	return r->failed ? 0 : count;
}

static const char *path_of(const struct debug_unit *unit, const struct debug_attr *attr)
{
	if (attr->form == DW_FORM_string)
		return attr->text;
	if (attr->form == DW_FORM_line_strp)
		return debug_source_string(unit->source, DEBUG_LINE_STR, attr->value);
	if (attr->form == DW_FORM_strp)
		return debug_source_string(unit->source, DEBUG_STR, attr->value);
	if ((attr->form == DW_FORM_strp_sup || attr->form == DW_FORM_GNU_strp_alt) &&
	    unit->source->alt)
		return debug_source_string(unit->source->alt, DEBUG_STR, attr->value);
	return NULL;
}

/* One entry; fails the reader if it takes no bytes, since its table could go on forever. */
static struct line_file read_entry(const struct debug_unit *unit, const struct line_header *h,
				   struct reader *r, const struct entry_format *formats,
				   unsigned nformats)
{
	struct line_file file = { 0 };
	uint64_t before = r->offset;

	for (unsigned i = 0; i < nformats; i++) {
		struct debug_attr attr;

		form_read(r, &h->sizes, formats[i].form, 0, &attr);
		if (r->failed)
			break;
		if (formats[i].content == DW_LNCT_path)
			file.name = path_of(unit, &attr);
		else if (formats[i].content == DW_LNCT_directory_index)
			file.directory = attr.value;
	}
	if (r->offset == before)
		reader_fail(r, "entry without content");
	return file;
}

static void read_new_tables(const struct debug_unit *unit, struct line_header *h, struct reader *r)
{
	struct entry_format formats[FORMATS_MAX];
	unsigned nformats = read_formats(r, formats);
	uint64_t count = reader_uleb(r, "directory count");

	for (uint64_t i = 0; i < count && !r->failed; i++) {
		struct line_file entry = read_entry(unit, h, r, formats, nformats);

		vec_push(&h->directories, entry.name);
	}
	nformats = read_formats(r, formats);
	count = reader_uleb(r, "file count");
	for (uint64_t i = 0; i < count && !r->failed; i++) {
		struct line_file entry = read_entry(unit, h, r, formats, nformats);

		vec_push(&h->files, entry);
	}
}

static void read_parameters(struct line_header *h, struct reader *r)
{
	h->min_instruction_len = reader_u8(r, "minimum instruction length");
	h->max_ops = h->version >= 4 ? reader_u8(r, "operations per instruction") : 1;
	reader_u8(r, "default is_stmt");
	h->line_base = (int8_t)reader_u8(r, "line base");
	h->line_range = reader_u8(r, "line range");
	h->opcode_base = reader_u8(r, "opcode base");
	for (unsigned i = 1; i < h->opcode_base; i++)
		h->operand_counts[i] = reader_u8(r, "operand count");
	if (!h->line_range || !h->opcode_base)
		reader_fail(r, "line range");
	if (!h->max_ops)
		h->max_ops = 1;
}

bool line_header_read(const struct debug_unit *unit, struct line_header *ret,
		      struct reader *ret_program)
{
	struct reader section = debug_source_reader(unit->source, DEBUG_LINE, unit->line_offset);
	struct line_header *h = ret;

	*h = (struct line_header){ .sizes = unit->sizes, .comp_dir = unit->comp_dir };
	uint64_t len = reader_u32(&section, "line table length");

	h->sizes.offset = len == 0xffffffff ? 8 : 4;
	if (len == 0xffffffff)
		len = reader_u64(&section, "line table length");
	struct reader r = reader_slice(&section, (size_t)len, "line table");

	if (reader_left(&r) > unit->source->line_budget)
		return false; /* tables that lie in each other: read over and over */
	unit->source->line_budget -= reader_left(&r);
	h->version = reader_u16(&r, "line table version");
	if (h->version < 2 || h->version > 5)
		reader_fail(&r, "line table version");
	if (h->version >= 5) {
		h->sizes.addr = reader_u8(&r, "address size");
		reader_u8(&r, "segment selector size");
	}
	uint64_t header_len = h->sizes.offset == 8 ? reader_u64(&r, "header length")
						   : reader_u32(&r, "header length");
	struct reader tables = reader_slice(&r, (size_t)header_len, "header");

	read_parameters(h, &tables);
	if (h->version >= 5)
		read_new_tables(unit, h, &tables);
	else
		read_old_tables(h, &tables);
	*ret_program = r;
	return !r.failed && !tables.failed;
}

void line_header_deinit(struct line_header *header)
{
	vec_deinit(&header->directories);
	vec_deinit(&header->files);
}

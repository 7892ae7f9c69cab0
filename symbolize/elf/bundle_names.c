/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle_names.c - reads headers of segments and sections (gABI, chapters 4 and 5) and writes them anew by way of
 * mini_elf, so that nothing of the old file stays by being overlooked.
 */
#include "symbolize/elf/bundle_names.h"

#include "formats/base/reader.h"
#include "symbolize/elf/bundle_calls.h"
#include "formats/base/mini_elf.h"

#include <elf.h>
#include <string.h>

#define SYMBOL_LEN 24

struct rename {
	const struct bundle_names *names;
	const uint8_t *elf;
	size_t len;
	struct mini_elf_header header;
	struct mini_elf out;
	struct writer note, symbols, strings;
};

/* A reader over @len bytes of the file at @offset; failed if they are not there. */
static struct reader reader_at(const struct rename *rn, uint64_t offset, uint64_t len,
			       const char *what)
{
	struct reader r;

	reader_init(&r, rn->elf, rn->len, /* big_endian= */ false);
	if (offset > rn->len || len > rn->len - offset) {
		reader_fail(&r, what);
		return r;
	}
	reader_skip(&r, (size_t)offset, what);
	return reader_slice(&r, (size_t)len, what);
}

static struct err *read_header(struct rename *rn)
{
	struct reader r = reader_at(rn, 0, MINI_ELF_HEADER_LEN, "ELF header");

	if (!mini_elf_get_header(&r, &rn->header))
		return r.failed ? reader_check(&r) : err_new(ERR_CORRUPT, "not an ELF64 file");
	rn->out.machine = rn->header.machine;
	rn->out.entry = rn->header.entry;
	if (rn->header.nsections > MINI_ELF_SECTIONS_MAX)
		return err_new(ERR_CORRUPT, "%u sections are too many", rn->header.nsections);
	return NULL;
}

static struct mini_elf_section_header read_section(const struct rename *rn, uint16_t index, struct reader *r)
{
	*r = reader_at(rn, rn->header.sections_at, (uint64_t)rn->header.nsections * MINI_ELF_SECTION_HEADER_LEN, "section headers");
	reader_skip(r, (size_t)index * MINI_ELF_SECTION_HEADER_LEN, "section header");
	return mini_elf_get_section_header(r);
}

/* The string at @at of the table that section @index is. */
static const char *string_at(const struct rename *rn, uint32_t index, uint32_t at, struct reader *r)
{
	struct mini_elf_section_header table = { 0 };

	if (index < rn->header.nsections)
		table = read_section(rn, (uint16_t)index, r);
	else
		reader_fail(r, "string table");
	if (r->failed)
		return NULL;
	*r = reader_at(rn, table.offset, table.len, "string table");
	reader_skip(r, at, "string");
	return reader_string(r, "string");
}

static void copy_section(struct rename *rn, const struct mini_elf_section_header *s, const char *name,
			 struct reader *r)
{
	*r = reader_at(rn, s->offset, s->len, "section");
	const void *data = reader_bytes(r, (size_t)s->len, "section");

	if (r->failed)
		return;
	mini_elf_section(&rn->out, (struct mini_elf_section){
					   .name = name,
					   .type = s->type,
					   .flags = s->flags,
					   .vaddr = s->vaddr,
					   .data = data,
					   .len = (size_t)s->len,
				   });
}

static void put_note(struct rename *rn)
{
	writer_u32(&rn->note, 4);
	writer_u32(&rn->note, (uint32_t)rn->names->build_id_len);
	writer_u32(&rn->note, NT_GNU_BUILD_ID);
	writer_bytes(&rn->note, "GNU", 4);
	writer_bytes(&rn->note, rn->names->build_id, rn->names->build_id_len);
	while (rn->note.len % 4)
		writer_u8(&rn->note, 0);
	size_t index = mini_elf_section(&rn->out, (struct mini_elf_section){
							  .name = ".note.gnu.build-id",
							  .type = SHT_NOTE,
							  .data = rn->note.data,
							  .len = rn->note.len,
						  });

	mini_elf_segment(&rn->out,
			 (struct mini_elf_segment){ PT_NOTE, PF_R, .section = index });
}

/* Symbols with their new names to rn->symbols and rn->strings. */
static void rename_symbols(struct rename *rn, const struct mini_elf_section_header *s, struct reader *r)
{
	struct reader table = reader_at(rn, s->offset, s->len, "symbols");

	writer_u8(&rn->strings, 0);
	while (reader_left(&table) >= SYMBOL_LEN && !r->failed) {
		uint32_t at = reader_u32(&table, "symbol");
		const void *rest = reader_bytes(&table, SYMBOL_LEN - 4, "symbol");
		const char *name = at ? string_at(rn, s->link, at, r) : "";

		if (!name)
			return;
		writer_u32(&rn->symbols, *name ? (uint32_t)rn->strings.len : 0);
		writer_bytes(&rn->symbols, rest, SYMBOL_LEN - 4);
		if (*name)
			writer_string(&rn->strings, rn->names->symbol(rn->names->context, name));
	}
	if (table.failed)
		reader_fail(r, table.failed);
}

static void put_symbols(struct rename *rn)
{
	size_t strings = mini_elf_section(&rn->out, (struct mini_elf_section){
							    .name = ".strtab",
							    .type = SHT_STRTAB,
							    .data = rn->strings.data,
							    .len = rn->strings.len,
						    });

	mini_elf_section(&rn->out, (struct mini_elf_section){
					   .name = ".symtab",
					   .type = SHT_SYMTAB,
					   .data = rn->symbols.data,
					   .len = rn->symbols.len,
					   .link = (uint32_t)strings,
					   .info = 1,
					   .entry_len = SYMBOL_LEN,
				   });
}

/* Code keeps the names that linkers give its sections; authors may have given others. */
static const char *code_name(const char *name)
{
	static const char *const known[] = { ".plt", ".plt.got", ".plt.sec", ".iplt", ".init",
					     ".fini" };

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (strcmp(name, known[i]) == 0)
			return known[i];
	}
	return ".text";
}

static struct err *rename_section(struct rename *rn, uint16_t index)
{
	struct reader r;
	struct mini_elf_section_header s = read_section(rn, index, &r);
	const char *name = r.failed ? NULL : string_at(rn, rn->header.names_section, s.name, &r);

	if (!name)
		return reader_check(&r);
	if (s.type == SHT_NOTE && rn->names->build_id_len && !rn->note.len)
		put_note(rn);
	else if (s.type == SHT_SYMTAB && !rn->symbols.len)
		rename_symbols(rn, &s, &r);
	else if (s.type == SHT_PROGBITS && s.flags & SHF_EXECINSTR)
		copy_section(rn, &s, code_name(name), &r);
	else if (s.type == SHT_PROGBITS && strcmp(name, ".debug_frame") == 0)
		copy_section(rn, &s, ".debug_frame", &r);
	else if (s.type == SHT_PROGBITS && strcmp(name, BUNDLE_CALLS_SECTION) == 0)
		copy_section(rn, &s, BUNDLE_CALLS_SECTION, &r);
	return reader_check(&r);
}

static struct err *copy_segments(struct rename *rn)
{
	struct reader r = reader_at(rn, rn->header.segments_at, (uint64_t)rn->header.nsegments * MINI_ELF_SEGMENT_HEADER_LEN,
				    "program headers");

	for (uint16_t i = 0; i < rn->header.nsegments && !r.failed; i++) {
		struct mini_elf_segment segment = { 0 };

		segment.type = reader_u32(&r, "segment");
		segment.flags = reader_u32(&r, "segment flags");
		segment.offset = reader_u64(&r, "segment offset");
		segment.vaddr = reader_u64(&r, "segment address");
		reader_u64(&r, "segment");
		segment.file_len = reader_u64(&r, "segment length");
		segment.memory_len = reader_u64(&r, "segment length");
		reader_u64(&r, "segment alignment");
		if (!r.failed && segment.type == PT_LOAD)
			mini_elf_segment(&rn->out, segment);
	}
	return reader_check(&r);
}

static struct err *read_all(struct rename *rn)
{
	struct err *err = read_header(rn);

	if (!err)
		err = copy_segments(rn);
	for (uint16_t i = 1; i < rn->header.nsections && !err; i++)
		err = rename_section(rn, i);
	return err;
}

struct err *bundle_rename(const void *elf, size_t len, const struct bundle_names *names,
			  struct writer *out)
{
	struct rename rn = { .names = names, .elf = elf, .len = len };
	struct err *err = read_all(&rn);

	if (!err) {
		if (rn.symbols.len)
			put_symbols(&rn);
		mini_elf_finish(&rn.out, out);
	}
	mini_elf_deinit(&rn.out);
	writer_deinit(&rn.note);
	writer_deinit(&rn.symbols);
	writer_deinit(&rn.strings);
	return err;
}

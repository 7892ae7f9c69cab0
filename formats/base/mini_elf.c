/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mini_elf.c - the layout is fixed by the counts, so everything is written in one pass (gABI, chapters
 * 4 and 5).
 */
#include "formats/base/mini_elf.h"

#include "formats/base/map.h"

#include <elf.h>
#include <string.h>

#define ALIGN 8

static const uint8_t ident[EI_NIDENT] = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT };

/* ---- headers ---- */

bool mini_elf_get_header(struct reader *r, struct mini_elf_header *ret)
{
	const uint8_t *found = reader_bytes(r, EI_NIDENT, "ELF header");
	struct mini_elf_header header = { 0 };

	if (!found || memcmp(found, ident, EI_VERSION + 1) != 0)
		return false;
	header.type = reader_u16(r, "type");
	header.machine = reader_u16(r, "machine");
	reader_u32(r, "version");
	header.entry = reader_u64(r, "entry");
	header.segments_at = reader_u64(r, "program headers");
	header.sections_at = reader_u64(r, "section headers");
	reader_skip(r, 4 + 2 + 2, "flags and lengths");
	header.nsegments = reader_u16(r, "number of segments");
	header.section_header_len = reader_u16(r, "length of a section header");
	header.nsections = reader_u16(r, "number of sections");
	header.names_section = reader_u16(r, "section of names");
	*ret = header;
	return !r->failed;
}

void mini_elf_put_header(struct writer *out, const struct mini_elf_header *header)
{
	writer_bytes(out, ident, sizeof(ident));
	writer_u16(out, header->type);
	writer_u16(out, header->machine);
	writer_u32(out, EV_CURRENT);
	writer_u64(out, header->entry);
	writer_u64(out, header->segments_at);
	writer_u64(out, header->sections_at);
	writer_u32(out, 0); /* flags */
	writer_u16(out, MINI_ELF_HEADER_LEN);
	writer_u16(out, MINI_ELF_SEGMENT_HEADER_LEN);
	writer_u16(out, header->nsegments);
	writer_u16(out, MINI_ELF_SECTION_HEADER_LEN);
	writer_u16(out, header->nsections);
	writer_u16(out, header->names_section);
}

struct mini_elf_section_header mini_elf_get_section_header(struct reader *r)
{
	struct mini_elf_section_header header = { 0 };

	header.name = reader_u32(r, "section name");
	header.type = reader_u32(r, "section type");
	header.flags = reader_u64(r, "section flags");
	header.vaddr = reader_u64(r, "section address");
	header.offset = reader_u64(r, "section offset");
	header.len = reader_u64(r, "section length");
	header.link = reader_u32(r, "section link");
	header.info = reader_u32(r, "section info");
	header.align = reader_u64(r, "section alignment");
	header.entry_len = reader_u64(r, "length of an entry");
	return header;
}

void mini_elf_put_section_header(struct writer *out, const struct mini_elf_section_header *header)
{
	writer_u32(out, header->name);
	writer_u32(out, header->type);
	writer_u64(out, header->flags);
	writer_u64(out, header->vaddr);
	writer_u64(out, header->offset);
	writer_u64(out, header->len);
	writer_u32(out, header->link);
	writer_u32(out, header->info);
	writer_u64(out, header->align);
	writer_u64(out, header->entry_len);
}

/* ---- a file ---- */

size_t mini_elf_section(struct mini_elf *w, struct mini_elf_section section)
{
	vec_push(&w->sections, section);
	return w->sections.len;
}

void mini_elf_segment(struct mini_elf *w, struct mini_elf_segment segment)
{
	vec_push(&w->segments, segment);
}

static uint64_t aligned(uint64_t offset)
{
	return (offset + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

static void pad(struct writer *out)
{
	while (out->len % ALIGN)
		writer_u8(out, 0);
}

/* Where each section's bytes go, and where they end. */
static uint64_t lay_out(const struct mini_elf *w, uint64_t *offsets)
{
	uint64_t offset = MINI_ELF_HEADER_LEN + w->segments.len * MINI_ELF_SEGMENT_HEADER_LEN;

	for (size_t i = 0; i < w->sections.len; i++) {
		offset = aligned(offset);
		offsets[i] = offset;
		offset += w->sections.items[i].len;
	}
	return aligned(offset);
}

/* The names one after another; @starts receives where each begins. */
static void gather_names(struct mini_elf *w, struct writer *names, uint32_t *starts)
{
	struct map known = { 0 };

	writer_u8(names, 0);
	for (size_t i = 0; i < w->sections.len; i++) {
		const char *name = w->sections.items[i].name;
		bool is_new;
		uint64_t *start = map_put(&known, strtab_add(&w->names, name), &is_new);

		if (is_new) {
			*start = names->len;
			writer_string(names, name);
		}
		starts[i] = (uint32_t)*start;
	}
	map_deinit(&known);
}

static void write_header(const struct mini_elf *w, uint64_t section_headers, struct writer *out)
{
	const struct mini_elf_header header = {
		.type = ET_DYN,
		.machine = w->machine,
		.entry = w->entry,
		.segments_at = w->segments.len ? MINI_ELF_HEADER_LEN : 0,
		.sections_at = section_headers,
		.nsegments = (uint16_t)w->segments.len,
		.nsections = (uint16_t)(w->sections.len + 2), /* with the empty one and .shstrtab */
		.names_section = (uint16_t)(w->sections.len + 1),
	};

	mini_elf_put_header(out, &header);
}

static void write_segment(const struct mini_elf *w, struct mini_elf_segment seg,
			  const uint64_t *offsets, struct writer *out)
{
	if (seg.section) {
		const struct mini_elf_section *section = &w->sections.items[seg.section - 1];

		seg.offset = offsets[seg.section - 1];
		seg.vaddr = section->vaddr;
		seg.file_len = section->len;
		seg.memory_len = section->len;
	}
	writer_u32(out, seg.type);
	writer_u32(out, seg.flags);
	writer_u64(out, seg.offset);
	writer_u64(out, seg.vaddr);
	writer_u64(out, seg.vaddr); /* physical */
	writer_u64(out, seg.file_len);
	writer_u64(out, seg.memory_len);
	writer_u64(out, seg.type == PT_LOAD ? 0x1000 : 4);
}

static void write_section_header(const struct mini_elf_section *s, uint32_t name, uint64_t offset,
				 struct writer *out)
{
	const struct mini_elf_section_header header = {
		.name = name,
		.type = s->type,
		.flags = s->flags,
		.vaddr = s->vaddr,
		.offset = offset,
		.len = s->len,
		.link = s->link,
		.info = s->info,
		.align = s->flags & SHF_ALLOC ? 1 : ALIGN,
		.entry_len = s->entry_len,
	};

	mini_elf_put_section_header(out, &header);
}

void mini_elf_finish(struct mini_elf *w, struct writer *out)
{
	static const struct mini_elf_section none = { .type = SHT_NULL };
	struct mini_elf_section own = { .type = SHT_STRTAB };
	uint64_t *offsets = memory_zeroed(w->sections.len + 1, sizeof(*offsets));
	uint32_t *starts = memory_zeroed(w->sections.len + 1, sizeof(*starts));
	struct writer names = { 0 };
	uint64_t names_at = lay_out(w, offsets);

	gather_names(w, &names, starts);
	uint32_t own_name = (uint32_t)names.len;

	writer_string(&names, ".shstrtab");
	own.len = names.len;
	write_header(w, aligned(names_at + names.len), out);
	for (size_t i = 0; i < w->segments.len; i++)
		write_segment(w, w->segments.items[i], offsets, out);
	for (size_t i = 0; i < w->sections.len; i++) {
		pad(out);
		writer_bytes(out, w->sections.items[i].data, w->sections.items[i].len);
	}
	pad(out);
	writer_bytes(out, names.data, names.len);
	pad(out);
	write_section_header(&none, 0, 0, out);
	for (size_t i = 0; i < w->sections.len; i++)
		write_section_header(&w->sections.items[i], starts[i], offsets[i], out);
	write_section_header(&own, own_name, names_at, out);

	writer_deinit(&names);
	free(starts);
	free(offsets);
}

void mini_elf_deinit(struct mini_elf *w)
{
	vec_deinit(&w->sections);
	vec_deinit(&w->segments);
	strtab_deinit(&w->names);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/elf_file.h"

#include <elf.h>
#include <string.h>

void elf_file_section(struct elf_file *f, struct elf_file_section section)
{
	f->sections[f->nsections++] = section;
}

void elf_file_segment(struct elf_file *f, struct elf_file_segment segment)
{
	f->segments[f->nsegments++] = segment;
}

static void pad(struct writer *w, size_t align)
{
	while (w->len % align)
		writer_u8(w, 0);
}

static void put_header(struct elf_file *f, uint64_t shoff)
{
	struct writer *w = &f->out;
	static const uint8_t ident[EI_NIDENT] = { 0x7f,       'E',         'L',       'F',
						  ELFCLASS64, ELFDATA2LSB, EV_CURRENT };

	writer_bytes(w, ident, sizeof(ident));
	writer_u16(w, f->type ? f->type : ET_DYN);
	writer_u16(w, f->machine ? f->machine : EM_X86_64);
	writer_u32(w, EV_CURRENT);
	writer_u64(w, f->entry);
	writer_u64(w, f->nsegments ? 64 : 0);
	writer_u64(w, shoff);
	writer_u32(w, 0);
	writer_u16(w, 64);
	writer_u16(w, 56);
	writer_u16(w, (uint16_t)f->nsegments);
	writer_u16(w, 64);
	writer_u16(w, (uint16_t)(f->nsections ? f->nsections + 1 : 0));
	writer_u16(w, (uint16_t)f->nsections); /* names come last */
}

static void put_segment(struct writer *w, const struct elf_file_segment *s)
{
	writer_u32(w, s->type);
	writer_u32(w, s->flags);
	writer_u64(w, s->offset);
	writer_u64(w, s->vaddr);
	writer_u64(w, s->vaddr);
	writer_u64(w, s->file_len);
	writer_u64(w, s->memory_len);
	writer_u64(w, 4);
}

static void put_section(struct writer *w, const struct elf_file_section *s, uint32_t name)
{
	writer_u32(w, name);
	writer_u32(w, s->type);
	writer_u64(w, s->flags);
	writer_u64(w, s->vaddr);
	writer_u64(w, s->offset);
	writer_u64(w, s->len);
	writer_u32(w, s->link);
	writer_u32(w, 0);
	writer_u64(w, 1);
	writer_u64(w, s->entry_len);
}

static void place_segments(struct elf_file *f)
{
	for (size_t i = 0; i < f->nsegments; i++) {
		struct elf_file_segment *seg = &f->segments[i];

		for (size_t j = 0; j < f->nsections && !seg->offset && !seg->file_len; j++) {
			const struct elf_file_section *s = &f->sections[j];

			if (s->vaddr != seg->vaddr)
				continue;
			seg->offset = s->offset;
			seg->file_len = s->len;
			seg->memory_len = seg->memory_len ? seg->memory_len : s->len;
			break;
		}
	}
}

/* Lay out everything once; the caller runs it twice, the second time with all offsets known. */
static uint64_t lay_out(struct elf_file *f, const struct writer *names, uint64_t shoff)
{
	struct writer *w = &f->out;
	uint32_t name = 1;

	writer_reset(w);
	put_header(f, shoff);
	for (size_t i = 0; i < f->nsegments; i++)
		put_segment(w, &f->segments[i]);
	for (size_t i = 0; i < f->nsections; i++) {
		struct elf_file_section *s = &f->sections[i];

		pad(w, 16);
		s->offset = w->len;
		if (s->type != SHT_NOBITS)
			writer_bytes(w, s->data, s->len);
	}
	pad(w, 16);
	shoff = w->len;
	if (!f->nsections)
		return 0;
	put_section(w, &(struct elf_file_section){ 0 }, 0);
	for (size_t i = 0; i < f->nsections; i++) {
		put_section(w, &f->sections[i], name);
		name += (uint32_t)strlen((const char *)names->data + name) + 1;
	}
	return shoff;
}

void elf_file_finish(struct elf_file *f)
{
	struct writer names = { 0 };

	if (f->nsections) {
		writer_string(&names, "");
		for (size_t i = 0; i < f->nsections; i++)
			writer_string(&names, f->sections[i].name);
		writer_string(&names, ".shstrtab");
		elf_file_section(f, (struct elf_file_section){ .name = ".shstrtab",
							       .type = SHT_STRTAB,
							       .data = names.data,
							       .len = names.len });
	}
	uint64_t shoff = lay_out(f, &names, 0);

	place_segments(f);
	lay_out(f, &names, shoff);
	writer_deinit(&names);
}

void elf_file_deinit(struct elf_file *f)
{
	writer_deinit(&f->out);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_relocate.c - relocatable files (kernel modules), as if they had been linked alone.
 *
 * All sections of such a file begin at 0, and what refers to another section is left open. So sections that would be
 * loaded are placed one behind the other, and debug information is completed when it is read:
 *
 *	0x10000  .text           what the debug information says about 0x10040 is about .text + 0x40
 *	0x190e0  .text.unlikely
 *
 * Nothing else is completed: code and unwind tables stay as they are in the file.
 */
#include "symbolize/elf/image_parts.h"

#include "formats/base/memory.h"
#include "formats/base/reader.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_VADDR 0x10000ULL /* not 0: that is where linkers leave what they threw away */
#define LAST_VADDR  (1ULL << 40)
#define ALIGN_MAX   0x10000ULL

#define SYM_LEN	 24 /* Elf64_Sym */
#define RELA_LEN 24 /* Elf64_Rela */

/* Relocations of the table are read this many times the file's length at most: tables that share bytes are not honest. */
#define RELOCATED_RATE 4

/* What compilers write into debug information. All add a symbol and a constant. */
static const struct {
	const struct arch *arch;
	uint32_t type;
	size_t width; /* bytes */
} kinds[] = {
	{ &arch_x86_64, R_X86_64_64, 8 },     { &arch_x86_64, R_X86_64_32, 4 },
	{ &arch_x86_64, R_X86_64_32S, 4 },    { &arch_aarch64, R_AARCH64_ABS64, 8 },
	{ &arch_aarch64, R_AARCH64_ABS32, 4 },
};

static size_t width_of(const struct arch *arch, uint32_t type)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (kinds[i].arch == arch && kinds[i].type == type)
			return kinds[i].width;
	}
	return 0;
}

/* Has it been loaded by a compiler, which notes the addresses in its copy of the file (gdb/jit.h)? */
static bool is_placed(const struct image *img)
{
	for (size_t i = 0; i < img->nsections; i++) {
		if (img->sections[i].flags & SHF_ALLOC && img->sections[i].vaddr)
			return true;
	}
	return false;
}

void image_lay_out(struct image *img)
{
	uint64_t vaddr = FIRST_VADDR;
	bool placed = is_placed(img);

	if (img->type != ET_REL || img->nsegments)
		return;
	free(img->segments);
	img->segments = memory_zeroed(img->nsections, sizeof(*img->segments));
	for (size_t i = 0; i < img->nsections; i++) {
		struct section *s = &img->sections[i];
		uint64_t align = MIN(MAX(s->align, 1), ALIGN_MAX);
		uint64_t begin = (vaddr + align - 1) / align * align;

		if (!(s->flags & SHF_ALLOC) || s->len > LAST_VADDR - begin || (placed && !s->vaddr))
			continue;
		if (!placed)
			s->vaddr = begin;
		vaddr = placed ? FIRST_VADDR : begin + s->len;
		if (s->flags & SHF_EXECINSTR)
			img->segments[img->nsegments++] = (struct image_segment){
				.vaddr = s->vaddr,
				.memory_len = s->len,
				.offset = s->offset,
				.file_len = s->type == SHT_NOBITS ? 0 : s->len,
				.exec = true,
			};
	}
}

uint64_t image_symbol_base(const struct image *img, size_t section)
{
	if (img->type != ET_REL)
		return 0;
	for (size_t i = section ? section - 1 : 0; i < img->nsections; i++) {
		const struct section *s = &img->sections[i];

		if (s->index == section)
			return s->flags & SHF_ALLOC ? s->vaddr : 0;
	}
	return 0;
}

static const struct section *symbols_of(const struct image *img, const struct section *rela)
{
	for (size_t i = 0; i < img->nsections; i++) {
		const struct section *s = &img->sections[i];

		if (s->index == rela->link)
			return s->type == SHT_SYMTAB && image_fits(img, s->offset, s->len) ? s
											   : NULL;
	}
	return NULL;
}

/* The address of symbol @index; that of its section for the nameless ones that most relocations use. */
static bool symbol_value(const struct image *img, const struct section *symbols, uint64_t index,
			 uint64_t *ret)
{
	struct reader r;

	if (index >= symbols->len / SYM_LEN)
		return false;
	reader_init(&r, img->bytes + symbols->offset + index * SYM_LEN, SYM_LEN,
		    /* big_endian= */ false);
	reader_skip(&r, 6, "name, type and visibility");
	uint16_t section = reader_u16(&r, "section");
	uint64_t value = reader_u64(&r, "value");

	if (section == SHN_UNDEF || (section >= SHN_LORESERVE && section != SHN_ABS))
		return false;
	*ret = value + (section == SHN_ABS ? 0 : image_symbol_base(img, section));
	return true;
}

static void apply(const struct image *img, struct section *s, const struct section *rela)
{
	const struct section *symbols = symbols_of(img, rela);
	struct reader r;

	reader_init(&r, img->bytes + rela->offset, rela->len, /* big_endian= */ false);
	while (symbols && reader_left(&r) >= RELA_LEN) {
		uint64_t offset = reader_u64(&r, "relocation offset");
		uint64_t info = reader_u64(&r, "relocation type");
		uint64_t value = reader_u64(&r, "addend");
		size_t width = width_of(img->arch, (uint32_t)info);
		uint64_t base;

		if (!width || width > s->data_len || offset > s->data_len - width ||
		    !symbol_value(img, symbols, info >> 32, &base))
			continue;
		value += base;
		for (size_t i = 0; i < width; i++)
			s->own[offset + i] = (uint8_t)(value >> 8 * i);
	}
}

void image_relocate(struct image *img, struct section *s)
{
	if (img->type != ET_REL || s->flags & SHF_ALLOC)
		return;
	for (size_t i = 0; i < img->nsections; i++) {
		const struct section *rela = &img->sections[i];

		if (rela->type != SHT_RELA || rela->info != s->index ||
		    !image_fits(img, rela->offset, rela->len) ||
		    rela->len > RELOCATED_RATE * img->len - img->relocated)
			continue;
		img->relocated += rela->len;
		if (!s->own) {
			s->own = memory_alloc(s->data_len);
			memcpy(s->own, s->data, s->data_len);
			s->data = s->own;
		}
		apply(img, s, rela);
	}
}

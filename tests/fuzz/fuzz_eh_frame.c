/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_eh_frame.c - unwind sections: what is found is in order and covers what was asked, every row that
 * is listed is the one that is found, and a header changes nothing but the way.
 *
 *	| kind | length of .eh_frame_hdr | .eh_frame_hdr | .eh_frame or .debug_frame |
 *	  8 bits: 1 .debug_frame, 2 aarch64   16 bits
 */
#include "tests/fuzz/fuzz.h"

#include "formats/base/reader.h"
#include "formats/base/writer.h"
#include "symbolize/unwind/cfi_program.h"

#include <elf.h>
#include <string.h>

#define HDR_VADDR    0x8000
#define EH_VADDR     0x9000

#define KIND_DEBUG   1
#define KIND_AARCH64 2

static const char names[] = "\0.eh_frame_hdr\0.eh_frame\0.debug_frame\0";
#define NAME_HDR   1
#define NAME_EH    15
#define NAME_DEBUG 25

struct piece {
	const uint8_t *data;
	size_t len;
};

static void put_section(struct writer *w, uint32_t name, uint32_t type, uint64_t vaddr,
			uint64_t offset, size_t len)
{
	writer_u32(w, name);
	writer_u32(w, type);
	writer_u64(w, vaddr ? SHF_ALLOC : 0);
	writer_u64(w, vaddr);
	writer_u64(w, offset);
	writer_u64(w, len);
	writer_u32(w, 0);
	writer_u32(w, 0);
	writer_u64(w, 1);
	writer_u64(w, 0);
}

/* An ELF file with the two sections, the second under the name that @kind says. */
static void put_elf(struct writer *w, uint8_t kind, struct piece hdr, struct piece frames)
{
	static const uint8_t ident[EI_NIDENT] = { 0x7f,       'E',         'L',       'F',
						  ELFCLASS64, ELFDATA2LSB, EV_CURRENT };
	size_t shoff = (64 + hdr.len + frames.len + sizeof(names) + 7) / 8 * 8;
	bool debug = kind & KIND_DEBUG;

	writer_bytes(w, ident, sizeof(ident));
	writer_u16(w, ET_DYN);
	writer_u16(w, kind & KIND_AARCH64 ? EM_AARCH64 : EM_X86_64);
	writer_u32(w, EV_CURRENT);
	writer_u64(w, 0);
	writer_u64(w, 0);
	writer_u64(w, shoff);
	writer_u32(w, 0);
	writer_u16(w, 64);
	writer_u16(w, 56);
	writer_u16(w, 0);
	writer_u16(w, 64);
	writer_u16(w, 4);
	writer_u16(w, 3);
	writer_bytes(w, hdr.data, hdr.len);
	writer_bytes(w, frames.data, frames.len);
	writer_bytes(w, names, sizeof(names));
	while (w->len < shoff)
		writer_u8(w, 0);
	put_section(w, 0, SHT_NULL, 0, 0, 0);
	put_section(w, NAME_HDR, SHT_PROGBITS, HDR_VADDR, 64, hdr.len);
	put_section(w, debug ? NAME_DEBUG : NAME_EH, SHT_PROGBITS, debug ? 0 : EH_VADDR,
		    64 + hdr.len, frames.len);
	put_section(w, 0, SHT_STRTAB, 0, 64 + hdr.len + frames.len, sizeof(names));
}

struct rows {
	struct cfi_rules *rules;
	const struct arch *arch;
	const struct cfi_fde *fde;
	uint64_t last;
	size_t count;
};

/* Each row begins after the last, inside its function, and is what a search finds there. */
static void check_row(uint64_t vaddr, uint32_t rule, void *context)
{
	struct rows *rows = context;
	uint32_t found;

	CHECK(vaddr >= rows->fde->begin && vaddr < rows->fde->end);
	CHECK(!rows->count || vaddr > rows->last);
	CHECK(rule < cfi_rules_len(rows->rules));
	if (rows->count++ < 64) { /* a search takes time that grows with the row's number */
		CHECK(cfi_program_find(rows->rules, rows->arch, rows->fde, vaddr, &found));
		CHECK(found == rule);
	}
	rows->last = vaddr;
}

static void check_fde(struct cfi_rules *rules, const struct arch *arch,
		      const struct cfi_section *cfi, const struct cfi_fde *fde)
{
	struct rows rows = { .rules = rules, .arch = arch, .fde = fde };
	struct cfi_fde found;

	CHECK(fde->begin < fde->end);
	if (cfi_section_find(cfi, fde->begin, &found))
		CHECK(found.begin <= fde->begin && found.end > fde->begin);
	cfi_program_rows(rules, arch, fde, check_row, &rows);
	CHECK(rows.count <= fde->instructions_len + 1); /* every further row took an instruction */
}

static void check_section(struct image *img, size_t len)
{
	struct cfi_section *cfi = cfi_section_new(img);
	struct cfi_rules *rules = cfi_rules_new();
	uint64_t last = 0;
	struct cfi_fde fde;
	size_t pos = 0, count = 0;

	while (cfi && cfi_section_each(cfi, &pos, &fde)) {
		CHECK(fde.begin >= last);
		last = fde.begin;
		count++;
		if (count < 256)
			check_fde(rules, image_arch(img), cfi, &fde);
	}
	CHECK(count <= len / 8); /* every one took some bytes */
	cfi_rules_free(rules);
	cfi_section_free(cfi);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct writer elf = { 0 };
	struct image *img = NULL;
	struct reader r;

	reader_init(&r, data, len, /* big_endian= */ false);
	uint8_t kind = reader_u8(&r, "kind");
	size_t hdr_len = reader_u16(&r, "length");
	struct piece hdr = { reader_bytes(&r, hdr_len, "header"), hdr_len };

	if (r.failed)
		return 0;
	put_elf(&elf, kind, hdr, (struct piece){ r.pos, reader_left(&r) });
	err_free(image_open_memory(elf.data, elf.len, "fuzz", &img));
	CHECK(img);
	check_section(img, reader_left(&r));
	image_close(img);
	writer_deinit(&elf);
	return 0;
}

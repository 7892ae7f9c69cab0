/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_stripped.c - the unwind sections of a file that has lost its section headers (sstrip, packers, memory
 * dumps): PT_GNU_EH_FRAME leads to .eh_frame_hdr, which leads to .eh_frame.
 */
#include "symbolize/elf/image_parts.h"

#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "symbolize/elf/cfi_pointer.h"

#include <gelf.h>
#include <stdlib.h>

static bool find_hdr(const struct image *img, GElf_Phdr *ret)
{
	size_t count = 0;

	if (elf_getphdrnum(img->elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (gelf_getphdr(img->elf, (int)i, ret) && ret->p_type == PT_GNU_EH_FRAME)
			return image_fits(img, ret->p_offset, ret->p_filesz);
	}
	return false;
}

/* The bytes up to and with the zero length that ends .eh_frame; 0 if there is none. */
static size_t frames_len(const uint8_t *bytes, size_t len)
{
	struct reader r;

	reader_init(&r, bytes, len, /* big_endian= */ false);
	while (!r.failed) {
		uint64_t record = reader_u32(&r, "record length");

		if (!record)
			return r.failed ? 0 : (size_t)r.offset;
		if (record == UINT32_MAX)
			record = reader_u64(&r, "record length");
		reader_skip(&r, (size_t)record, "record");
	}
	return 0;
}

static void add_section(struct image *img, const char *name, uint64_t vaddr, const uint8_t *bytes,
			size_t len)
{
	img->sections[img->nsections++] = (struct section){
		.name = name,
		.vaddr = vaddr,
		.offset = (uint64_t)(bytes - img->bytes),
		.len = len,
		.type = SHT_PROGBITS,
		.flags = SHF_ALLOC,
	};
}

void image_add_unwind_sections(struct image *img)
{
	struct cfi_pointer_base base;
	const uint8_t *bytes;
	GElf_Phdr hdr;
	struct reader r;
	size_t len;

	if (!find_hdr(img, &hdr))
		return;
	base = (struct cfi_pointer_base){ .start_vaddr = hdr.p_vaddr, .data_vaddr = hdr.p_vaddr };
	reader_init(&r, img->bytes + hdr.p_offset, hdr.p_filesz, /* big_endian= */ false);
	reader_skip(&r, 1, "version");
	uint8_t encoding = reader_u8(&r, "section pointer encoding");

	reader_skip(&r, 2, "other encodings");
	uint64_t vaddr = cfi_pointer_read(&r, encoding, &base, "section pointer");

	bytes = r.failed ? NULL : image_bytes_at(img, vaddr, &len);
	len = bytes ? frames_len(bytes, len) : 0;
	if (!len)
		return;
	free(img->sections);
	img->sections = memory_zeroed(2, sizeof(*img->sections));
	add_section(img, ".eh_frame_hdr", hdr.p_vaddr, img->bytes + hdr.p_offset, hdr.p_filesz);
	add_section(img, ".eh_frame", vaddr, bytes, len);
}

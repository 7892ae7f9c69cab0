/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cfi_writer.h"

#include <string.h>

static void patch_u32(struct writer *w, size_t offset, uint32_t value)
{
	for (size_t i = 0; i < 4; i++)
		w->data[offset + i] = (uint8_t)(value >> 8 * i);
}

static void end_record(struct cfi_writer *w, size_t start)
{
	while (w->out.len % 8)
		writer_u8(&w->out, 0); /* DW_CFA_nop */
	patch_u32(&w->out, start, (uint32_t)(w->out.len - start - 4));
}

void cfi_writer_cie(struct cfi_writer *w, const char *augmentation, uint8_t encoding,
		    unsigned return_reg, const void *code, size_t len)
{
	struct writer data = { 0 };
	size_t start = w->out.len;

	w->cie = start;
	w->encoding = strchr(augmentation, 'R') ? encoding : 0;
	w->augmented = augmentation[0] == 'z';
	writer_u32(&w->out, 0);
	writer_u32(&w->out, w->is_debug ? UINT32_MAX : 0);
	writer_u8(&w->out, 1);
	writer_string(&w->out, augmentation);
	writer_uleb(&w->out, 1);
	writer_sleb(&w->out, -8);
	writer_u8(&w->out, (uint8_t)return_reg);
	if (strchr(augmentation, 'R'))
		writer_u8(&data, encoding);
	if (w->augmented) {
		writer_uleb(&w->out, data.len);
		writer_bytes(&w->out, data.data, data.len);
	}
	writer_bytes(&w->out, code, len);
	end_record(w, start);
	writer_deinit(&data);
}

static void put_pointer(struct cfi_writer *w, uint64_t value)
{
	uint64_t base = (w->encoding & 0x70) == 0x10 ? w->vaddr + w->out.len : 0;

	switch (w->encoding & 0x0f) {
	case 0x02:
	case 0x0a:
		writer_u16(&w->out, (uint16_t)(value - base));
		break;
	case 0x03:
	case 0x0b:
		writer_u32(&w->out, (uint32_t)(value - base));
		break;
	case 0x01:
		writer_uleb(&w->out, value - base);
		break;
	case 0x09:
		writer_sleb(&w->out, (int64_t)(value - base));
		break;
	default:
		writer_u64(&w->out, value - base);
	}
}

void cfi_writer_fde(struct cfi_writer *w, uint64_t begin, uint64_t fde_len, const void *code,
		    size_t len)
{
	size_t start = w->out.len;
	uint8_t encoding = w->encoding;

	w->fdes[w->nfdes].begin = begin;
	w->fdes[w->nfdes++].offset = start;
	writer_u32(&w->out, 0);
	writer_u32(&w->out, (uint32_t)(w->is_debug ? w->cie : w->out.len - w->cie));
	put_pointer(w, begin);
	w->encoding &= 0x0f;
	put_pointer(w, fde_len);
	w->encoding = encoding;
	if (w->augmented)
		writer_uleb(&w->out, 0);
	writer_bytes(&w->out, code, len);
	end_record(w, start);
}

void cfi_writer_hdr(const struct cfi_writer *w, uint64_t vaddr, struct writer *hdr)
{
	static const uint8_t start[] = { 1, 0x1b, 0x03, 0x3b };

	writer_bytes(hdr, start, sizeof(start));
	writer_u32(hdr, (uint32_t)(w->vaddr - vaddr - 4));
	writer_u32(hdr, (uint32_t)w->nfdes);
	for (size_t i = 0; i < w->nfdes; i++) {
		writer_u32(hdr, (uint32_t)(w->fdes[i].begin - vaddr));
		writer_u32(hdr, (uint32_t)(w->vaddr + w->fdes[i].offset - vaddr));
	}
}

void cfi_writer_deinit(struct cfi_writer *w)
{
	writer_deinit(&w->out);
}

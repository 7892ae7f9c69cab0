/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_pointer.c - two steps: the stored value by its format, then the base it counts from.
 */
#include "symbolize/elf/cfi_pointer.h"

static uint64_t stored_value(struct reader *r, uint8_t encoding, const char *what)
{
	switch (encoding & CFI_POINTER_FORMAT_MASK) {
	case CFI_POINTER_ABSOLUTE:
	case CFI_POINTER_U64:
	case CFI_POINTER_S64:
		return reader_u64(r, what);
	case CFI_POINTER_S32:
		return (uint64_t)(int64_t)(int32_t)reader_u32(r, what);
	case CFI_POINTER_U32:
		return reader_u32(r, what);
	case CFI_POINTER_U16:
		return reader_u16(r, what);
	case CFI_POINTER_S16:
		return (uint64_t)(int64_t)(int16_t)reader_u16(r, what);
	case CFI_POINTER_ULEB:
		return reader_uleb(r, what);
	case CFI_POINTER_SLEB:
		return (uint64_t)reader_sleb(r, what);
	default:
		reader_fail(r, what);
		return 0;
	}
}

static bool is_known(uint8_t encoding)
{
	uint8_t base = encoding & CFI_POINTER_BASE_MASK;
	uint8_t format = encoding & CFI_POINTER_FORMAT_MASK;

	if (encoding & CFI_POINTER_INDIRECT)
		return false;
	if (base != 0 && base != CFI_POINTER_PC_RELATIVE && base != CFI_POINTER_DATA_RELATIVE)
		return false;
	return format <= CFI_POINTER_U64 ||
	       (format >= CFI_POINTER_SLEB && format <= CFI_POINTER_S64);
}

uint64_t cfi_pointer_read(struct reader *r, uint8_t encoding, const struct cfi_pointer_base *base,
			  const char *what)
{
	uint64_t own_vaddr = base->start_vaddr + r->offset;
	uint64_t value;

	if (!is_known(encoding)) {
		reader_fail(r, what);
		return 0;
	}
	value = stored_value(r, encoding, what);
	switch (encoding & CFI_POINTER_BASE_MASK) {
	case CFI_POINTER_PC_RELATIVE:
		value += own_vaddr;
		break;
	case CFI_POINTER_DATA_RELATIVE:
		if (!base->data_vaddr)
			reader_fail(r, what);
		value += base->data_vaddr;
		break;
	}
	return r->failed ? 0 : value;
}

void cfi_pointer_skip(struct reader *r, uint8_t encoding, const char *what)
{
	if (encoding != CFI_POINTER_OMITTED)
		stored_value(r, encoding, what);
}

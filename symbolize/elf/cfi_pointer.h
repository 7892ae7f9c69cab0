/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_pointer.h - addresses as unwind sections encode them (LSB Core 5.0, 10.5.1, "DWARF exception header encoding").
 */
#ifndef ELF_CFI_POINTER_H
#define ELF_CFI_POINTER_H

#include "formats/base/reader.h"

#include <stdbool.h>
#include <stdint.h>

/* The low four bits say how the value is stored, the next three what it is relative to. */
enum cfi_pointer_encoding {
	CFI_POINTER_ABSOLUTE = 0x00,
	CFI_POINTER_ULEB = 0x01,
	CFI_POINTER_U16 = 0x02,
	CFI_POINTER_U32 = 0x03,
	CFI_POINTER_U64 = 0x04,
	CFI_POINTER_SLEB = 0x09,
	CFI_POINTER_S16 = 0x0a,
	CFI_POINTER_S32 = 0x0b,
	CFI_POINTER_S64 = 0x0c,
	CFI_POINTER_FORMAT_MASK = 0x0f,

	CFI_POINTER_PC_RELATIVE = 0x10,   /* to the address of the pointer itself */
	CFI_POINTER_DATA_RELATIVE = 0x30, /* to .eh_frame_hdr */
	CFI_POINTER_BASE_MASK = 0x70,

	CFI_POINTER_INDIRECT = 0x80,
	CFI_POINTER_OMITTED = 0xff,
};

/* Where the bytes being read lie, for relative pointers. */
struct cfi_pointer_base {
	uint64_t start_vaddr; /* link-time address of the reader's offset 0 */
	uint64_t
		data_vaddr; /* what data-relative pointers count from; 0 if there is no such thing */
};

/* Read one pointer; the reader fails if the encoding is not known, or is indirect, text- or function-relative, or aligned. */
uint64_t cfi_pointer_read(struct reader *r, uint8_t encoding, const struct cfi_pointer_base *base,
			  const char *what);

/* Pass over one pointer of any encoding. */
void cfi_pointer_skip(struct reader *r, uint8_t encoding, const char *what);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_id_note.c - notes one behind the other: sizes, type, name, content, each padded to words of 4 bytes (gABI, "Note
 * Section").
 */
#include "formats/process/build_id_note.h"

#include "formats/base/reader.h"

#include <elf.h>
#include <string.h>

bool build_id_note_find(const void *notes, size_t len, uint8_t ret_id[20], uint8_t *ret_len)
{
	struct reader r;

	reader_init(&r, notes, len, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	while (reader_left(&r)) {
		uint32_t name_len = reader_u32(&r, "note name size");
		uint32_t desc_len = reader_u32(&r, "note size");
		uint32_t type = reader_u32(&r, "note type");
		const char *name = reader_bytes(&r, ((size_t)name_len + 3) & ~3ULL, "note name");
		const uint8_t *desc = reader_bytes(&r, ((size_t)desc_len + 3) & ~3ULL, "note");

		if (!desc || type != NT_GNU_BUILD_ID || name_len != sizeof(ELF_NOTE_GNU) ||
		    memcmp(name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) != 0 || desc_len > 20)
			continue;
		memcpy(ret_id, desc, desc_len);
		*ret_len = (uint8_t)desc_len;
		return true;
	}
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_id_file.c - one read is enough for most files: headers and notes lie in the first page.
 *
 * The file may be any user's and may change meanwhile. Read errors and nonsense both mean that there is no build ID.
 */
#include "symbolize/elf/build_id_file.h"

#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/process/build_id_note.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD_LEN     4096
#define SEGMENTS_MAX 512 /* program headers that are looked at */

struct head {
	int fd;
	size_t len;
	uint8_t bytes[HEAD_LEN];
};

/* Where the program headers are. */
struct layout {
	uint64_t offset;
	uint32_t count, entry_len;
	bool is_32;
};

static size_t read_at(int fd, void *to, size_t len, uint64_t offset)
{
	size_t done = 0;

	while (done < len && offset + done <= INT64_MAX) {
		ssize_t got = pread(fd, (uint8_t *)to + done, len - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

/* @len bytes at @offset, from the head or into @room; NULL if the file has fewer. */
static const uint8_t *bytes_at(const struct head *head, uint64_t offset, size_t len, uint8_t *room)
{
	if (offset <= head->len && len <= head->len - offset)
		return head->bytes + offset;
	return read_at(head->fd, room, len, offset) == len ? room : NULL;
}

static bool read_layout(const struct head *head, struct layout *ret)
{
	const uint8_t order = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB;
	const uint8_t *ident = head->bytes;
	struct reader r;

	if (head->len < EI_NIDENT || memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_DATA] != order)
		return false;
	ret->is_32 = ident[EI_CLASS] == ELFCLASS32;
	reader_init(&r, head->bytes, head->len, order == ELFDATA2MSB);
	reader_bytes(&r, ret->is_32 ? offsetof(Elf32_Ehdr, e_phoff) : offsetof(Elf64_Ehdr, e_phoff),
		     "ELF header");
	ret->offset = ret->is_32 ? reader_u32(&r, "e_phoff") : reader_u64(&r, "e_phoff");
	reader_bytes(&r, ret->is_32 ? 4 + 4 + 2 : 8 + 4 + 2, "e_shoff, e_flags, e_ehsize");
	ret->entry_len = reader_u16(&r, "e_phentsize");
	ret->count = reader_u16(&r, "e_phnum");
	return !r.failed &&
	       ret->entry_len == (ret->is_32 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr));
}

/* The place of a segment of notes; false if it is another. */
static bool parse_segment(const uint8_t *entry, const struct layout *layout, uint64_t *ret_offset,
			  uint64_t *ret_len)
{
	struct reader r;

	reader_init(&r, entry, layout->entry_len, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	uint32_t type = reader_u32(&r, "p_type");

	if (layout->is_32) {
		*ret_offset = reader_u32(&r, "p_offset");
		reader_bytes(&r, 4 + 4, "p_vaddr, p_paddr");
		*ret_len = reader_u32(&r, "p_filesz");
	} else {
		reader_u32(&r, "p_flags");
		*ret_offset = reader_u64(&r, "p_offset");
		reader_bytes(&r, 8 + 8, "p_vaddr, p_paddr");
		*ret_len = reader_u64(&r, "p_filesz");
	}
	return !r.failed && type == PT_NOTE;
}

bool build_id_file_read(int fd, uint8_t ret_id[20], uint8_t *ret_len)
{
	struct head head = { .fd = fd };
	struct layout layout;
	uint8_t entry[sizeof(Elf64_Phdr)];
	size_t budget = BUILD_ID_FILE_NOTES_MAX;
	bool found = false;

	head.len = read_at(fd, head.bytes, sizeof(head.bytes), 0);
	if (!read_layout(&head, &layout))
		return false;
	for (uint32_t i = 0; i < MIN(layout.count, (uint32_t)SEGMENTS_MAX) && !found; i++) {
		uint64_t place = layout.offset + (uint64_t)i * layout.entry_len, offset, len;
		const uint8_t *segment = bytes_at(&head, place, layout.entry_len, entry);

		if (!segment)
			break;
		if (!parse_segment(segment, &layout, &offset, &len) || !len || len > budget)
			continue;
		budget -= len;
		uint8_t *room = memory_alloc(len);
		const uint8_t *notes = bytes_at(&head, offset, len, room);

		found = notes && build_id_note_find(notes, len, ret_id, ret_len);
		free(room);
	}
	return found;
}

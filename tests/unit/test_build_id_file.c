/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/elf/build_id_file.h"

#include "tests/unit/elf_file.h"
#include "tests/unit/test.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const uint8_t note[] = { 4, 0, 0, 0, 8, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0,
				'G', 'N', 'U', 0, 1, 2, 3, 4, 5, 6, 7, 8 };

/* An ELF file with a build ID note at the end of @notes_len bytes of notes. */
static int file_with(struct elf_file *f, uint8_t *notes, size_t notes_len, size_t cut)
{
	char path[4096];

	/* In front of it, one note of nothing else. */
	memset(notes, 0, notes_len);
	if (notes_len > sizeof(note)) {
		uint32_t filler[3] = { 0, (uint32_t)(notes_len - sizeof(note) - sizeof(filler)), 77 };

		memcpy(notes, filler, sizeof(filler));
	}
	memcpy(notes + notes_len - sizeof(note), note, sizeof(note));
	elf_file_section(f, (struct elf_file_section){ .name = ".note",
						       .type = SHT_NOTE,
						       .flags = SHF_ALLOC,
						       .vaddr = 0x8000,
						       .data = notes,
						       .len = notes_len });
	elf_file_segment(f, (struct elf_file_segment){ PT_NOTE, PF_R, 0, 0x8000, 0, 0 });
	elf_file_finish(f);
	snprintf(path, sizeof(path), "%s", test_path("program"));
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	size_t len = f->out.len - cut;

	CHECK(fd >= 0 && write(fd, f->out.data, len) == (ssize_t)len);
	return fd;
}

static bool reads(size_t notes_len, size_t cut)
{
	static uint8_t notes[2 * BUILD_ID_FILE_NOTES_MAX];
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	uint8_t id[20], len = 0;
	int fd = file_with(&f, notes, notes_len, cut);
	bool found = build_id_file_read(fd, id, &len);

	close(fd);
	if (found) {
		CHECK_UINT(len, 8);
		CHECK_MEM(id, note + 16, 8);
	}
	return found;
}

TEST(build_id_file_is_read_from_the_notes_of_the_program_headers)
{
	CHECK(reads(sizeof(note), 0));
	CHECK(reads(12000, 0)); /* behind the first page */
	CHECK(reads(BUILD_ID_FILE_NOTES_MAX, 0));
	CHECK(!reads(BUILD_ID_FILE_NOTES_MAX + 4, 0)); /* a bomb */
}

TEST(build_id_file_rejects_every_truncation)
{
	static uint8_t notes[sizeof(note)];
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	uint8_t id[20], len;
	int fd = file_with(&f, notes, sizeof(note), 0);
	size_t end = f.sections[0].offset + sizeof(note);

	for (size_t keep = 0; keep < end; keep++) {
		CHECK_INT(ftruncate(fd, 0), 0);
		CHECK_INT(pwrite(fd, f.out.data, keep, 0), (int)keep);
		CHECK(!build_id_file_read(fd, id, &len));
	}
	CHECK_INT(pwrite(fd, f.out.data, end, 0), (int)end);
	CHECK(build_id_file_read(fd, id, &len));
	close(fd);
}

TEST(build_id_file_of_something_else_is_none)
{
	char path[4096];
	uint8_t id[20], len;

	snprintf(path, sizeof(path), "%s", test_path("text"));
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	CHECK(!build_id_file_read(fd, id, &len));
	CHECK_INT(write(fd, "#!/bin/sh\n", 10), 10);
	CHECK(!build_id_file_read(fd, id, &len));
	close(fd);
	CHECK(!build_id_file_read(-1, id, &len));
}

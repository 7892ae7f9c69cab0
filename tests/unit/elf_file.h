/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_file.h - small ELF files for tests, put together piece by piece.
 *
 * A zeroed struct elf_file makes a little-endian 64-bit ET_DYN for x86-64. Nothing is checked: tests that
 * want a broken file say so, or change bytes afterwards.
 */
#ifndef UNIT_ELF_FILE_H
#define UNIT_ELF_FILE_H

#include "formats/base/writer.h"

#include <stddef.h>
#include <stdint.h>

#define ELF_FILE_MAX 16

struct elf_file_section {
	const char *name;
	uint32_t type;  /* SHT_* */
	uint64_t flags; /* SHF_* */
	uint64_t vaddr;
	const void *data;
	size_t len;
	uint32_t link;   /* sh_link: number of another section, the first added is 1 */
	uint64_t entry_len; /* sh_entsize */
	uint64_t offset; /* set by elf_file_finish() */
};

struct elf_file_segment {
	uint32_t type, flags; /* PT_*, PF_* */
	uint64_t offset, vaddr, file_len, memory_len;
};

struct elf_file {
	uint16_t type, machine; /* 0: ET_DYN, EM_X86_64 */
	uint64_t entry;         /* where the program starts; 0: nowhere */
	struct elf_file_section sections[ELF_FILE_MAX];
	struct elf_file_segment segments[ELF_FILE_MAX];
	size_t nsections, nsegments;
	struct writer out;
};

/* Add a section; @data must live until elf_file_finish(). */
void elf_file_section(struct elf_file *f, struct elf_file_section section);
void elf_file_segment(struct elf_file *f, struct elf_file_segment segment);

/*
 * Lay the file out in @f->out: header, program headers, sections (each at an offset congruent to its
 * address modulo 16), section headers. Where a segment's offset is 0 and its file_len too, it is made to
 * hold the section at its address.
 */
void elf_file_finish(struct elf_file *f);

void elf_file_deinit(struct elf_file *f);

#endif

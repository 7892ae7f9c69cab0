/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_writer.h - puts a small ELF64 file together: sections with their bytes, and program headers.
 *
 *	header | program headers | bytes of sections | .shstrtab | section headers
 *
 * A zeroed struct with its machine set is ready.
 */
#ifndef ELF_ELF_WRITER_H
#define ELF_ELF_WRITER_H

#include "formats/base/strtab.h"
#include "formats/base/vec.h"
#include "formats/base/writer.h"

#include <stddef.h>
#include <stdint.h>

/* Fewer than SHN_LORESERVE, from where on indices mean other things; room for .shstrtab and the like. */
#define ELF_WRITER_SECTIONS_MAX 60000

struct elf_writer_section {
	const char *name;
	uint32_t type;  /* SHT_* */
	uint64_t flags; /* SHF_* */
	uint64_t vaddr;
	const void *data; /* must live until elf_writer_finish() */
	size_t len;
	uint32_t link, info;
	uint64_t entry_len;
};

/* A program header. With @section it takes offset, address and lengths from there. */
struct elf_writer_segment {
	uint32_t type, flags; /* PT_*, PF_* */
	uint64_t offset, vaddr, file_len, memory_len;
	size_t section; /* index, 0 for none */
};

struct elf_writer {
	uint16_t machine;                        /* EM_* */
	VEC(struct elf_writer_section) sections; /* from index 1 on */
	VEC(struct elf_writer_segment) segments;
	struct strtab names;
};

/* Add a section; returns its index in the file, from 1 on. At most ELF_WRITER_SECTIONS_MAX. */
size_t elf_writer_section(struct elf_writer *w, struct elf_writer_section section);
void elf_writer_segment(struct elf_writer *w, struct elf_writer_segment segment);

/* Append the file, an ET_DYN, to @out, which is empty. */
void elf_writer_finish(struct elf_writer *w, struct writer *out);

void elf_writer_deinit(struct elf_writer *w);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mini_elf.h - puts a small ELF64 file together: sections with their bytes, and program headers.
 *
 *	header | program headers | bytes of sections | .shstrtab | section headers
 *
 * A zeroed struct with its machine set is ready.
 */
#ifndef BASE_MINI_ELF_H
#define BASE_MINI_ELF_H

#include "formats/base/strtab.h"
#include "formats/base/vec.h"
#include "formats/base/writer.h"

#include <stddef.h>
#include <stdint.h>

/* Fewer than SHN_LORESERVE, from where on indices mean other things; room for .shstrtab and the like. */
#define MINI_ELF_SECTIONS_MAX 60000

struct mini_elf_section {
	const char *name;
	uint32_t type;  /* SHT_* */
	uint64_t flags; /* SHF_* */
	uint64_t vaddr;
	const void *data; /* must live until mini_elf_finish() */
	size_t len;
	uint32_t link, info;
	uint64_t entry_len;
};

/* A program header. With @section it takes offset, address and lengths from there. */
struct mini_elf_segment {
	uint32_t type, flags; /* PT_*, PF_* */
	uint64_t offset, vaddr, file_len, memory_len;
	size_t section; /* index, 0 for none */
};

struct mini_elf {
	uint16_t machine;                      /* EM_* */
	uint64_t entry;                        /* link-time address; 0 for none */
	VEC(struct mini_elf_section) sections; /* from index 1 on */
	VEC(struct mini_elf_segment) segments;
	struct strtab names;
};

/* Add a section; returns its index in the file, from 1 on. At most MINI_ELF_SECTIONS_MAX. */
size_t mini_elf_section(struct mini_elf *w, struct mini_elf_section section);
void mini_elf_segment(struct mini_elf *w, struct mini_elf_segment segment);

/* Append the file, an ET_DYN, to @out, which is empty. */
void mini_elf_finish(struct mini_elf *w, struct writer *out);

void mini_elf_deinit(struct mini_elf *w);

#endif

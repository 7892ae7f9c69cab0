/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mini_elf.h - puts a small ELF64 file together: sections with their bytes, and program headers.
 *
 *	header | program headers | bytes of sections | .shstrtab | section headers
 *
 * A zeroed struct with its machine set is ready. The headers are also there by themselves, to be read and written.
 */
#ifndef BASE_MINI_ELF_H
#define BASE_MINI_ELF_H

#include "formats/base/reader.h"
#include "formats/base/strtab.h"
#include "formats/base/vec.h"
#include "formats/base/writer.h"

#include <stddef.h>
#include <stdint.h>

#define MINI_ELF_HEADER_LEN	64
#define MINI_ELF_SEGMENT_HEADER_LEN 56
#define MINI_ELF_SECTION_HEADER_LEN 64

/* The header of a file (ELF64, little-endian), without its identification, version and flags. */
struct mini_elf_header {
	uint16_t type, machine; /* ET_*, EM_* */
	uint64_t entry, segments_at, sections_at;
	uint16_t section_header_len; /* read, not written */
	uint16_t nsegments, nsections;
	uint16_t names_section;
};

/* False, if these are not the first MINI_ELF_HEADER_LEN bytes of a little-endian ELF64 file. */
bool mini_elf_get_header(struct reader *r, struct mini_elf_header *ret);
void mini_elf_put_header(struct writer *out, const struct mini_elf_header *header);

struct mini_elf_section_header {
	uint32_t name; /* in the section of names */
	uint32_t type;
	uint64_t flags, vaddr, offset, len;
	uint32_t link, info;
	uint64_t align, entry_len;
};

struct mini_elf_section_header mini_elf_get_section_header(struct reader *r);
void mini_elf_put_section_header(struct writer *out, const struct mini_elf_section_header *header);

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

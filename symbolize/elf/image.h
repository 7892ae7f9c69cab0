/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.h - one ELF file, on disk or in memory: segments, sections, build ID.
 *
 * The only door to libelf; its types appear in no header. An image owns its descriptor or mapping.
 * Not thread-safe while it is being opened; afterwards reading is.
 */
#ifndef ELF_IMAGE_H
#define ELF_IMAGE_H

#include "formats/arch.h"
#include "formats/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;

#define IMAGE_BUILD_ID_MAX 20

/* A loadable segment, from PT_LOAD. */
struct image_segment {
	uint64_t vaddr, memory_len;  /* link-time address and length when loaded */
	uint64_t offset, file_len;   /* in the file */
	bool exec, write;
};

/* A section's bytes, decompressed if need be. */
struct image_section {
	const char *name;
	uint64_t vaddr;	      /* link-time address, 0 for those that are not loaded */
	uint64_t offset;      /* in the file; meaningless once decompressed */
	const uint8_t *data;  /* valid until image_close() */
	size_t len;
};

/*
 * Open the ELF file at @path, or the ELF bytes at @data (which must outlive the image).
 *
 * On success *@ret is the caller's to release with image_close(); on failure it is untouched.
 * ERR_SYSTEM: @path cannot be read.  ERR_CORRUPT: not well-formed ELF.  ERR_UNSUPPORTED: 32-bit, or a
 * processor that we do not know, or more headers than any file needs.
 */
MUST_USE struct err *image_open(const char *path, struct image **ret);
MUST_USE struct err *image_open_fd(int fd, const char *path, struct image **ret); /* takes @fd over */

/*
 * image_open_fd() of a file whose owner may write to it meanwhile: all that libelf looks at more than once, headers and names
 * of sections, is copied before it is checked, and stays as it was then. Other bytes may change while they are read, which
 * struct reader bears. ERR_UNSUPPORTED also if there are more such tables than any file needs.
 */
MUST_USE struct err *image_open_foreign(int fd, const char *path, struct image **ret);
MUST_USE struct err *image_open_memory(const void *data, size_t len, const char *path,
				       struct image **ret);

/*
 * The same of a file that is compressed as a whole, which its name tells (.xz, .zst, .gz): unpacked in memory, to 1 GiB and 100
 * times its length at most. ERR_UNSUPPORTED: it holds more. ERR_CORRUPT: its compression is damaged, too.
 */
bool image_is_packed(const char *path);
MUST_USE struct err *image_open_packed(const char *path, struct image **ret);

void image_close(struct image *img);
void image_closep(struct image **img);

/*
 * What takes long to find out about an image, for all who ask: @make's result, made when it is first asked for, and given to
 * @release when the image is closed. There is one such thing (code_targets.h). Thread-safe.
 */
void *image_derived(struct image *img, void *(*make)(struct image *img), void (*release)(void *derived));

const char *image_path(const struct image *img);
const struct arch *image_arch(const struct image *img);
uint64_t image_entry(const struct image *img); /* where a program starts; 0: nowhere */

/*
 * ET_REL: a kernel module. Its sections get addresses as if it was linked alone, from 0x10000 on, each with code is a
 * segment, and its debug information is completed accordingly.
 */
bool image_is_relocatable(const struct image *img);

/* ET_EXEC: always at its link-time addresses, which its code may contain as numbers. */
bool image_is_fixed(const struct image *img);

/* What values of symbols in section number @section count from: the section in a relocatable file, 0 in others. */
uint64_t image_symbol_base(const struct image *img, size_t section);

/* Binary build ID; length 0 if there is none. */
const uint8_t *image_build_id(const struct image *img, size_t *ret_len);

const struct image_segment *image_segments(const struct image *img, size_t *ret_count);

/*
 * Find section @name. False if there is none, or it is SHT_NOBITS, or it cannot be decompressed: to
 * at most 4 GiB, and all sections of a file to a few hundred times what it stores (of bytes in memory to 16 MiB), which is noted as a defect. ".zdebug_" names are found under ".debug_" as well.
 */
bool image_section(struct image *img, const char *name, struct image_section *ret);

/*
 * About @len bytes were read that will hardly be read again soon; IMAGE_PLACE for a few in one
 * place, since the kernel maps the pages around them as well. Now and then the file's pages are let
 * go, so that memory does not come to hold as much as was ever looked at; they come back when they
 * are read. For one thread at a time.
 */
#define IMAGE_PLACE (64u << 10)
void image_passed(struct image *img, uint64_t len);

/*
 * What is wrong with the file: a section that cannot be unpacked, debug information that goes in circles.
 * The first note stays, since what comes after it is often its consequence. NULL: nothing was noticed.
 */
void image_note_defect(struct image *img, const char *fmt, ...) PRINTF(2, 3);
const char *image_defect(struct image *img);

/* Is there a section @name with bytes, under either of its names? It is not decompressed for that. */
bool image_has_section(const struct image *img, const char *name);

/* Sections by their number, as symbols have it; those beyond are not told apart from any other, and are not in it. */
struct image_section_set {
	uint64_t bits[65536 / 64];
};

/* Those of @img that a program writes to while it runs: not what only relocations change. */
void image_variable_sections(const struct image *img, struct image_section_set *ret);

static inline bool image_section_set_has(const struct image_section_set *set, uint16_t number)
{
	return set->bits[number / 64] >> (number % 64) & 1;
}

/* Bytes that the file says section @name takes up in it, compressed or not; 0 if there is none. */
uint64_t image_section_stored_len(const struct image *img, const char *name);

/* The name of the section that holds link-time address @vaddr, e.g. ".plt"; NULL if none does. */
const char *image_section_at(const struct image *img, uint64_t vaddr);

/*
 * Bytes of the loaded file at link-time address @vaddr: a pointer to them and in @ret_len how many
 * follow up to the end of the segment or section; NULL if the file holds none there.
 */
const uint8_t *image_bytes_at(struct image *img, uint64_t vaddr, size_t *ret_len);

/*
 * What to subtract from an address in a process to get the link-time one, for a mapping of @file_offset
 * at @start. Goes by the segment that holds @file_offset, executable ones first, so that files whose
 * text does not begin at offset 0 (lld, mold, gold) come out right. False if no segment is there.
 */
bool image_bias(const struct image *img, uint64_t start, uint64_t file_offset, uint64_t *ret_bias);

/* The same for a mapping that was not executable: other segments first. */
bool image_data_bias(const struct image *img, uint64_t start, uint64_t file_offset,
		     uint64_t *ret_bias);

/* The underlying Elf *, for the libdw modules only. */
void *image_elf(struct image *img);

/* Hex digits of a build ID; @ret holds at least 2 * @len + 1 bytes. */
void image_build_id_hex(const uint8_t *build_id, size_t len, char *ret);

#endif

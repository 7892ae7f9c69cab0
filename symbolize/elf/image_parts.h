/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_parts.h - what an image is made of, for image.c and image_section.c only.
 */
#ifndef ELF_IMAGE_PARTS_H
#define ELF_IMAGE_PARTS_H

#include "symbolize/elf/image.h"

#include <libelf.h>
#include <pthread.h>

struct section {
	const char *name;
	uint64_t vaddr, offset, len;
	uint64_t flags;
	uint64_t align;
	uint32_t type, link, info;
	size_t index;
	uint8_t *own;        /* decompressed or relocated by us, to be freed */
	const uint8_t *data; /* decompressed, ours or libelf's; NULL until asked for */
	size_t data_len;
	bool failed; /* cannot be decompressed */
};

struct image {
	char *path;
	Elf *elf;
	const uint8_t *bytes;
	size_t len;
	uint64_t stored_len; /* without the holes of a sparse file */
	bool in_memory;      /* the bytes are the caller's */
	bool mapped;	 /* the bytes are a mapping of the file, ours */
	bool copied;	 /* parts of it are copies, which do not come back once they are let go */
	void *unpacked_file; /* what they are otherwise, if they are ours; freed with the image */
	uint64_t passed; /* bytes that were read since its pages were let go */
	const struct arch *arch;
	uint64_t entry;
	uint16_t type; /* ET_* */
	struct image_segment *segments;
	size_t nsegments;
	struct section *sections;
	size_t nsections;
	const struct section **loaded; /* those that hold addresses, ascending */
	size_t nloaded;
	bool overlapping; /* some of them share addresses: the first in the file counts */
	uint8_t build_id[IMAGE_BUILD_ID_MAX];
	size_t build_id_len;
	char defect[160];     /* the first thing that was found wrong with it, or empty */
	uint64_t unpacked;    /* bytes that sections were decompressed to */
	uint64_t relocated;   /* bytes of relocations that were applied */
	void *derived;	      /* see image_derived() */
	void (*free_derived)(void *derived);
	pthread_mutex_t lock; /* for decompression, @derived and @defect */
};

/* Where there are no section headers, make sections of what PT_GNU_EH_FRAME leads to. */
void image_add_unwind_sections(struct image *img);

/* Give the sections of a relocatable file addresses, and make segments of those with code. */
void image_lay_out(struct image *img);

/* Complete what @s, a loaded section of a relocatable file, says about addresses. */
void image_relocate(struct image *img, struct section *s);

/* Fill @img->loaded once the sections are read. */
void image_sort_sections(struct image *img);

/* Does the file hold @len bytes at @offset? */
bool image_fits(const struct image *img, uint64_t offset, uint64_t len);

#endif

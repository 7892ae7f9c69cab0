/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debugfile.h - finds the file behind a module, and the separate file with its debug information.
 *
 * What is found is opened and its identity checked: build IDs must be equal, and where there is none to
 * compare, the checksum of the debug link decides. Nothing that does not match is ever handed out.
 */
#ifndef SYMBOLIZE_DEBUGFILE_H
#define SYMBOLIZE_DEBUGFILE_H

#include "symbolize/elf/image.h"
#include "symbolize/module/module.h"

/* What is looked for. */
struct debugfile_wanted {
	const char *path;        /* of the binary, as it was mapped */
	const uint8_t *build_id; /* what the file must have */
	size_t build_id_len;     /* 0: not known */
	bool deleted; /* what is at @path now is another file, unless its build ID says otherwise */
};

/* How a search ended. */
enum debugfile_result {
	DEBUGFILE_FOUND,
	DEBUGFILE_UNVERIFIED, /* found at its path, but no build ID was recorded to check it by */
	DEBUGFILE_MISSING,
	DEBUGFILE_MISMATCH, /* there was a file, with another build ID */
	DEBUGFILE_BROKEN,   /* there was a file, not usable ELF */
	DEBUGFILE_32_BIT,   /* there was a file, ELF of a 32-bit program */
};

/* Do two build IDs say the same? False if either is empty. */
bool debugfile_same_id(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len);

/*
 * The binary itself: below @search's symfs, by build ID, at its path, from debuginfod. *@ret is the caller's
 * when one is found. @ret_found: for MISMATCH and BROKEN, where that file is; a string of @arena.
 */
enum debugfile_result debugfile_binary(const struct module_search *search,
				       const struct debugfile_wanted *wanted, struct arena *arena,
				       struct image **ret, const char **ret_found);

/*
 * The separate debug file: by build ID below symfs, the debug directories and /usr/lib/debug; by the debug link
 * of @binary (NULL if there is none); from debuginfod.
 */
enum debugfile_result debugfile_separate(const struct module_search *search,
					 const struct debugfile_wanted *wanted,
					 struct image *binary, struct arena *arena,
					 struct image **ret, const char **ret_found);

/* The kernel's vmlinux for @release, by build ID, which must be known. */
enum debugfile_result debugfile_kernel(const struct module_search *search,
				       const struct debugfile_wanted *wanted, const char *release,
				       struct arena *arena, struct image **ret,
				       const char **ret_found);

/*
 * The file of the running kernel module that @wanted->path, "[name]" or a path, names, for @release: with debug information
 * if there is one, by build ID, which must be known.
 */
enum debugfile_result debugfile_kernel_module(const struct module_search *search,
					      const struct debugfile_wanted *wanted,
					      const char *release, struct arena *arena,
					      struct image **ret, const char **ret_found);

/* CRC-32 (IEEE 802.3, as in .gnu_debuglink) over @len bytes, continuing from @crc, 0 at first. */
uint32_t debugfile_crc32(uint32_t crc, const void *data, size_t len);

#endif

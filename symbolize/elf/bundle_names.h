/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle_names.h - an image that bundle_write() made, once more with other names.
 */
#ifndef ELF_BUNDLE_NAMES_H
#define ELF_BUNDLE_NAMES_H

#include "formats/base/err.h"
#include "formats/base/writer.h"

#include <stddef.h>
#include <stdint.h>

struct bundle_names {
	const char *(*symbol)(void *context, const char *name); /* valid until bundle_rename() returns */
	void *context;
	const uint8_t *build_id; /* instead of its own */
	size_t build_id_len;
};

/*
 * Append to @out, which is empty, the ELF file of @len bytes at @elf with the names of @names. Only what bundle_write()
 * is known to write is taken over. ERR_CORRUPT: it is not such a file.
 */
MUST_USE struct err *bundle_rename(const void *elf, size_t len, const struct bundle_names *names,
				   struct writer *out);

#endif

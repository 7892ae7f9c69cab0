/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_file.h - the bytes of a file to import: mapped, or unpacked into memory if it is compressed (gzip, zstd).
 *
 * A mapped file may be cut short by others while it is read; a page_guard is on from opening to closing, so one file is open
 * at a time.
 */
#ifndef FORMATS_IMPORT_FILE_H
#define FORMATS_IMPORT_FILE_H

#include "formats/base/page_guard.h"
#include "formats/base/writer.h"
#include "formats/profile/import/importer.h"

#include <stdbool.h>

struct import_file {
	struct import_input input;
	void *map; /* NULL: nothing is mapped */
	size_t map_len;
	struct writer unpacked;
	struct page_guard guard;
	bool guarded;
};

/*
 * @fd stays the caller's and may be closed at once. ERR_SYSTEM: it cannot be read.  ERR_CORRUPT: its compression is damaged.
 * ERR_UNSUPPORTED: it is empty, or unpacks to more than 4 GiB.
 */
MUST_USE struct err *import_file_open(int fd, const char *name, struct import_file *ret);

/* The same of bytes in memory, which must outlive it. */
MUST_USE struct err *import_file_memory(const void *data, size_t len, const char *name,
					struct import_file *ret);

/* ERR_CORRUPT: parts of the file vanished while it was read. */
MUST_USE struct err *import_file_check(const struct import_file *file);

void import_file_close(struct import_file *file);

#endif

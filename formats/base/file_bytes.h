/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_bytes.h - the bytes of a file that is read whole, up to a limit that the caller sets.
 *
 * Nothing is asked about the file's length beforehand: files of /proc have none, and others grow and shrink while they
 * are read. What is too large for memory, traces and ELF files, is read another way (trace_file.h, symbolize/elf/image.h).
 */
#ifndef BASE_FILE_BYTES_H
#define BASE_FILE_BYTES_H

#include "formats/base/compiler.h"
#include "formats/base/err.h"
#include "formats/base/writer.h"

#include <stddef.h>

/*
 * Append to @out what @fd still has. @limit is a multiple of 1 MiB; @name is for messages.
 * ERR_SYSTEM: it cannot be read.  ERR_UNSUPPORTED: there are more than @limit bytes. @out has a part of them then.
 */
MUST_USE struct err *file_bytes_take(int fd, const char *name, size_t limit, struct writer *out);

/* The same with the file at @path. */
MUST_USE struct err *file_bytes_read(const char *path, size_t limit, struct writer *out);

/* The same, but what is no regular file is refused, with ERR_UNSUPPORTED: for paths that a recording names, not the user. */
MUST_USE struct err *file_bytes_read_regular(const char *path, size_t limit, struct writer *out);

#endif

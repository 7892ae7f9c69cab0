/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_file.h - the bytes of a trace at any offset, from a file, from memory or from a pipe.
 *
 * Files are read and never mapped: they may shrink while they are open. A pipe is first copied to
 * an unlinked temporary file.
 */
#ifndef FORMATS_TRACE_FILE_H
#define FORMATS_TRACE_FILE_H

#include "formats/base/err.h"

#include <stddef.h>
#include <stdint.h>

struct trace_file {
	int fd;              /* -1: in memory */
	const uint8_t *data; /* in memory */
	uint64_t len;
};

/* "-" is standard input. ERR_SYSTEM: it cannot be read. */
MUST_USE struct err *trace_file_open(const char *path, struct trace_file *ret);

/* @data must outlive the file. */
struct trace_file trace_file_memory(const void *data, size_t len);

/* Read up to @len bytes at @offset; fewer only at the end. ERR_SYSTEM. */
MUST_USE struct err *trace_file_read(const struct trace_file *file, uint64_t offset, void *buffer,
				     size_t len, size_t *ret_len);

void trace_file_close(struct trace_file *file);

#endif

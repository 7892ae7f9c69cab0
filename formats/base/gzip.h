/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip.h - gzip members (RFC 1952), made whole in memory.
 */
#ifndef BASE_GZIP_H
#define BASE_GZIP_H

#include "formats/base/err.h"
#include "formats/base/writer.h"

#include <stddef.h>

/*
 * Append one member that holds @len bytes at @data to @out, without time or name, so that equal input gives equal
 * output. ERR_SYSTEM: out of memory.
 */
MUST_USE struct err *gzip_encode(const void *data, size_t len, struct writer *out);

#endif

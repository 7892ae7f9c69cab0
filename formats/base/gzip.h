/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip.h - gzip members (RFC 1952), made and unpacked whole in memory.
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

/*
 * Append what the members, or zlib streams (RFC 1950), at @data hold to @out, at most @max bytes. ERR_CORRUPT: damaged or cut, with the offset.
 * ERR_UNSUPPORTED: more than @max.
 */
MUST_USE struct err *gzip_decode(const void *data, size_t len, size_t max, struct writer *out);

#endif

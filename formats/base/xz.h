/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xz.h - xz streams, unpacked whole in memory, by liblzma.
 */
#ifndef BASE_XZ_H
#define BASE_XZ_H

#include "formats/base/err.h"
#include "formats/base/writer.h"

#include <stddef.h>

/*
 * Append what the stream at @data holds to @out, at most @max bytes and a few. ERR_CORRUPT: damaged or cut.
 * ERR_UNSUPPORTED: more than @max, or it needs more memory than a preset of -9 does.
 */
MUST_USE struct err *xz_decode(const void *data, size_t len, size_t max, struct writer *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip.c - zlib counts bytes in 32 bits, so what is longer is given to it in pieces.
 */
#include "formats/base/gzip.h"

#include "formats/base/vec.h"

#include <errno.h>
#include <zlib.h>

struct err *gzip_encode(const void *data, size_t len, struct writer *out)
{
	enum { GZIP_WINDOW = 15 + 16, PIECE = 1 << 30, ROOM = 1 << 16 };
	const uint8_t *rest = data;
	z_stream z = { 0 };
	int state;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return err_system(ENOMEM, "cannot compress");
	do {
		if (!z.avail_in) {
			z.next_in = (Bytef *)rest;
			z.avail_in = (uInt)MIN(len, (size_t)PIECE);
			rest += z.avail_in;
			len -= z.avail_in;
		}
		writer_reserve(out, ROOM);
		z.next_out = out->data + out->len;
		z.avail_out = ROOM;
		state = deflate(&z, len ? Z_NO_FLUSH : Z_FINISH);
		out->len += ROOM - z.avail_out;
	} while (state == Z_OK || state == Z_BUF_ERROR);
	deflateEnd(&z);
	return NULL;
}

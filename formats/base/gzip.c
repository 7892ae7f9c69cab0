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

/* One member at *@pos, which is moved behind it. */
static struct err *decode_member(const uint8_t *data, size_t len, size_t *pos, size_t max,
				 struct writer *out)
{
	enum { ANY_WINDOW = 15 + 32, PIECE = 1 << 30, ROOM = 1 << 16 };
	z_stream z = { 0 };
	struct err *err = NULL;
	int state = Z_OK;

	if (inflateInit2(&z, ANY_WINDOW) != Z_OK)
		return err_system(ENOMEM, "cannot unpack");
	while (state == Z_OK && !err) {
		uInt piece = (uInt)MIN(len - *pos, (size_t)PIECE);

		writer_reserve(out, ROOM);
		z.next_in = (Bytef *)data + *pos;
		z.avail_in = piece;
		z.next_out = out->data + out->len;
		z.avail_out = ROOM;
		state = inflate(&z, Z_NO_FLUSH);
		*pos += piece - z.avail_in;
		out->len += ROOM - z.avail_out;
		if (out->len > max)
			err = err_new(ERR_UNSUPPORTED, "it unpacks to more than %zu bytes", max);
		else if (state != Z_OK && state != Z_STREAM_END)
			err = err_new(ERR_CORRUPT, "its compression is %s at offset %zu",
				      *pos == len ? "cut" : "damaged", *pos);
	}
	inflateEnd(&z);
	return err;
}

struct err *gzip_decode(const void *data, size_t len, size_t max, struct writer *out)
{
	size_t pos = 0;
	struct err *err = NULL;

	do {
		err = decode_member(data, len, &pos, max, out);
	} while (!err && pos < len);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xz.c - the only user of liblzma.
 */
#include "formats/base/xz.h"

#include "formats/base/vec.h"

#include <errno.h>
#include <lzma.h>

#define MEMORY_MAX (128u << 20) /* of the decoder: a preset of -9 needs 65 MiB */
#define ROOM       (64u << 10)

static struct err *reason(lzma_ret status)
{
	if (status == LZMA_MEMLIMIT_ERROR)
		return err_new(ERR_UNSUPPORTED, "unpacking it takes more than %u MiB of memory",
			       MEMORY_MAX >> 20);
	return err_new(ERR_CORRUPT, "its compression is damaged or cut");
}

static struct err *decode(lzma_stream *stream, size_t max, struct writer *out)
{
	lzma_ret status = LZMA_OK;
	size_t begin = out->len;

	while (status == LZMA_OK && out->len - begin <= max) {
		writer_reserve(out, ROOM);
		stream->next_out = out->data + out->len;
		stream->avail_out = ROOM;
		status = lzma_code(stream, LZMA_FINISH);
		out->len += ROOM - stream->avail_out;
	}
	if (out->len - begin > max)
		return err_new(ERR_UNSUPPORTED, "it unpacks to more than %zu bytes", max);
	return status == LZMA_STREAM_END ? NULL : reason(status);
}

struct err *xz_decode(const void *data, size_t len, size_t max, struct writer *out)
{
	lzma_stream stream = LZMA_STREAM_INIT;

	if (lzma_stream_decoder(&stream, MEMORY_MAX, 0) != LZMA_OK)
		return err_system(ENOMEM, "cannot unpack");
	stream.next_in = data;
	stream.avail_in = len;
	struct err *err = decode(&stream, max, out);

	lzma_end(&stream);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zframe.c - the only user of libzstd.
 */
#include "formats/base/zframe.h"

#include "formats/base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

struct zframe_encoder {
	ZSTD_CCtx *context;
};

struct zframe_decoder {
	ZSTD_DCtx *context;
};

struct zframe_encoder *zframe_encoder_new(int level, int window_log)
{
	struct zframe_encoder *z = memory_zeroed(1, sizeof(*z));

	z->context = ZSTD_createCCtx();
	if (!z->context)
		memory_exhausted(sizeof(*z));
	ZSTD_CCtx_setParameter(z->context, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(z->context, ZSTD_c_checksumFlag, 1);
	if (window_log)
		ZSTD_CCtx_setParameter(z->context, ZSTD_c_windowLog, window_log);
	return z;
}

void zframe_encoder_free(struct zframe_encoder *z)
{
	if (z)
		ZSTD_freeCCtx(z->context);
	free(z);
}

struct err *zframe_encode(struct zframe_encoder *z, const void *data, size_t len,
			  struct writer *out)
{
	size_t bound = ZSTD_compressBound(len);

	writer_reserve(out, bound);
	size_t made = ZSTD_compress2(z->context, out->data + out->len, bound, data, len);

	if (ZSTD_isError(made))
		return err_system(ENOMEM, "cannot compress %zu bytes (%s)", len,
				  ZSTD_getErrorName(made));
	out->len += made;
	return NULL;
}

struct zframe_decoder *zframe_decoder_new(void)
{
	struct zframe_decoder *z = memory_zeroed(1, sizeof(*z));

	z->context = ZSTD_createDCtx();
	if (!z->context)
		memory_exhausted(sizeof(*z));
	return z;
}

void zframe_decoder_free(struct zframe_decoder *z)
{
	if (z)
		ZSTD_freeDCtx(z->context);
	free(z);
}

static struct err *decode(struct zframe_decoder *z, const void *data, size_t len, void *out,
			  size_t out_len)
{
	size_t made = ZSTD_decompressDCtx(z->context, out, out_len, data, len);

	if (ZSTD_isError(made))
		return err_new(ERR_CORRUPT, "bad zstd frame (%s)", ZSTD_getErrorName(made));
	if (made != out_len)
		return err_new(ERR_CORRUPT, "zstd frame holds %zu bytes where %zu were announced",
			       made, out_len);
	return NULL;
}

struct err *zframe_decode(struct zframe_decoder *z, const void *data, size_t len, void *out,
			  size_t out_len)
{
	size_t frame_len = ZSTD_findFrameCompressedSize(data, len);

	if (ZSTD_isError(frame_len))
		return err_new(ERR_CORRUPT, "bad zstd frame (%s)", ZSTD_getErrorName(frame_len));
	if (frame_len != len)
		return err_new(ERR_CORRUPT, "zstd frame takes %zu of %zu bytes", frame_len, len);
	return decode(z, data, len, out, out_len);
}

struct err *zframe_decode_all(struct zframe_decoder *z, const void *data, size_t len, void *out,
			      size_t out_len)
{
	return decode(z, data, len, out, out_len);
}

static struct err *unpack(ZSTD_DCtx *context, ZSTD_inBuffer in, size_t max, struct writer *out)
{
	size_t begin = out->len, left = 1, room = ZSTD_DStreamOutSize();

	while (in.pos < in.size || left) {
		size_t before = in.pos;

		writer_reserve(out, room);
		ZSTD_outBuffer to = { out->data + out->len, room, 0 };

		left = ZSTD_decompressStream(context, &to, &in);
		if (ZSTD_isError(left))
			return err_new(ERR_CORRUPT, "bad zstd frame (%s)", ZSTD_getErrorName(left));
		out->len += to.pos;
		if (out->len - begin > max)
			return err_new(ERR_UNSUPPORTED, "it unpacks to more than %zu bytes", max);
		if (left && !to.pos && in.pos == before)
			return err_new(ERR_CORRUPT, "its compression is cut");
	}
	return NULL;
}

struct err *zframe_unpack(const void *data, size_t len, size_t max, struct writer *out)
{
	struct zframe_decoder *z = zframe_decoder_new();
	struct err *err = unpack(z->context, (ZSTD_inBuffer){ data, len, 0 }, max, out);

	zframe_decoder_free(z);
	return err;
}

bool zframe_lens(const void *data, size_t len, size_t *ret_len, size_t *ret_content_len)
{
	size_t frame_len = ZSTD_findFrameCompressedSize(data, len);
	unsigned long long content_len = ZSTD_getFrameContentSize(data, len);

	if (ZSTD_isError(frame_len) || content_len == ZSTD_CONTENTSIZE_UNKNOWN ||
	    content_len == ZSTD_CONTENTSIZE_ERROR)
		return false;
	*ret_len = frame_len;
	*ret_content_len = content_len;
	return true;
}

struct zframe_stream {
	ZSTD_DCtx *context;
};

struct zframe_stream *zframe_stream_new(void)
{
	struct zframe_stream *z = memory_zeroed(1, sizeof(*z));

	z->context = ZSTD_createDCtx();
	if (!z->context)
		memory_exhausted(sizeof(*z));
	return z;
}

void zframe_stream_free(struct zframe_stream *z)
{
	if (z)
		ZSTD_freeDCtx(z->context);
	free(z);
}

struct err *zframe_stream_unpack(struct zframe_stream *z, const void *data, size_t len, void *out,
				 size_t out_len, size_t *ret_taken, size_t *ret_made)
{
	ZSTD_inBuffer from = { data, len, 0 };
	ZSTD_outBuffer to = { out, out_len, 0 };

	do {
		size_t left = ZSTD_decompressStream(z->context, &to, &from);

		if (ZSTD_isError(left))
			return err_new(ERR_CORRUPT, "bad zstd frame (%s)", ZSTD_getErrorName(left));
	} while (from.pos < from.size && to.pos < to.size);
	*ret_taken = from.pos;
	*ret_made = to.pos;
	return NULL;
}

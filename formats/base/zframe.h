/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zframe.h - zstd frames (RFC 8878): each whole in memory, with their content checksum; or one that comes in pieces.
 */
#ifndef BASE_ZFRAME_H
#define BASE_ZFRAME_H

#include "formats/base/err.h"
#include "formats/base/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Compression state that is reused from frame to frame. Not thread-safe; one per thread. */
struct zframe_encoder;
struct zframe_decoder;

/* @level as zstd counts them; @window_log 0 leaves it to the level. */
struct zframe_encoder *zframe_encoder_new(int level, int window_log);
void zframe_encoder_free(struct zframe_encoder *z);

/* Append one frame that holds @len bytes at @data to @out. ERR_SYSTEM: out of memory. */
MUST_USE struct err *zframe_encode(struct zframe_encoder *z, const void *data, size_t len,
				   struct writer *out);

struct zframe_decoder *zframe_decoder_new(void);
void zframe_decoder_free(struct zframe_decoder *z);

/*
 * Decode the one frame that @data begins with, and that must fill all of @len, into @out (capacity
 * @out_len), which it must fill exactly.
 *
 * ERR_CORRUPT: it is no frame, its checksum is wrong, or it holds another length.
 */
MUST_USE struct err *zframe_decode(struct zframe_decoder *z, const void *data, size_t len, void *out,
				   size_t out_len);

/* The same for any number of frames, one behind the other: together they must fill @out exactly. */
MUST_USE struct err *zframe_decode_all(struct zframe_decoder *z, const void *data, size_t len,
				       void *out, size_t out_len);

/*
 * Append what the frames at @data hold to @out, at most @max bytes and a few; they need not say how much it is.
 * ERR_CORRUPT: damaged or cut. ERR_UNSUPPORTED: more than @max.
 */
MUST_USE struct err *zframe_unpack(const void *data, size_t len, size_t max, struct writer *out);

/*
 * How long the frame is that @data begins with, packed and decompressed. False if it is none, does not fit
 * in @len, or does not say.
 */
bool zframe_lens(const void *data, size_t len, size_t *ret_len, size_t *ret_content_len);

/* A frame without an end that is fed as its pieces come, and unpacked as there is room. Not thread-safe. */
struct zframe_stream;

struct zframe_stream *zframe_stream_new(void);
void zframe_stream_free(struct zframe_stream *z);

/*
 * Unpack from @data, of @len bytes, to @out, of @out_len. *@ret_taken bytes were used up, and *@ret_made made. Nothing
 * more comes out of what was given when less was made than there is room for.
 *
 * ERR_CORRUPT: it is no frame.
 */
MUST_USE struct err *zframe_stream_unpack(struct zframe_stream *z, const void *data, size_t len,
					  void *out, size_t out_len, size_t *ret_taken,
					  size_t *ret_made);

#endif

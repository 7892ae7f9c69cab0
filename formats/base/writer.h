/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - a growing byte buffer with the encodings that reader.h reads. Always little-endian.
 *
 * A zeroed writer is empty and ready; writer_deinit() releases it.
 */
#ifndef BASE_WRITER_H
#define BASE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct writer {
	uint8_t *data;
	size_t len, cap;
};

/* Make room for @extra more bytes, so that writes up to that length do not allocate. */
void writer_reserve(struct writer *w, size_t extra);

void writer_u8(struct writer *w, uint8_t value);
void writer_u16(struct writer *w, uint16_t value);
void writer_u32(struct writer *w, uint32_t value);
void writer_u64(struct writer *w, uint64_t value);
void writer_uleb(struct writer *w, uint64_t value);
void writer_sleb(struct writer *w, int64_t value);
void writer_zigzag(struct writer *w, int64_t value);
void writer_bytes(struct writer *w, const void *data, size_t len);

/* The character U+@c, which is at most U+10FFFF, as UTF-8. */
void writer_utf8(struct writer *w, uint32_t c);

/* The UTF-16 in @len bytes as UTF-8; lone surrogates become U+FFFD. */
void writer_utf16(struct writer *w, const uint8_t *data, size_t len, bool big_endian);

/* The characters and a NUL. */
void writer_string(struct writer *w, const char *text);

/* Forget the content, keep the room. */
static inline void writer_reset(struct writer *w)
{
	w->len = 0;
}

void writer_deinit(struct writer *w);

#endif

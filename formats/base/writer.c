/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.c - appends to a buffer that doubles.
 */
#include "formats/base/writer.h"

#include "formats/base/memory.h"
#include "formats/base/zigzag.h"

#include <stdlib.h>
#include <string.h>

#define LEB_MAX 10 /* bytes of a 64-bit LEB128 */

void writer_reserve(struct writer *w, size_t extra)
{
	if (w->cap - w->len >= extra)
		return;
	w->cap = MAX(w->len + extra, MAX(w->cap * 2, 256));
	w->data = memory_resize(w->data, w->cap, 1);
}

static void fixed(struct writer *w, uint64_t value, size_t len)
{
	writer_reserve(w, len);
	for (size_t i = 0; i < len; i++)
		w->data[w->len++] = (uint8_t)(value >> (8 * i));
}

void writer_u8(struct writer *w, uint8_t value)
{
	fixed(w, value, 1);
}

void writer_u16(struct writer *w, uint16_t value)
{
	fixed(w, value, 2);
}

void writer_u32(struct writer *w, uint32_t value)
{
	fixed(w, value, 4);
}

void writer_u64(struct writer *w, uint64_t value)
{
	fixed(w, value, 8);
}

void writer_uleb(struct writer *w, uint64_t value)
{
	writer_reserve(w, LEB_MAX);
	while (value >= 0x80) {
		w->data[w->len++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	w->data[w->len++] = (uint8_t)value;
}

void writer_sleb(struct writer *w, int64_t value)
{
	writer_reserve(w, LEB_MAX);
	while (value < -64 || value > 63) {
		w->data[w->len++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	w->data[w->len++] = value & 0x7f;
}

void writer_zigzag(struct writer *w, int64_t value)
{
	writer_uleb(w, zigzag_encode((uint64_t)value));
}

void writer_bytes(struct writer *w, const void *data, size_t len)
{
	writer_reserve(w, len);
	if (len)
		memcpy(w->data + w->len, data, len);
	w->len += len;
}

void writer_utf8(struct writer *w, uint32_t c)
{
	if (c < 0x80) {
		writer_u8(w, (uint8_t)c);
		return;
	}
	if (c < 0x800) {
		writer_u8(w, (uint8_t)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			writer_u8(w, (uint8_t)(0xe0 | c >> 12));
		} else {
			writer_u8(w, (uint8_t)(0xf0 | c >> 18));
			writer_u8(w, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
		}
		writer_u8(w, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
	}
	writer_u8(w, (uint8_t)(0x80 | (c & 0x3f)));
}

void writer_utf16(struct writer *w, const uint8_t *data, size_t len, bool big_endian)
{
	for (size_t i = 0; i + 1 < len; i += 2) {
		uint32_t c = (uint32_t)data[i + !big_endian] << 8 | data[i + big_endian], low = 0;

		if (c >= 0xd800 && c < 0xdc00 && i + 3 < len)
			low = (uint32_t)data[i + 2 + !big_endian] << 8 | data[i + 2 + big_endian];
		if (low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			i += 2;
		} else if (c >= 0xd800 && c < 0xe000) {
			c = 0xfffd;
		}
		writer_utf8(w, c);
	}
}

void writer_string(struct writer *w, const char *text)
{
	writer_bytes(w, text, strlen(text) + 1);
}

void writer_deinit(struct writer *w)
{
	free(w->data);
	*w = (struct writer){ 0 };
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.c - every access goes through take(), which compares a length with what is left; but for single
 * bytes, which reader.h has in line, and numbers well inside the input.
 */
#include "formats/base/reader.h"

#include "formats/base/zigzag.h"

#include <inttypes.h>
#include <string.h>

void reader_init(struct reader *r, const void *data, size_t len, bool big_endian)
{
	static const uint8_t none[1];

	*r = (struct reader){ .pos = data ? data : none, .big_endian = big_endian };
	r->end = r->pos + (data ? len : 0);
}

static const uint8_t *take(struct reader *r, size_t len, const char *what)
{
	const uint8_t *p = r->pos;

	if (r->failed)
		return NULL;
	if (len > reader_left(r)) {
		r->failed = what;
		return NULL;
	}
	r->pos += len;
	r->offset += len;
	return p;
}

static uint64_t fixed(struct reader *r, size_t len, const char *what)
{
	const uint8_t *p = take(r, len, what);
	uint64_t value = 0;

	for (size_t i = 0; p && i < len; i++)
		value = value << 8 | p[r->big_endian ? i : len - 1 - i];
	return value;
}

uint16_t reader_u16(struct reader *r, const char *what)
{
	return (uint16_t)fixed(r, 2, what);
}

uint32_t reader_any_u32(struct reader *r, const char *what)
{
	return (uint32_t)fixed(r, 4, what);
}

uint64_t reader_u64(struct reader *r, const char *what)
{
	const uint8_t *p;
	uint64_t value;

	if (r->big_endian || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		return fixed(r, 8, what);
	p = take(r, 8, what);
	if (!p)
		return 0;
	memcpy(&value, p, 8);
	return value;
}

/*
 * A LEB128 of any length: bits past the 64th must be what extending the number would put there.
 */
static uint64_t leb(struct reader *r, const char *what, bool is_signed)
{
	uint64_t value = 0;
	unsigned bits = 0;

	for (;;) {
		const uint8_t *p = take(r, 1, what);

		if (!p)
			return 0;
		uint64_t part = *p & 0x7f;
		uint64_t sign = is_signed && (bits == 63 ? part & 1 : value >> 63) ? 0x7f : 0;

		if (bits < 64)
			value |= part << bits;
		if (bits == 63 ? part >> 1 != sign >> 1 : bits > 63 && part != sign)
			reader_fail(r, what);
		bits = MIN(bits + 7, 70);
		if (*p & 0x80)
			continue;
		if (is_signed && (part & 0x40) && bits < 64)
			value |= ~0ULL << bits;
		return r->failed ? 0 : value;
	}
}

#define LEB_PLAIN 9 /* bytes that fit 64 bits whatever they hold */

uint64_t reader_long_uleb(struct reader *r, const char *what)
{
	const uint8_t *p = r->pos;
	uint64_t value = 0;

	if (reader_left(r) < LEB_PLAIN)
		return leb(r, what, /* is_signed= */ false);
	for (unsigned i = 0; i < LEB_PLAIN; i++) {
		value |= (uint64_t)(p[i] & 0x7f) << 7 * i;
		if (!(p[i] & 0x80)) {
			r->pos += i + 1;
			r->offset += i + 1;
			return value;
		}
	}
	return leb(r, what, /* is_signed= */ false);
}

int64_t reader_sleb(struct reader *r, const char *what)
{
	return (int64_t)leb(r, what, /* is_signed= */ true);
}

uint32_t reader_uleb_u32(struct reader *r, const char *what)
{
	uint64_t value = reader_uleb(r, what);

	if (value > UINT32_MAX)
		reader_fail(r, what);
	return (uint32_t)value;
}

int64_t reader_zigzag(struct reader *r, const char *what)
{
	return (int64_t)zigzag_decode(reader_uleb(r, what));
}

const void *reader_bytes(struct reader *r, size_t len, const char *what)
{
	return take(r, len, what);
}

const char *reader_string(struct reader *r, const char *what)
{
	const uint8_t *nul = reader_left(r) ? memchr(r->pos, 0, reader_left(r)) : NULL;

	if (!nul) {
		reader_fail(r, what);
		return NULL;
	}
	return (const char *)take(r, (size_t)(nul - r->pos) + 1, what);
}

void reader_skip(struct reader *r, size_t len, const char *what)
{
	take(r, len, what);
}

struct reader reader_slice(struct reader *r, size_t len, const char *what)
{
	struct reader slice = *r;
	const uint8_t *p = take(r, len, what);

	slice.failed = r->failed;
	slice.end = p ? p + len : slice.pos;
	return slice;
}

struct err *reader_check(const struct reader *r)
{
	if (!r->failed)
		return NULL;
	return err_new(ERR_CORRUPT, "%s does not fit at offset %" PRIu64, r->failed, r->offset);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - bounded reading of untrusted bytes.
 *
 * Failure is sticky: after the first field that does not fit, every read yields zero and consumes
 * nothing, so a parser reads straight through and asks reader_check() once. One read per statement.
 */
#ifndef BASE_READER_H
#define BASE_READER_H

#include "formats/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct reader {
	const uint8_t *pos, *end;
	uint64_t offset;    /* of @pos in the file, in bytes */
	bool big_endian;
	const char *failed; /* first field that did not fit, NULL while all is well */
};

/* Read @len bytes at @data, which must outlive the reader; offsets count from 0. */
void reader_init(struct reader *r, const void *data, size_t len, bool big_endian);

/* Bytes left, 0 after a failure. */
static inline size_t reader_left(const struct reader *r)
{
	return r->failed ? 0 : (size_t)(r->end - r->pos);
}

/* Make the reader fail by hand: a value was read that cannot be. */
static inline void reader_fail(struct reader *r, const char *what)
{
	if (!r->failed)
		r->failed = what;
}

static inline uint8_t reader_u8(struct reader *r, const char *what)
{
	if (r->failed || r->pos == r->end) {
		reader_fail(r, what);
		return 0;
	}
	r->offset++;
	return *r->pos++;
}

uint16_t reader_u16(struct reader *r, const char *what);
uint32_t reader_any_u32(struct reader *r, const char *what);
uint64_t reader_u64(struct reader *r, const char *what);

static inline uint32_t reader_u32(struct reader *r, const char *what)
{
	uint32_t value;

	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || r->big_endian || r->failed || r->end - r->pos < 4)
		return reader_any_u32(r, what);
	memcpy(&value, r->pos, sizeof(value));
	r->pos += sizeof(value);
	r->offset += sizeof(value);
	return value;
}

/* LEB128; more than 64 bits is a failure. Encodings longer than needed are fine (DWARF 5, 7.6). */
uint64_t reader_long_uleb(struct reader *r, const char *what);

static inline uint64_t reader_uleb(struct reader *r, const char *what)
{
	const uint8_t *p = r->pos;

	if (r->failed || p == r->end || *p & 0x80)
		return reader_long_uleb(r, what);
	r->pos++; /* one byte: by far the commonest */
	r->offset++;
	return *p;
}

int64_t reader_sleb(struct reader *r, const char *what);

/* A number beyond 32 bits is a failure. */
uint32_t reader_uleb_u32(struct reader *r, const char *what);

/* Zig-zag: 0, -1, 1, -2, 2 … as 0, 1, 2, 3, 4 … in LEB128. */
int64_t reader_zigzag(struct reader *r, const char *what);

/* @len bytes in place, or NULL (also for a @len of 0 after a failure). */
const void *reader_bytes(struct reader *r, size_t len, const char *what);

/* A NUL-terminated string in place, or NULL; the NUL is consumed. */
const char *reader_string(struct reader *r, const char *what);

void reader_skip(struct reader *r, size_t len, const char *what);

/* A reader over the next @len bytes, which @r skips. It inherits the failure if they do not fit. */
struct reader reader_slice(struct reader *r, size_t len, const char *what);

/*
 * Four bytes that are known to be there, the lowest first: for who passes over more of them than a reader can be made for. Compilers
 * make one load of it.
 */
static inline uint32_t four_bytes(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* NULL, or an ERR_CORRUPT that names the field that did not fit and its offset. */
MUST_USE struct err *reader_check(const struct reader *r);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/reader.h"
#include "formats/base/writer.h"

#include <string.h>

static struct reader reader_of(const void *data, size_t len)
{
	struct reader r;

	reader_init(&r, guarded(data, len), len, /* big_endian= */ false);
	return r;
}

TEST(reader_reads_both_byte_orders)
{
	static const uint8_t data[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct reader r = reader_of(data, sizeof(data));

	CHECK_UINT(reader_u8(&r, "a"), 1);
	CHECK_UINT(reader_u16(&r, "b"), 0x0302);
	CHECK_UINT(reader_u32(&r, "c"), 0x07060504);
	CHECK_UINT(reader_u64(&r, "d"), 0x0f0e0d0c0b0a0908);
	CHECK_UINT(reader_left(&r), 0);
	CHECK_OK(reader_check(&r));

	reader_init(&r, guarded(data, sizeof(data)), sizeof(data), /* big_endian= */ true);
	CHECK_UINT(reader_u8(&r, "a"), 1);
	CHECK_UINT(reader_u16(&r, "b"), 0x0203);
	CHECK_UINT(reader_u32(&r, "c"), 0x04050607);
	CHECK_UINT(reader_u64(&r, "d"), 0x08090a0b0c0d0e0f);
	CHECK_OK(reader_check(&r));
}

/* Every kind of field once. */
static struct err *read_record(struct reader *r, uint64_t *ret_sum)
{
	uint64_t sum = reader_u8(r, "u8");

	sum += reader_u16(r, "u16");
	sum += reader_u32(r, "u32");
	sum += reader_u64(r, "u64");
	sum += reader_uleb(r, "uleb");
	sum += (uint64_t)reader_sleb(r, "sleb");
	sum += (uint64_t)reader_zigzag(r, "zigzag");

	const char *text = reader_string(r, "string");

	sum += text ? strlen(text) : 0;
	struct reader slice = reader_slice(r, 4, "slice");

	sum += reader_u32(&slice, "inside");

	const uint8_t *bytes = reader_bytes(r, 2, "bytes");

	sum += bytes ? bytes[1] : 0;
	reader_skip(r, 3, "skip");
	*ret_sum = sum;
	return reader_check(r);
}

TEST(reader_rejects_every_truncation_and_stays_at_the_first_failure)
{
	CLEANUP(writer_deinit) struct writer w = { 0 };
	uint64_t sum = 0;

	writer_u8(&w, 1);
	writer_u16(&w, 10);
	writer_u32(&w, 100);
	writer_u64(&w, 1000);
	writer_uleb(&w, 300);
	writer_sleb(&w, -300);
	writer_zigzag(&w, -70000);
	writer_string(&w, "four");
	writer_u32(&w, 5);
	writer_bytes(&w, "\0\7...", 5);

	struct reader whole = reader_of(w.data, w.len);

	CHECK_OK(read_record(&whole, &sum));
	CHECK_UINT(sum, (uint64_t)(1 + 10 + 100 + 1000 - 70000 + 4 + 5 + 7));
	for (size_t len = 0; len < w.len; len++) {
		struct reader r = reader_of(w.data, len);

		CHECK_ERR(read_record(&r, &sum), ERR_CORRUPT, "does not fit at offset");
		CHECK_UINT(reader_left(&r), 0);
		CHECK_UINT(reader_u8(&r, "later"), 0);
		CHECK(strcmp(r.failed, "later") != 0);
		CHECK(!reader_bytes(&r, 0, "later"));
		CHECK(!reader_string(&r, "later"));
	}
}

TEST(reader_names_the_field_and_its_offset)
{
	struct reader r = reader_of("abcdef", 6);

	reader_skip(&r, 3, "head");
	reader_u32(&r, "frame count");
	CHECK_ERR(reader_check(&r), ERR_CORRUPT, "frame count does not fit at offset 3");
}

static uint64_t uleb_of(const char *bytes, size_t len, bool *ret_ok)
{
	struct reader r = reader_of(bytes, len);
	uint64_t value = reader_uleb(&r, "uleb");

	*ret_ok = !r.failed;
	return value;
}

static int64_t sleb_of(const char *bytes, size_t len, bool *ret_ok)
{
	struct reader r = reader_of(bytes, len);
	int64_t value = reader_sleb(&r, "sleb");

	*ret_ok = !r.failed;
	return value;
}

#define ULEB(bytes) uleb_of(bytes, sizeof(bytes) - 1, &ok)
#define SLEB(bytes) sleb_of(bytes, sizeof(bytes) - 1, &ok)

TEST(reader_takes_leb128_of_any_length_but_not_past_64_bits)
{
	bool ok;

	CHECK_UINT(ULEB("\x7f"), 127);
	CHECK_UINT(ULEB("\xe5\x8e\x26"), 624485);
	CHECK_UINT(ULEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), UINT64_MAX);
	CHECK(ok);
	CHECK_UINT(ULEB("\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"), 1);
	CHECK(ok);
	CHECK_UINT(ULEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), 0);
	CHECK(!ok);
	CHECK_UINT(ULEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), 0);
	CHECK(!ok);
	CHECK_UINT(ULEB("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), 0);
	CHECK(!ok);
	CHECK_UINT(ULEB("\x80"), 0);
	CHECK(!ok);

	CHECK_INT(SLEB("\x7f"), -1);
	CHECK_INT(SLEB("\x3f"), 63);
	CHECK_INT(SLEB("\x40"), -64);
	CHECK_INT(SLEB("\xc0\xbb\x78"), -123456);
	CHECK_INT(SLEB("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f"), INT64_MIN);
	CHECK(ok);
	CHECK_INT(SLEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00"), INT64_MAX);
	CHECK(ok);
	CHECK_INT(SLEB("\xfe\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), -2);
	CHECK(ok);
	CHECK_INT(SLEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 0);
	CHECK(!ok);
	CHECK_INT(SLEB("\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), -1);
	CHECK(ok);
	CHECK_INT(SLEB("\x80\x80\x80\x80\x80\x80\x80\x80\x80\xff\x00"), 0);
	CHECK(!ok);
}

TEST(reader_reads_back_every_leb128_that_writer_writes)
{
	for (unsigned shift = 0; shift < 64; shift++) {
		for (int delta = -1; delta <= 1; delta++) {
			CLEANUP(writer_deinit) struct writer w = { 0 };
			uint64_t value = (1ULL << shift) + (uint64_t)delta;

			writer_uleb(&w, value);
			writer_sleb(&w, (int64_t)value);
			writer_zigzag(&w, (int64_t)value);
			writer_sleb(&w, -(int64_t)(value & INT64_MAX));
			struct reader r = reader_of(w.data, w.len);

			CHECK_UINT(reader_uleb(&r, "uleb"), value);
			CHECK_INT(reader_sleb(&r, "sleb"), (int64_t)value);
			CHECK_INT(reader_zigzag(&r, "zigzag"), (int64_t)value);
			CHECK_INT(reader_sleb(&r, "negative"), -(int64_t)(value & INT64_MAX));
			CHECK_UINT(reader_left(&r), 0);
			CHECK_OK(reader_check(&r));
		}
	}
}

TEST(reader_slice_cannot_read_its_neighbour)
{
	struct reader r = reader_of("abcdef", 6);

	reader_skip(&r, 1, "head");
	struct reader slice = reader_slice(&r, 2, "record");

	CHECK_UINT(slice.offset, 1);
	CHECK_UINT(r.offset, 3);
	CHECK_UINT(reader_u8(&slice, "first"), 'b');
	CHECK_UINT(reader_u16(&slice, "second"), 0);
	CHECK_ERR(reader_check(&slice), ERR_CORRUPT, "second");
	CHECK_UINT(reader_u8(&r, "next"), 'd'); /* the outer reader goes on */

	slice = reader_slice(&r, 3, "too long");
	CHECK_UINT(reader_left(&slice), 0);
	CHECK_ERR(reader_check(&slice), ERR_CORRUPT, "too long");
	CHECK_ERR(reader_check(&r), ERR_CORRUPT, "too long");
}

TEST(reader_finds_the_end_of_strings)
{
	struct reader r = reader_of("one\0\0open", 9);

	CHECK_STR(reader_string(&r, "first"), "one");
	CHECK_STR(reader_string(&r, "second"), "");
	CHECK(!reader_string(&r, "third"));
	CHECK_ERR(reader_check(&r), ERR_CORRUPT, "third");
}

TEST(reader_of_nothing_fails_softly)
{
	struct reader r;

	reader_init(&r, NULL, 0, false);
	CHECK_OK(reader_check(&r));
	CHECK(reader_bytes(&r, 0, "nothing"));
	CHECK_UINT(reader_uleb(&r, "number"), 0);
	CHECK_ERR(reader_check(&r), ERR_CORRUPT, "number");
}

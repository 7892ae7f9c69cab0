/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/writer.h"

TEST(writer_is_little_endian)
{
	CLEANUP(writer_deinit) struct writer w = { 0 };
	static const uint8_t expected[] = { 1, 3, 2, 7, 6, 5, 4, 15, 14, 13, 12, 11, 10, 9, 8 };

	writer_u8(&w, 1);
	writer_u16(&w, 0x0203);
	writer_u32(&w, 0x04050607);
	writer_u64(&w, 0x08090a0b0c0d0e0f);
	CHECK_UINT(w.len, sizeof(expected));
	CHECK_MEM(w.data, expected, sizeof(expected));
}

TEST(writer_makes_the_shortest_leb128)
{
	CLEANUP(writer_deinit) struct writer w = { 0 };
	static const uint8_t expected[] = { 0x7f, 0x80, 0x01, 0x3f, 0xc0, 0x00,
					    0x40, 0xbf, 0x7f, 0x01, 0x02 };

	writer_uleb(&w, 127);
	writer_uleb(&w, 128);
	writer_sleb(&w, 63);
	writer_sleb(&w, 64);
	writer_sleb(&w, -64);
	writer_sleb(&w, -65);
	writer_zigzag(&w, -1);
	writer_zigzag(&w, 1);
	CHECK_UINT(w.len, sizeof(expected));
	CHECK_MEM(w.data, expected, sizeof(expected));
}

TEST(writer_grows_and_forgets_without_giving_room_back)
{
	CLEANUP(writer_deinit) struct writer w = { 0 };

	for (unsigned i = 0; i < 100000; i++)
		writer_u8(&w, (uint8_t)i);
	CHECK_UINT(w.len, 100000);
	CHECK_UINT(w.data[99999], 99999 & 0xff);

	const uint8_t *data = w.data;
	size_t cap = w.cap;

	writer_reset(&w);
	writer_reserve(&w, cap);
	writer_bytes(&w, "", 0);
	writer_string(&w, "ab");
	CHECK(w.data == data && w.cap == cap);
	CHECK_UINT(w.len, 3);
	CHECK_MEM(w.data, "ab", 3);
}

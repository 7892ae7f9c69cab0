/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/reader.h"

TEST(reader_stops_at_the_end)
{
	struct reader r;

	reader_init(&r, guarded("ab", 2), 2, /* big_endian= */ false);
	CHECK_UINT(reader_u16(&r, "field"), 0x6261);
	CHECK_UINT(reader_u8(&r, "other"), 0);
	CHECK_ERR(reader_check(&r), ERR_CORRUPT, "other");
}

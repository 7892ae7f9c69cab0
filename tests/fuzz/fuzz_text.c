/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_text.c - names from hostile places: what comes out is harmless, and harmless text stays as it is.
 */
#include "tests/fuzz/fuzz.h"

#include "formats/base/text.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *text = arena_memdup(&arena, data, len);
	const char *escaped = text_escape(&arena, text);

	CHECK(text_escape(&arena, escaped) == escaped);
	CHECK(strlen(escaped) >= strlen(text) && strlen(escaped) <= 4 * strlen(text));
	CHECK(text_width(escaped) <= strlen(escaped));
	for (const char *p = escaped; *p; p += text_char_len(p)) {
		CHECK((uint8_t)*p >= 0x20 && *p != 0x7f);
		CHECK(text_char_len(p) > 0); /* valid UTF-8 throughout */
	}
	CHECK(text_distance(text, text) == 0);
	CHECK(text_distance(text, escaped) == text_distance(escaped, text));
	return 0;
}

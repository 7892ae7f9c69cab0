/* SPDX-License-Identifier: Apache-2.0 */
/* test_sha256.c - the examples of FIPS 180-4, whole and in pieces. */
#include "formats/base/sha256.h"
#include "tests/unit/test.h"

#include <string.h>

static void check(const char *text, size_t times, size_t piece, const char *expected)
{
	uint8_t digest[SHA256_LEN];
	char hex[2 * SHA256_LEN + 1];
	size_t len = strlen(text);
	struct sha256 hash;

	sha256_init(&hash);
	for (size_t i = 0; i < times; i++) {
		for (size_t at = 0; at < len; at += piece)
			sha256_add(&hash, text + at, len - at < piece ? len - at : piece);
	}
	sha256_finish(&hash, digest);
	for (size_t i = 0; i < SHA256_LEN; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	CHECK_STR(hex, expected);
}

TEST(sha256_knows_the_standards_examples)
{
	static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

	for (size_t piece = 1; piece < 70; piece += 9) {
		check("", 1, piece, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
		check("abc", 1, piece, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
		check(two_blocks, 1, piece,
		      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	}
	check("a", 1000000, 1, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

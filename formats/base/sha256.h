/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.h - SHA-256 (FIPS 180-4), for content security policies that name the scripts a page may run.
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_LEN 32

struct sha256 {
	uint32_t state[8];
	uint64_t len;
	uint8_t block[64]; /* of which len % 64 bytes are waiting */
};

void sha256_init(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t len);
void sha256_finish(struct sha256 *hash, uint8_t ret[SHA256_LEN]);

#endif

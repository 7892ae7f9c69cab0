/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.c - the constants are the first bits of the fractions of the roots of the first primes (FIPS 180-4, 4.2.2
 * and 5.3.3).
 */
#include "formats/base/sha256.h"

#include <string.h>

static const uint32_t round_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t value, unsigned bits)
{
	return value >> bits | value << (32 - bits);
}

static void schedule(const uint8_t *block, uint32_t w[64])
{
	for (int i = 0; i < 16; i++, block += 4)
		w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 |
		       (uint32_t)block[2] << 8 | block[3];
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];
		uint32_t low = rotate(a, 7) ^ rotate(a, 18) ^ a >> 3;
		uint32_t high = rotate(b, 17) ^ rotate(b, 19) ^ b >> 10;

		w[i] = w[i - 16] + low + w[i - 7] + high;
	}
}

static void mix(uint32_t state[8], const uint8_t *block)
{
	uint32_t w[64], s[8];

	schedule(block, w);
	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t e = s[4], a = s[0];
		uint32_t choose = (e & s[5]) ^ (~e & s[6]);
		uint32_t most = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]);
		uint32_t t1 = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choose +
			      round_constants[i] + w[i];
		uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + most;

		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		state[i] += s[i];
}

void sha256_init(struct sha256 *hash)
{
	static const uint32_t first[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

	*hash = (struct sha256){ 0 };
	memcpy(hash->state, first, sizeof(first));
}

void sha256_add(struct sha256 *hash, const void *data, size_t len)
{
	const uint8_t *from = data;

	while (len) {
		size_t used = hash->len % 64, room = 64 - used;
		size_t take = len < room ? len : room;

		memcpy(hash->block + used, from, take);
		hash->len += take;
		from += take;
		len -= take;
		if (hash->len % 64 == 0)
			mix(hash->state, hash->block);
	}
}

void sha256_finish(struct sha256 *hash, uint8_t ret[SHA256_LEN])
{
	static const uint8_t padding[64] = { 0x80 };
	uint64_t bits = hash->len * 8;
	size_t used = hash->len % 64;
	uint8_t length[8];

	for (int i = 0; i < 8; i++)
		length[i] = (uint8_t)(bits >> (56 - 8 * i));
	sha256_add(hash, padding, used < 56 ? 56 - used : 120 - used);
	sha256_add(hash, length, sizeof(length));
	for (int i = 0; i < SHA256_LEN; i++)
		ret[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

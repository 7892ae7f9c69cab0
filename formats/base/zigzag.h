/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zigzag.h - signed differences as unsigned numbers that are small when the difference is: 0, -1, 1, -2 become 0, 1, 2, 3.
 */
#ifndef BASE_ZIGZAG_H
#define BASE_ZIGZAG_H

#include <stdint.h>

static inline uint64_t zigzag_encode(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t zigzag_decode(uint64_t code)
{
	return code >> 1 ^ -(code & 1);
}

#endif

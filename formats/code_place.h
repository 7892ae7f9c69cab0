/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_place.h - an address, and in its highest bits how often other code had taken the place of what was there: memory that
 * just-in-time compilers use again has several places at one address.
 *
 * Addresses of user space end below these bits, and those of the kernel have them all, so an address is its own first place.
 */
#ifndef FORMATS_CODE_PLACE_H
#define FORMATS_CODE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#define CODE_PLACE_SHIFT  57
#define CODE_PLACE_LEVELS 120
/* Of what was not known at its time, or is not known any more: other code has taken its place too often. */
#define CODE_PLACE_UNKNOWN (CODE_PLACE_LEVELS - 1U)

static inline uint64_t code_place_address(uint64_t place)
{
	return place >> CODE_PLACE_SHIFT < CODE_PLACE_LEVELS ? place & ((1ULL << CODE_PLACE_SHIFT) - 1) : place;
}

/* Other code was read at its address than was there. */
static inline bool code_place_is_unknown(uint64_t place)
{
	return place >> CODE_PLACE_SHIFT == CODE_PLACE_UNKNOWN;
}

#endif

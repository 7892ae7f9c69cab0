/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_levels.h - memory in which a just-in-time compiler has put one piece of code after the other.
 *
 *	level 2            |-- c --|         from 9 s on
 *	level 1       |--- b ---|            from 5 s on
 *	level 0  |----- a -----|  |-- d --|
 *	         address ─►
 *
 * What is laid over earlier code is one level above it. So at an address each level has one piece at most, and the higher one is the
 * later one. The first piece of an address holds from the beginning on, for it was there before it was described.
 */
#ifndef SYMBOLIZE_JIT_LEVELS_H
#define SYMBOLIZE_JIT_LEVELS_H

#include "formats/code_place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of code [start, end), in the order in which they were described. */
struct jit_level_piece {
	uint64_t start, end;
	uint32_t level; /* to be filled in */
	bool again;	/* the same code as the last piece that begins there */
};

/* An address that was described when there were @npieces pieces. */
struct jit_level_address {
	uint64_t ip;
	size_t npieces;
	uint32_t level; /* to be filled in: of the piece that is there then; 0 if none is */
};

/* Fill in the levels of @pieces, and of @addresses, whose @npieces ascend. n log n. */
void jit_levels_find(struct jit_level_piece *pieces, size_t npieces, struct jit_level_address *addresses, size_t naddresses);

#endif

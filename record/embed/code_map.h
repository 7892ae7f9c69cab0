/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_map.h - which file's code is mapped where in one process, with what was mapped there before.
 *
 * Rings are drained one after another, so an address may be told after the mapping it lies in is gone. Replaced
 * mappings are therefore remembered for a while, and an address belongs to all that it may mean.
 */
#ifndef RECORD_CODE_MAP_H
#define RECORD_CODE_MAP_H

#include "formats/base/vec.h"
#include "record/embed/code_file.h"

#include <stdbool.h>
#include <stdint.h>

/* How many replaced mappings a process remembers. */
#define CODE_MAP_PAST 64

struct code_range {
	uint64_t start, end;
	uint64_t file_offset;   /* of @start */
	struct code_file *file; /* NULL: anonymous memory */
};

/* A zeroed one is empty and ready. */
struct code_map {
	VEC(struct code_range) now;  /* ascending, apart */
	VEC(struct code_range) past; /* at most CODE_MAP_PAST, used as a ring */
	size_t past_pos;
};

/* Put @range over what is there. False if nothing changes. */
bool code_map_insert(struct code_map *map, const struct code_range *range);

/* A new program begins: everything becomes past. */
void code_map_exec(struct code_map *map);

/* Begin as a copy of @parent, which is another. */
void code_map_fork(struct code_map *map, const struct code_map *parent);

/* The ranges that hold @ip, at most @max; how many. */
size_t code_map_find(const struct code_map *map, uint64_t ip, const struct code_range **ret,
		     size_t max);

void code_map_deinit(struct code_map *map);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_source.h - where an access found its data, as words: union perf_mem_data_src of linux/perf_event.h.
 *
 * Processors tell parts of it; what they do not tell is not in the texts, which live in the arena and may be "".
 */
#ifndef REPORT_MEMORY_SOURCE_H
#define REPORT_MEMORY_SOURCE_H

#include "formats/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Does it tell anything at all? */
bool memory_source_known(uint64_t source);

/* "load, L1 hit", "store, L3 miss", "load, remote RAM, 2 hops" */
const char *memory_source_level(struct arena *arena, uint64_t source);

/* "hit L1 L2", "miss, walk" */
const char *memory_source_tlb(struct arena *arena, uint64_t source);

/* "snoop hitm, locked": who else had the line, and what held the access up */
const char *memory_source_rest(struct arena *arena, uint64_t source);

#endif

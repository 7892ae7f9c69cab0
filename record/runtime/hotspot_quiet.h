/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_quiet.h - since when a range of HotSpot's code memory has been in use without a break and no class was unloaded.
 *
 *	sample        look        read
 *	──┼────────────┼───────────┼──►	 what is read was there at the sample if nothing was freed in between
 *	   since ─►
 *
 * Code that a thread executes or returns to is in use. If its memory was not free at any look until it is read, the code is still the same.
 * A look reads each code heap's free list and end of used memory, the number of unloaded classes and, if looks are far apart, of
 * compilations, since a block could have been freed and reused in between.
 */
#ifndef RUNTIME_HOTSPOT_QUIET_H
#define RUNTIME_HOTSPOT_QUIET_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "record/runtime/hotspot_layout.h"

#define HOTSPOT_HEAPS_MAX 8
#define HOTSPOT_HEAP_WORDS 5 /* of a CodeHeap: its end in use, its list of free blocks */

/* Memory that was free, the last time at @seen_ns. */
struct hotspot_free_block {
	uint64_t start, end, seen_ns;
};

struct hotspot_quiet_heap {
	uint64_t addr;
	unsigned log2_segment;
	VEC(struct hotspot_free_block) blocks;
	uint64_t words[HOTSPOT_HEAP_WORDS];
	uint64_t since_ns; /* its free blocks are known; 1: as long as it is there */
};

/* Zeroed, but for the layout, nothing is known. Times are CLOCK_MONOTONIC's. */
struct hotspot_quiet {
	const struct hotspot_layout *layout;
	struct hotspot_quiet_heap heaps[HOTSPOT_HEAPS_MAX];
	size_t nheaps;
	uint64_t unloaded_at, compiled_at; /* addresses of counters, 0: not found */
	uint64_t collections_at; /* what is counted where unloaded classes are not: collections of garbage */
	unsigned searches;
	uint64_t unloaded, compiled;
	uint64_t classes_since_ns;
	bool collected; /* without that counter, since hotspot_quiet_loaders() */
	bool unloads; /* classes may have been unloaded since hotspot_quiet_loaders() */
	struct map loaders; /* addresses of class loaders that there were then */
	uint64_t looked_ns; /* just before the last look; 0: there was none */
};

/* Heap @number is this one; what was known of another one is forgotten. */
void hotspot_quiet_set_heap(struct hotspot_quiet *q, size_t number, uint64_t addr, unsigned log2_segment);

/* Look, past the pages that @view holds. True if something may have been freed since the last look. */
bool hotspot_quiet_look(struct hotspot_quiet *q, struct managed_view *view);

/*
 * Read the list of class loaders: classes of others are gone even if their memory looks unchanged. The list is empty if it cannot be read;
 * false if its place is unknown. Without a counter, this detects unloading.
 */
bool hotspot_quiet_loaders(struct hotspot_quiet *q, struct managed_view *view);

void hotspot_quiet_deinit(struct hotspot_quiet *q);

/* Since when all of [@start, @end) of heap @number is in use, and no class was unloaded. */
uint64_t hotspot_quiet_since(const struct hotspot_quiet *q, size_t number, uint64_t start, uint64_t end);

#endif

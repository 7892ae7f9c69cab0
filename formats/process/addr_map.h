/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addr_map.h - what lies where in one address space: ranges, ascending and apart.
 *
 * A newer range replaces what it overlaps, of which the rest stays. After a fork both processes share one map until one of
 * them changes it. What a range holds is its owner's: items begin with a struct addr_range, and their type says how to
 * compare and count them. A filter of 2 MiB regions in front answers most look-ups of what is nowhere. Not thread-safe, but
 * several threads may ask while nothing changes.
 */
#ifndef FORMATS_ADDR_MAP_H
#define FORMATS_ADDR_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What each item begins with. */
struct addr_range {
	uint64_t start, end; /* [start, end) */
	uint64_t offset;     /* of @start in what is mapped; goes along when a range is cut */
};

#define ADDR_MAP_ITEM_MAX 64 /* bytes */

struct addr_map_type {
	size_t item_len;
	/* Do both show the same thing, wherever it begins? */
	bool (*same)(const void *a, const void *b);
	/* Is its offset of no meaning, so that neighbours grow together? May be NULL: never. */
	bool (*merges)(const void *item);
	/* One reference more, one less, to what @item shows. May be NULL, both. */
	void (*keep)(const void *item);
	void (*drop)(const void *item);
};

/* Where maps come from, with the limits that they share. */
struct addr_map_pool {
	const struct addr_map_type *type;
	size_t max_each, max_all; /* ranges of one map, of all */
	size_t nranges;           /* of all maps now; those that are shared count once */
};

#define ADDR_MAP_REGION_SHIFT 21 /* regions of 2 MiB, hashed into a filter that sits in a few cache lines */
#define ADDR_MAP_FILTER_BITS  4096

struct addr_map {
	struct addr_map_pool *pool;
	uint32_t nrefs;
	size_t len, cap;
	unsigned char *items;
	uint64_t low, high; /* all of it lies in [low, high) */
	uint64_t filter[ADDR_MAP_FILTER_BITS / 64];
};

/* An empty map with one user. @pool must outlive it. */
struct addr_map *addr_map_new(struct addr_map_pool *pool);
struct addr_map *addr_map_ref(struct addr_map *map);
void addr_map_unref(struct addr_map *map); /* NULL is fine */

enum addr_map_change {
	ADDR_MAP_SAME,    /* it was there already, or is empty; nothing lay where it was to be removed */
	ADDR_MAP_CHANGED,
	ADDR_MAP_FULL,    /* a limit of the pool is reached: nothing was done */
};

/* Put @item over what is there. *@map is replaced by a copy first if others share it. */
enum addr_map_change addr_map_insert(struct addr_map **map, const void *item);

/* Take [@start, @end) out. */
enum addr_map_change addr_map_remove(struct addr_map **map, uint64_t start, uint64_t end);

/* The index of the first item that ends behind @addr; map->len if there is none. */
size_t addr_map_search(const struct addr_map *map, uint64_t addr);

static inline void *addr_map_item(const struct addr_map *map, size_t index)
{
	return map->items + index * map->pool->type->item_len;
}

/* May a range hold @addr? One look at the filter. */
static inline bool addr_map_may_have(const struct addr_map *map, uint64_t addr)
{
	uint64_t bit = addr >> ADDR_MAP_REGION_SHIFT & (ADDR_MAP_FILTER_BITS - 1);

	return map->filter[bit / 64] >> (bit % 64) & 1;
}

/* The item that holds @addr, NULL if none does; valid until the map's next change. */
static inline void *addr_map_find(const struct addr_map *map, uint64_t addr)
{
	if (!addr_map_may_have(map, addr))
		return NULL;
	size_t i = addr_map_search(map, addr);
	struct addr_range *range = i < map->len ? addr_map_item(map, i) : NULL;

	return range && range->start <= addr ? range : NULL;
}

#endif

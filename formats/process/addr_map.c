/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addr_map.c - one sorted array per map: most processes have fewer than a hundred executable mappings, and a JIT that adds
 * to its code page by page is one range that grows.
 */
#include "formats/process/addr_map.h"

#include "formats/base/bisect.h"
#include "formats/base/compiler.h"
#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

struct addr_map *addr_map_new(struct addr_map_pool *pool)
{
	struct addr_map *map = memory_zeroed(1, sizeof(*map));

	map->pool = pool;
	map->nrefs = 1;
	map->low = UINT64_MAX;
	return map;
}

struct addr_map *addr_map_ref(struct addr_map *map)
{
	map->nrefs++;
	return map;
}

static const struct addr_range *range_at(const struct addr_map *map, size_t index)
{
	return addr_map_item(map, index);
}

static void keep(const struct addr_map *map, const void *item)
{
	if (map->pool->type->keep)
		map->pool->type->keep(item);
}

static void drop(const struct addr_map *map, const void *item)
{
	if (map->pool->type->drop)
		map->pool->type->drop(item);
}

void addr_map_unref(struct addr_map *map)
{
	if (!map || --map->nrefs)
		return;
	for (size_t i = 0; i < map->len; i++)
		drop(map, addr_map_item(map, i));
	map->pool->nranges -= map->len;
	free(map->items);
	free(map);
}

size_t addr_map_search(const struct addr_map *map, uint64_t addr)
{
	return BISECT(map->len, i, range_at(map, i)->end <= addr);
}

/* Make *@ref its user's alone, with room for @extra more; false if there would be too many. */
static bool own(struct addr_map **ref, size_t extra)
{
	struct addr_map *shared = *ref, *map;
	size_t item_len = shared->pool->type->item_len;

	if (shared->nrefs == 1)
		return true;
	if (shared->pool->nranges + shared->len + extra > shared->pool->max_all)
		return false;
	map = addr_map_new(shared->pool);
	map->len = shared->len;
	map->cap = shared->len + extra + 4;
	map->items = memory_zeroed(map->cap, item_len);
	if (shared->len)
		memcpy(map->items, shared->items, shared->len * item_len);
	for (size_t i = 0; i < map->len; i++)
		keep(map, addr_map_item(map, i));
	map->low = shared->low;
	map->high = shared->high;
	memcpy(map->filter, shared->filter, sizeof(map->filter));
	map->pool->nranges += map->len;
	addr_map_unref(shared);
	*ref = map;
	return true;
}

/* Let the filter know of [start, end). It never forgets: a region without ranges only costs a search. */
static void mark(struct addr_map *map, uint64_t start, uint64_t end)
{
	uint64_t first = start >> ADDR_MAP_REGION_SHIFT;
	uint64_t last = (end - 1) >> ADDR_MAP_REGION_SHIFT;

	map->low = MIN(map->low, start);
	map->high = MAX(map->high, end);
	if (last - first >= ADDR_MAP_FILTER_BITS) {
		memset(map->filter, 0xff, sizeof(map->filter));
		return;
	}
	for (uint64_t region = first; region <= last; region++) {
		uint64_t bit = region & (ADDR_MAP_FILTER_BITS - 1);

		map->filter[bit / 64] |= 1ULL << (bit % 64);
	}
}

/* Up to three items that take the place of others: what is left of the first, the new one, what is left of the last. */
struct patch {
	unsigned char items[3][ADDR_MAP_ITEM_MAX];
	size_t count;
};

static struct addr_range *add_part(struct patch *patch, const void *item, size_t item_len,
				   uint64_t start, uint64_t end)
{
	struct addr_range range;
	unsigned char *to = patch->items[patch->count++];

	memcpy(to, item, item_len);
	memcpy(&range, to, sizeof(range));
	range.offset += start - range.start;
	range.start = start;
	range.end = end;
	memcpy(to, &range, sizeof(range));
	return (struct addr_range *)(void *)to;
}

/* Put the patch in place of items [@from, @to). */
static void splice(struct addr_map *map, size_t from, size_t to, const struct patch *patch)
{
	size_t item_len = map->pool->type->item_len;
	size_t len = map->len - (to - from) + patch->count;

	for (size_t i = 0; i < patch->count; i++)
		keep(map, patch->items[i]);
	for (size_t i = from; i < to; i++)
		drop(map, addr_map_item(map, i));
	if (len > map->cap) {
		map->cap = MAX(len, map->cap * 2);
		map->items = memory_resize(map->items, map->cap, item_len);
	}
	memmove(map->items + (from + patch->count) * item_len, map->items + to * item_len,
		(map->len - to) * item_len);
	for (size_t i = 0; i < patch->count; i++)
		memcpy(addr_map_item(map, from + i), patch->items[i], item_len);
	map->pool->nranges += len - map->len;
	map->len = len;
}

/* Neighbours that show the same as the only item of @patch become part of it. */
static void grow_together(const struct addr_map *map, struct patch *patch, size_t *from, size_t *to)
{
	const struct addr_map_type *type = map->pool->type;
	struct addr_range *range = (struct addr_range *)(void *)patch->items[0];

	if (!type->merges || !type->merges(range))
		return;
	while (*from > 0 && range_at(map, *from - 1)->end == range->start &&
	       type->same(addr_map_item(map, *from - 1), range))
		range->start = range_at(map, --*from)->start;
	while (*to < map->len && range_at(map, *to)->start == range->end &&
	       type->same(addr_map_item(map, *to), range))
		range->end = range_at(map, (*to)++)->end;
}

/* An item that merges spans what it overlaps of its kind. Items [@from, @to) are those that it overlaps. */
static void span_same(const struct addr_map *map, const void *item, size_t from, size_t to,
		      uint64_t *start, uint64_t *end)
{
	const struct addr_map_type *type = map->pool->type;

	if (from == to || !type->merges || !type->merges(item))
		return;
	if (type->same(addr_map_item(map, from), item))
		*start = MIN(*start, range_at(map, from)->start);
	if (type->same(addr_map_item(map, to - 1), item))
		*end = MAX(*end, range_at(map, to - 1)->end);
}

/* Cut [start, end) out and put @item, if any, in its place. */
static enum addr_map_change replace(struct addr_map **ref, uint64_t start, uint64_t end,
				    const void *item)
{
	struct addr_map *map = *ref;
	const struct addr_map_pool *pool = map->pool;
	size_t item_len = pool->type->item_len;
	size_t from = addr_map_search(map, start), to = from, len;
	struct patch patch = { .count = 0 };

	while (to < map->len && range_at(map, to)->start < end)
		to++;
	if (!item && from == to)
		return ADDR_MAP_SAME;
	if (item)
		span_same(map, item, from, to, &start, &end);
	if (from < to && range_at(map, from)->start < start)
		add_part(&patch, addr_map_item(map, from), item_len, range_at(map, from)->start, start);
	if (item)
		add_part(&patch, item, item_len, start, end);
	if (from < to && range_at(map, to - 1)->end > end)
		add_part(&patch, addr_map_item(map, to - 1), item_len, end,
			 range_at(map, to - 1)->end);
	if (item && patch.count == 1)
		grow_together(map, &patch, &from, &to);
	len = map->len - (to - from) + patch.count;
	if (len > map->len &&
	    (len > pool->max_each || pool->nranges + (len - map->len) > pool->max_all))
		return ADDR_MAP_FULL;
	if (!own(ref, patch.count))
		return ADDR_MAP_FULL;
	splice(*ref, from, to, &patch);
	if (item)
		mark(*ref, start, end);
	return ADDR_MAP_CHANGED;
}

static bool covers(const struct addr_map *map, const void *item)
{
	const struct addr_map_type *type = map->pool->type;
	const struct addr_range *range = item, *old = addr_map_find(map, range->start);

	if (!old || old->end < range->end || !type->same(old, item))
		return false;
	return (type->merges && type->merges(item)) ||
	       old->offset + (range->start - old->start) == range->offset;
}

enum addr_map_change addr_map_insert(struct addr_map **map, const void *item)
{
	const struct addr_range *range = item;

	if (range->start >= range->end || covers(*map, item))
		return ADDR_MAP_SAME;
	return replace(map, range->start, range->end, item);
}

enum addr_map_change addr_map_remove(struct addr_map **map, uint64_t start, uint64_t end)
{
	return start < end ? replace(map, start, end, NULL) : ADDR_MAP_SAME;
}

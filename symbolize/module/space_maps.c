/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_maps.c - one sorted array per address space. Most processes have fewer than a hundred executable
 * mappings, and a JIT that adds to its code region page by page is one mapping that grows.
 */
#include "symbolize/module/space_maps.h"

#include "formats/base/bisect.h"
#include "formats/base/memory.h"
#include "symbolize/module/module.h"

#include <stdlib.h>
#include <string.h>

struct space_maps *space_maps_new(void)
{
	struct space_maps *maps = memory_zeroed(1, sizeof(*maps));

	maps->nrefs = 1;
	return maps;
}

struct space_maps *space_maps_ref(struct space_maps *maps)
{
	maps->nrefs++;
	return maps;
}

void space_maps_unref(struct space_maps *maps)
{
	if (!maps || --maps->nrefs)
		return;
	free(maps->items);
	free(maps);
}

/* Make *@maps ours alone. */
static struct space_maps *own(struct space_maps **maps)
{
	struct space_maps *shared = *maps;

	if (shared->nrefs == 1)
		return shared;
	*maps = space_maps_new();
	(*maps)->len = shared->len;
	(*maps)->cap = shared->len + 4;
	(*maps)->items = memory_zeroed((*maps)->cap, sizeof(*shared->items));
	if (shared->len)
		memcpy((*maps)->items, shared->items, shared->len * sizeof(*shared->items));
	space_maps_unref(shared);
	return *maps;
}

/* Index of the first mapping that ends after @ip. */
static size_t first_ending_after(const struct space_maps *maps, uint64_t ip)
{
	return BISECT(maps->len, i, maps->items[i].end <= ip);
}

/* Replace mappings [@from, @to) by @count others. */
static void splice(struct space_maps *maps, size_t from, size_t to, const struct space_map *items,
		   size_t count)
{
	size_t len = maps->len - (to - from) + count;

	if (len > maps->cap) {
		maps->cap = MAX(len, maps->cap * 2);
		maps->items = memory_resize(maps->items, maps->cap, sizeof(*maps->items));
	}
	if (maps->len > to)
		memmove(maps->items + from + count, maps->items + to,
			(maps->len - to) * sizeof(*maps->items));
	if (count)
		memcpy(maps->items + from, items, count * sizeof(*items));
	maps->len = len;
	maps->last = 0;
}

static struct space_map part(const struct space_map *map, uint64_t start, uint64_t end)
{
	struct space_map result = *map;

	result.file_offset += start - map->start;
	result.start = start;
	result.end = end;
	return result;
}

/* What @map becomes when it grows over neighbours that are the same JIT's memory. */
static struct space_map merged(const struct space_maps *maps, const struct space_map *map,
			       size_t *from, size_t *to)
{
	struct space_map result = *map;

	if (map->module->kind != MODULE_JIT)
		return result;
	while (*from > 0 && maps->items[*from - 1].end == result.start &&
	       maps->items[*from - 1].module == map->module &&
	       maps->items[*from - 1].exec == map->exec)
		result.start = maps->items[--*from].start;
	while (*to < maps->len && maps->items[*to].start == result.end &&
	       maps->items[*to].module == map->module && maps->items[*to].exec == map->exec)
		result.end = maps->items[(*to)++].end;
	return result;
}

/* Cut [start, end) out and put @map, if any, in its place. */
static enum space_maps_change replace(struct space_maps **ref, uint64_t start, uint64_t end,
				      const struct space_map *map)
{
	struct space_maps *maps = own(ref);
	size_t from = first_ending_after(maps, start), to = from, count = 0;
	struct space_map parts[3];

	while (to < maps->len && maps->items[to].start < end)
		to++;
	if (!map && from == to)
		return SPACE_MAPS_SAME;
	if (from < to && maps->items[from].start < start)
		parts[count++] = part(&maps->items[from], maps->items[from].start, start);
	size_t middle = count;

	if (map)
		parts[count++] = *map;
	if (from < to && maps->items[to - 1].end > end)
		parts[count++] = part(&maps->items[to - 1], end, maps->items[to - 1].end);
	if (map && count == 1)
		parts[middle] = merged(maps, map, &from, &to);
	if (maps->len - (to - from) + count > SPACE_MAPS_MAX)
		return SPACE_MAPS_FULL;
	splice(maps, from, to, parts, count);
	return SPACE_MAPS_CHANGED;
}

static bool covers(const struct space_map *old, const struct space_map *map)
{
	if (!old || old->end < map->end || old->module != map->module || old->exec != map->exec)
		return false;
	if (map->module->kind == MODULE_JIT)
		return true;
	return old->file_offset + (map->start - old->start) == map->file_offset;
}

enum space_maps_change space_maps_insert(struct space_maps **maps, const struct space_map *map)
{
	if (map->start >= map->end || covers(space_maps_find(*maps, map->start), map))
		return SPACE_MAPS_SAME;
	return replace(maps, map->start, map->end, map);
}

enum space_maps_change space_maps_remove(struct space_maps **maps, uint64_t start, uint64_t end)
{
	return start < end ? replace(maps, start, end, NULL) : SPACE_MAPS_SAME;
}

struct space_map *space_maps_find(struct space_maps *maps, uint64_t ip)
{
	if (maps->last < maps->len) {
		struct space_map *map = &maps->items[maps->last];

		if (ip >= map->start && ip < map->end)
			return map;
	}
	size_t i = first_ending_after(maps, ip);

	if (i == maps->len || maps->items[i].start > ip)
		return NULL;
	maps->last = i;
	return &maps->items[i];
}

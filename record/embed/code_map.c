/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_map.c - a sorted array; anonymous ranges grow together, as a JIT maps page after page.
 */
#include "record/embed/code_map.h"

#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

static void remember(struct code_map *map, const struct code_range *range)
{
	if (!range->file)
		return;
	if (map->past.len < CODE_MAP_PAST)
		vec_push(&map->past, *range);
	else
		map->past.items[map->past_pos++ % CODE_MAP_PAST] = *range;
}

/* Index of the first range that ends after @ip. */
static size_t first_ending_after(const struct code_map *map, uint64_t ip)
{
	size_t low = 0, high = map->now.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->now.items[middle].end > ip)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static bool covers(const struct code_range *old, const struct code_range *range)
{
	if (range->start < old->start || range->end > old->end || range->file != old->file)
		return false;
	return !range->file || old->file_offset + (range->start - old->start) == range->file_offset;
}

static struct code_range part(const struct code_range *range, uint64_t start, uint64_t end)
{
	return (struct code_range){ start, end, range->file_offset + (start - range->start),
				    range->file };
}

/* Replace ranges [@from, @to) by @count others. */
static void splice(struct code_map *map, size_t from, size_t to, const struct code_range *ranges,
		   size_t count)
{
	size_t tail = map->now.len - to;

	vec_reserve(&map->now, count);
	memmove(map->now.items + from + count, map->now.items + to, tail * sizeof(*ranges));
	memcpy(map->now.items + from, ranges, count * sizeof(*ranges));
	map->now.len = from + count + tail;
}

/* Anonymous neighbours of @range become part of it. */
static void grow_together(const struct code_map *map, struct code_range *range, size_t *from,
			  size_t *to)
{
	const struct code_range *items = map->now.items;

	if (range->file)
		return;
	if (*from > 0 && !items[*from - 1].file && items[*from - 1].end == range->start)
		range->start = items[--*from].start;
	if (*to < map->now.len && !items[*to].file && items[*to].start == range->end)
		range->end = items[(*to)++].end;
}

bool code_map_insert(struct code_map *map, const struct code_range *range)
{
	size_t from = first_ending_after(map, range->start), to = from, count = 0;
	struct code_range parts[3];

	if (range->start >= range->end ||
	    (from < map->now.len && covers(&map->now.items[from], range)))
		return false;
	while (to < map->now.len && map->now.items[to].start < range->end)
		remember(map, &map->now.items[to++]);
	if (from < to && map->now.items[from].start < range->start)
		parts[count++] =
			part(&map->now.items[from], map->now.items[from].start, range->start);
	size_t middle = count;

	parts[count++] = *range;
	if (from < to && map->now.items[to - 1].end > range->end)
		parts[count++] =
			part(&map->now.items[to - 1], range->end, map->now.items[to - 1].end);
	if (count == 1)
		grow_together(map, &parts[middle], &from, &to);
	splice(map, from, to, parts, count);
	return true;
}

void code_map_exec(struct code_map *map)
{
	for (size_t i = 0; i < map->now.len; i++)
		remember(map, &map->now.items[i]);
	map->now.len = 0;
}

void code_map_fork(struct code_map *map, const struct code_map *parent)
{
	code_map_exec(map);
	vec_append(&map->now, parent->now.items, parent->now.len);
}

size_t code_map_find(const struct code_map *map, uint64_t ip, const struct code_range **ret,
		     size_t max)
{
	size_t i = first_ending_after(map, ip), count = 0;

	if (i < map->now.len && map->now.items[i].start <= ip)
		ret[count++] = &map->now.items[i];
	for (size_t j = 0; j < map->past.len && count < max; j++) {
		const struct code_range *range = &map->past.items[j];

		if (ip >= range->start && ip < range->end)
			ret[count++] = range;
	}
	return count;
}

void code_map_deinit(struct code_map *map)
{
	vec_deinit(&map->now);
	vec_deinit(&map->past);
}

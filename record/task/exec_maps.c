/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_maps.c - tracts are kept ascending and apart, so that they can be told in any order.
 */
#include "record/task/exec_maps.h"

#include "formats/base/memory.h"
#include "formats/base/vec.h"

#include <stdlib.h>
#include <string.h>

struct exec_maps_name *exec_maps_name_new(const char *text)
{
	size_t len = strlen(text) + 1;
	struct exec_maps_name *name = memory_alloc(sizeof(*name) + len);

	name->nusers = 1;
	memcpy(name->text, text, len);
	return name;
}

struct exec_maps_name *exec_maps_name_share(struct exec_maps_name *name)
{
	if (name)
		name->nusers++;
	return name;
}

void exec_maps_name_drop(struct exec_maps_name *name)
{
	if (name && !--name->nusers)
		free(name);
}

void tracts_clear(struct tracts *tracts)
{
	for (size_t i = 0; i < tracts->len; i++)
		exec_maps_name_drop(tracts->items[i].path);
	tracts->len = 0;
}

void tracts_copy(struct tracts *to, const struct tracts *from)
{
	tracts_clear(to);
	vec_append(to, from->items, from->len);
	for (size_t i = 0; i < to->len; i++)
		exec_maps_name_share(to->items[i].path);
}

static void insert_at(struct tracts *tracts, size_t pos, struct exec_maps exec_maps)
{
	vec_push(tracts, exec_maps);
	memmove(tracts->items + pos + 1, tracts->items + pos,
		(tracts->len - 1 - pos) * sizeof(exec_maps));
	tracts->items[pos] = exec_maps;
}

/* The first that ends behind @addr. */
static size_t find_tract(const struct tracts *tracts, uint64_t addr)
{
	size_t low = 0, high = tracts->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tracts->items[middle].map.end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Make room for [start, end): what lies there goes, and what reaches out of it is cut. */
static size_t clear_range(struct tracts *tracts, uint64_t start, uint64_t end)
{
	size_t pos = find_tract(tracts, start), last;

	if (pos < tracts->len && tracts->items[pos].map.start < start) {
		struct exec_maps left = tracts->items[pos];

		if (left.map.end > end) { /* both of its ends remain */
			insert_at(tracts, pos, left);
			exec_maps_name_share(left.path);
		}
		tracts->items[pos++].map.end = start;
	}
	for (last = pos; last < tracts->len && tracts->items[last].map.end <= end; last++)
		exec_maps_name_drop(tracts->items[last].path);
	if (last > pos)
		memmove(tracts->items + pos, tracts->items + last,
			(tracts->len - last) * sizeof(*tracts->items));
	tracts->len -= last - pos;
	if (pos < tracts->len && tracts->items[pos].map.start < end) {
		struct event_mmap *right = &tracts->items[pos].map;

		right->file_offset += end - right->start;
		right->start = end;
	}
	return pos;
}

void tracts_add(struct tracts *tracts, const struct event_mmap *map)
{
	struct exec_maps exec_maps = { .map = *map };

	if (map->end <= map->start)
		return;
	size_t pos = clear_range(tracts, map->start, map->end);

	exec_maps.path = exec_maps_name_new(map->path);
	exec_maps.map.path = exec_maps.path->text;
	insert_at(tracts, pos, exec_maps);
}

void tracts_deinit(struct tracts *tracts)
{
	tracts_clear(tracts);
	vec_deinit(tracts);
}

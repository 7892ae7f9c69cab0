/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c - linear probing at most half full, so that a lookup touches one or two cache lines.
 */
#include "formats/base/map.h"

#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The slot that holds @key, or the free one where it belongs. */
static size_t locate(const struct map *map, uint64_t key)
{
	size_t i = map_hash(key) & (map->cap - 1);

	while (map->used[i] && map->slots[i].key != key)
		i = (i + 1) & (map->cap - 1);
	return i;
}

static void grow(struct map *map)
{
	struct map bigger = { .cap = map->cap ? map->cap * 2 : 16, .len = map->len };

	bigger.slots = memory_table(bigger.cap, sizeof(*bigger.slots));
	bigger.used = memory_table(bigger.cap, 1);
	for (size_t i = 0; i < map->cap; i++) {
		if (!map->used[i])
			continue;
		size_t slot = locate(&bigger, map->slots[i].key);

		bigger.slots[slot] = map->slots[i];
		bigger.used[slot] = 1;
	}
	map_deinit(map);
	*map = bigger;
}

uint64_t *map_get(const struct map *map, uint64_t key)
{
	if (!map->cap)
		return NULL;
	size_t i = locate(map, key);

	return map->used[i] ? &map->slots[i].value : NULL;
}

uint64_t *map_put(struct map *map, uint64_t key, bool *ret_new)
{
	if (map->len * 2 >= map->cap)
		grow(map);

	size_t i = locate(map, key);
	bool is_new = !map->used[i];

	if (is_new) {
		map->used[i] = 1;
		map->slots[i] = (struct map_slot){ .key = key };
		map->len++;
	}
	if (ret_new)
		*ret_new = is_new;
	return &map->slots[i].value;
}

/*
 * What follows moves up, so that no look-up meets a gap before its key: an entry may fill the gap unless its own
 * place lies between the two.
 */
void map_remove(struct map *map, uint64_t key)
{
	size_t last = map->cap - 1; /* a mask, too */
	size_t gap = map->cap ? locate(map, key) : 0;

	if (!map->cap || !map->used[gap])
		return;
	for (size_t i = (gap + 1) & last; map->used[i]; i = (i + 1) & last) {
		size_t home = map_hash(map->slots[i].key) & last;

		if (((i - home) & last) < ((i - gap) & last))
			continue;
		map->slots[gap] = map->slots[i];
		gap = i;
	}
	map->used[gap] = 0;
	map->len--;
}

const struct map_slot *map_next(const struct map *map, size_t *pos)
{
	while (*pos < map->cap) {
		size_t i = (*pos)++;

		if (map->used[i])
			return &map->slots[i];
	}
	return NULL;
}

void map_clear(struct map *map)
{
	if (map->cap)
		memset(map->used, 0, map->cap);
	map->len = 0;
}

void map_deinit(struct map *map)
{
	free(map->slots);
	free(map->used);
	*map = (struct map){ 0 };
}

uint64_t map_hash_bytes(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
	return hash;
}

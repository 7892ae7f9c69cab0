/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - a hash map from 64-bit keys to 64-bit values.
 *
 * Open addressing with linear probing; a zeroed map is empty and ready. Order of iteration depends on
 * the keys and the history: never let it reach an output. Not thread-safe.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key, value;
};

struct map {
	struct map_slot *slots;
	uint8_t *used; /* one byte a slot */
	size_t cap;    /* a power of two, or 0 */
	size_t len;    /* keys present */
};

/* The value at @key, or NULL; valid until the next map_put() or map_remove(). */
uint64_t *map_get(const struct map *map, uint64_t key);

/*
 * The value at @key, made 0 if the key is new; valid until the next map_put() or map_remove(). @ret_new may be NULL.
 */
uint64_t *map_put(struct map *map, uint64_t key, bool *ret_new);

/* Forget @key, if it is there; not while walking. */
void map_remove(struct map *map, uint64_t key);

/* Walk all entries: start with *pos = 0, stop when NULL is returned. */
const struct map_slot *map_next(const struct map *map, size_t *pos);

/* Forget all keys, keep the room. */
void map_clear(struct map *map);

void map_deinit(struct map *map);

/* Two numbers as one key. */
static inline uint64_t map_pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/*
 * A good 64-bit mix, also for callers that build their own tables or combine keys. Finalizer of MurmurHash3 (public domain,
 * Austin Appleby): every input bit reaches every output bit.
 */
static inline uint64_t map_hash(uint64_t key)
{
	key ^= key >> 33;
	key *= 0xff51afd7ed558ccdULL;
	key ^= key >> 33;
	key *= 0xc4ceb9fe1a85ec53ULL;
	return key ^ key >> 33;
}

/* Bytes into a hash (FNV-1a), for keys that are put together; the first @hash may be 0. */
uint64_t map_hash_bytes(uint64_t hash, const void *data, size_t len);

#endif

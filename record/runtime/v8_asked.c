/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_asked.c - two maps, bounded.
 */
#include "record/runtime/v8_asked.h"

#define ADDRESSES_MAX (1U << 18) /* of each map */
#define ABSENT_NS     2000000000ULL

void v8_asked_deinit(struct v8_asked *a)
{
	map_deinit(&a->placed);
	map_deinit(&a->absent);
}

bool v8_asked_is_placed(const struct v8_asked *a, uint64_t use, uint32_t number)
{
	const uint64_t *slot = map_get(&a->placed, use);

	return slot && *slot == number;
}

/* A new key needs room. */
static void put(struct map *map, uint64_t key, uint64_t value)
{
	uint64_t *slot = map_get(map, key);

	if (!slot && map->len < ADDRESSES_MAX)
		slot = map_put(map, key, NULL);
	if (slot)
		*slot = value;
}

void v8_asked_set_placed(struct v8_asked *a, uint64_t use, uint32_t number)
{
	put(&a->placed, use, number);
}

bool v8_asked_is_absent(const struct v8_asked *a, uint64_t ip, uint64_t now_ns)
{
	const uint64_t *until = map_get(&a->absent, ip);

	return until && now_ns < *until;
}

void v8_asked_set_found(struct v8_asked *a, uint64_t ip, bool found, uint64_t now_ns)
{
	if (found)
		map_remove(&a->absent, ip);
	else
		put(&a->absent, ip, now_ns + ABSENT_NS);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "record/managed/managed_names.h"

#include "record/system/priority.h"

#include <stdint.h>
#include <string.h>

void managed_names_init(struct managed_names *names)
{
	*names = (struct managed_names){ 0 };
	priority_mutex_init(&names->lock);
}

void managed_names_deinit(struct managed_names *names)
{
	arena_deinit(&names->arena);
	map_deinit(&names->by_hash);
	pthread_mutex_destroy(&names->lock);
}

static uint64_t hash_of(const char *text, size_t len)
{
	uint64_t hash = len;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3ull;
	return map_hash(hash);
}

static const char *keep(struct managed_names *names, const char *text, size_t len)
{
	uint64_t hash = hash_of(text, len);
	uint64_t *known = map_get(&names->by_hash, hash);
	const char *old = known ? (const char *)(uintptr_t)*known : NULL;

	if (old && strncmp(old, text, len) == 0 && !old[len])
		return old;
	if (names->arena.used + len > MANAGED_NAMES_MAX) {
		names->left_out++;
		return "";
	}
	known = map_put(&names->by_hash, hash, NULL);
	/* One that collides with another takes its place; the other stays valid. */
	*known = (uintptr_t)arena_memdup(&names->arena, text, len);
	return (const char *)(uintptr_t)*known;
}

const char *managed_names_keep(struct managed_names *names, const char *text, size_t len)
{
	len = strnlen(text, len);
	pthread_mutex_lock(&names->lock);
	const char *kept = keep(names, text, len);

	pthread_mutex_unlock(&names->lock);
	return kept;
}

void managed_names_take(struct managed_names *names, size_t len)
{
	names->taken += len;
}

void managed_names_give(struct managed_names *names, size_t len)
{
	names->taken -= len;
}

bool managed_names_full(const struct managed_names *names)
{
	return names->taken > MANAGED_ROOM_MAX;
}

uint64_t managed_names_left_out(struct managed_names *names)
{
	pthread_mutex_lock(&names->lock);
	uint64_t left_out = names->left_out;

	pthread_mutex_unlock(&names->lock);
	return left_out;
}

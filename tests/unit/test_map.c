/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/map.h"

#define KEYS 20000

/* Keys that share their low bits, as addresses do, and the extremes. */
static uint64_t key(uint64_t i)
{
	return i == 0 ? UINT64_MAX : i == 1 ? 0 : i << 32;
}

TEST(map_finds_what_was_put_and_nothing_else)
{
	CLEANUP(map_deinit) struct map map = { 0 };
	bool is_new;

	CHECK(!map_get(&map, 0));
	for (uint64_t i = 0; i < KEYS; i++) {
		*map_put(&map, key(i), &is_new) = i;
		CHECK(is_new);
	}
	CHECK_UINT(map.len, KEYS);
	for (uint64_t i = 0; i < KEYS; i++) {
		CHECK_UINT(*map_get(&map, key(i)), i);
		CHECK_UINT(*map_put(&map, key(i), &is_new), i);
		CHECK(!is_new);
		CHECK(!map_get(&map, key(i) + 12345));
	}
	CHECK_UINT(map.len, KEYS);
}

TEST(map_starts_new_values_at_zero_also_after_clear)
{
	CLEANUP(map_deinit) struct map map = { 0 };

	map_clear(&map);
	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 100; i++) {
			CHECK_UINT(*map_put(&map, i, NULL), 0);
			*map_put(&map, i, NULL) = 7;
		}
		map_clear(&map);
		CHECK_UINT(map.len, 0);
		CHECK(!map_get(&map, 5));
	}
}

TEST(map_next_visits_every_key_once)
{
	CLEANUP(map_deinit) struct map map = { 0 };
	const struct map_slot *slot;
	size_t pos = 0, count = 0;

	CHECK(!map_next(&map, &pos));
	for (uint64_t i = 0; i < 1000; i++)
		*map_put(&map, key(i), NULL) = i;
	for (pos = 0; (slot = map_next(&map, &pos)); count++) {
		CHECK(slot->key == key(slot->value));
		*map_put(&map, slot->key, NULL) += 0;
	}
	CHECK_UINT(count, 1000);
}

/* Against a plain array, in a map that stays small, so that runs of slots meet and go around its end. */
TEST(map_forgets_what_was_removed_and_nothing_else)
{
	CLEANUP(map_deinit) struct map map = { 0 };
	bool there[24] = { false };
	uint64_t random = 1;
	size_t count = 0;

	map_remove(&map, 5);
	for (int step = 0; step < 20000; step++) {
		random = map_hash(random + (uint64_t)step);
		uint64_t i = random % ARRAY_LEN(there);

		if (random >> 63)
			*map_put(&map, key(i), NULL) = i;
		else
			map_remove(&map, key(i));
		count += (random >> 63) - (uint64_t)there[i];
		there[i] = random >> 63;
		CHECK_UINT(map.len, count);
		for (uint64_t j = 0; j < ARRAY_LEN(there); j++) {
			const uint64_t *value = map_get(&map, key(j));

			CHECK(there[j] ? value && *value == j : !value);
		}
	}
	CHECK(map.cap <= 64);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/vec.h"

static int compare(const void *a, const void *b)
{
	const int *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

TEST(vec_grows_appends_and_sorts)
{
	static const int more[] = { -3, -1, -2 };
	VEC(int) v = { 0 };

	vec_sort(&v, compare);
	vec_append(&v, more, 0);
	CHECK_UINT(v.len, 0);
	for (int i = 0; i < 1000; i++)
		vec_push(&v, i);
	vec_append(&v, more, ARRAY_LEN(more));
	CHECK_UINT(v.len, 1003);
	CHECK(v.cap >= v.len);
	vec_sort(&v, compare);
	for (int i = 0; i < 1003; i++)
		CHECK_INT(v.items[i], i - 3);
	vec_deinit(&v);
	CHECK(!v.items && !v.len && !v.cap);
}

TEST(vec_reserve_makes_room_once)
{
	VEC(uint64_t) v = { 0 };

	vec_reserve(&v, 100);
	uint64_t *items = v.items;

	for (uint64_t i = 0; i < 100; i++)
		vec_push(&v, i);
	CHECK(v.items == items);
	vec_deinit(&v);
}

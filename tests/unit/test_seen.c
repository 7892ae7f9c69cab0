/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_seen.c - the cache in front of the attachments.
 */
#include "record/seen.h"
#include "tests/unit/test.h"

TEST(seen_knows_an_address_again_for_each_who)
{
	struct seen seen;

	seen_init(&seen);
	CHECK(seen_add(&seen, 0x1000, 2));
	CHECK(!seen_add(&seen, 0x1000, 2));
	CHECK(seen_add(&seen, 0x1000, 3));
	CHECK(seen_add(&seen, 0, UINT64_MAX));
	CHECK(!seen_add(&seen, 0, UINT64_MAX));
	seen_forget_all(&seen);
	CHECK(seen_add(&seen, 0x1000, 2));
	seen_deinit(&seen);
}

TEST(seen_forgets_some_of_very_many_but_never_makes_one_up)
{
	struct seen seen;
	unsigned again = 0;

	seen_init(&seen);
	for (uint64_t i = 0; i < 1000000; i++)
		CHECK(seen_add(&seen, i * 64, 2));
	for (uint64_t i = 1000000 - 1000; i < 1000000; i++)
		again += !seen_add(&seen, i * 64, 2);
	CHECK(again > 900);
	seen_deinit(&seen);
}

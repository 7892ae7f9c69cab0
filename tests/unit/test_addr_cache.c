/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_addr_cache.c - the cache in front of the attachments.
 */
#include "record/embed/addr_cache.h"
#include "tests/unit/test.h"

TEST(seen_knows_an_address_again_for_each_who)
{
	struct addr_cache seen;

	addr_cache_init(&seen);
	CHECK(addr_cache_add(&seen, 0x1000, 2));
	CHECK(!addr_cache_add(&seen, 0x1000, 2));
	CHECK(addr_cache_add(&seen, 0x1000, 3));
	CHECK(addr_cache_add(&seen, 0, UINT64_MAX));
	CHECK(!addr_cache_add(&seen, 0, UINT64_MAX));
	addr_cache_forget_all(&seen);
	CHECK(addr_cache_add(&seen, 0x1000, 2));
	addr_cache_deinit(&seen);
}

TEST(seen_forgets_some_of_very_many_but_never_makes_one_up)
{
	struct addr_cache seen;
	unsigned again = 0;

	addr_cache_init(&seen);
	for (uint64_t i = 0; i < 1000000; i++)
		CHECK(addr_cache_add(&seen, i * 64, 2));
	for (uint64_t i = 1000000 - 1000; i < 1000000; i++)
		again += !addr_cache_add(&seen, i * 64, 2);
	CHECK(again > 900);
	addr_cache_deinit(&seen);
}

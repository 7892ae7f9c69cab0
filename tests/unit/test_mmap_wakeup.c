/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "record/sample/mmap_wakeup.h"

#define MS 1000000ULL

/* It rang at @now_ms; for how many milliseconds does it rest? */
static uint64_t rest(struct mmap_wakeup *d, uint64_t now_ms, uint64_t news)
{
	mmap_wakeup_rest(d, now_ms * MS, news);
	return d->rests_until_ns / MS - now_ms;
}

TEST(mmap_wakeup_rests_longer_the_more_often_it_rang_for_nothing)
{
	struct mmap_wakeup d = { .fd = -1, .rests_until_ns = UINT64_MAX };
	static const uint64_t rests[] = { 10, 20, 40, 80, 100, 100 };
	uint64_t now = 5000;

	CHECK(!mmap_wakeup_rested(&d, now * MS, true)); /* it does not rest */
	for (size_t i = 0; i < ARRAY_LEN(rests); i++) {
		CHECK_UINT(rest(&d, now, /* news= */ 7), rests[i]);
		CHECK(!mmap_wakeup_rested(&d, (now + rests[i]) * MS - 1, true));
		now += rests[i];
		CHECK(mmap_wakeup_rested(&d, now * MS, true));
		CHECK(!mmap_wakeup_rested(&d, now * MS, true));
	}
	CHECK_UINT(rest(&d, now, 8), 50); /* something was new */
	CHECK(mmap_wakeup_rested(&d, (now + 50) * MS, true));
	CHECK_UINT(rest(&d, now + 51, 9), 25);
	CHECK(mmap_wakeup_rested(&d, (now + 80) * MS, true));
	CHECK_UINT(rest(&d, now + 81, 9), 50);
	CHECK(mmap_wakeup_rested(&d, (now + 140) * MS, true));
	for (uint64_t news = 10; news < 14; news++) {
		rest(&d, now + 141, news);
		CHECK(mmap_wakeup_rested(&d, (now + 240) * MS, true));
	}
	CHECK_UINT(rest(&d, now + 241, 14), 10); /* and no shorter */
	CHECK(mmap_wakeup_rested(&d, (now + 1100) * MS, true));
	CHECK_UINT(rest(&d, now + 2100, 8), 10); /* after a second of silence */
}

TEST(mmap_wakeup_counts_an_end_of_rest_only_if_nothing_else_woke_the_recorder)
{
	struct mmap_wakeup d = { .fd = -1, .rests_until_ns = UINT64_MAX };

	rest(&d, 5000, 1);
	CHECK(mmap_wakeup_rested(&d, 5010 * MS, /* woke= */ false));
	CHECK_UINT(d.wakeups, 1);
	rest(&d, 5011, 1);
	CHECK(mmap_wakeup_rested(&d, 5100 * MS, /* woke= */ true));
	CHECK_UINT(d.wakeups, 3);
}

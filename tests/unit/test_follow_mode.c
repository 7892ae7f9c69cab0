/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_follow_mode.c - how large rings are.
 */
#include "record/follow_mode.h"

#include "tests/unit/test.h"

#include <unistd.h>

static uint64_t ring_len(uint64_t hz, uint32_t stack_len)
{
	const struct record_args args = { .rate = { EVENT_RATE_FREQ, hz } };
	const struct target target = { .cpus.len = 1 };
	const struct event_plan plan = { .stack_len = stack_len };
	struct diag none = { 0 };
	uint64_t len = follow_mode_ring_len(&args, &target, &plan, &none);

	diag_deinit(&none);
	return len;
}

TEST(follow_mode_gives_rings_room_for_a_second_and_not_for_two)
{
	if ((uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) < 2ULL << 30)
		SKIP("rings are limited by a 32nd of this machine's memory");
	for (uint64_t hz = 99; hz < 1000; hz += 100) {
		uint64_t len = ring_len(hz, 16384), second = hz * (16384 + 512);

		CHECK((len & (len - 1)) == 0);
		CHECK(len >= second * 3 / 4);
		CHECK(len < second * 3 / 2 || len == 512 << 10);
	}
	CHECK_UINT(ring_len(999, 16384), 16 << 20);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_switch_guard.c - every switch is recorded until there are too many, then for as much of the time as is bearable.
 */
#include "record/sample/switch_guard.h"
#include "tests/unit/test.h"

#define MS     1000000ull
#define SECOND (1000 * MS)

/* @rate switches a second on CPU 1, and a few on CPU 0, for a second, looked at each millisecond; the time on. */
static uint64_t run(struct switch_guard *g, uint64_t from_ns, uint64_t rate, uint64_t cost_ns)
{
	uint64_t on_ns = 0;

	for (uint64_t now_ns = from_ns; now_ns < from_ns + SECOND; now_ns += MS) {
		on_ns += g->off ? 0 : MS;
		for (uint64_t i = 0; i < rate / 1000 && !g->off; i++)
			switch_guard_count(g, 1, 1);
		switch_guard_count(g, 0, 1);
		if (switch_guard_decide(g, now_ns))
			switch_guard_turned(g, now_ns, cost_ns);
	}
	return on_ns;
}

TEST(switch_guard_leaves_moderate_rates_alone)
{
	struct switch_guard g;

	switch_guard_begin(&g, true, SECOND);
	CHECK_UINT(run(&g, SECOND, SWITCH_GUARD_RATE * 11 / 10, MS), SECOND);
	CHECK_UINT(g.off_ns, 0);
	switch_guard_deinit(&g);
}

TEST(switch_guard_that_is_not_wanted_never_turns)
{
	struct switch_guard g;

	switch_guard_begin(&g, false, SECOND);
	CHECK_UINT(g.next_ns, UINT64_MAX); /* the recorder does not wake for it */
	CHECK_UINT(run(&g, SECOND, 100 * SWITCH_GUARD_RATE, MS), SECOND);
	switch_guard_deinit(&g);
}

TEST(switch_guard_keeps_to_the_rate_from_the_beginning_and_comes_back)
{
	struct switch_guard g;

	switch_guard_begin(&g, true, SECOND);
	CHECK_UINT(g.next_ns, SECOND + 50 * MS); /* the first look */

	uint64_t on_ns = run(&g, SECOND, 5 * SWITCH_GUARD_RATE, MS / 10);

	CHECK(on_ns > 150 * MS && on_ns < 300 * MS);
	run(&g, 2 * SECOND, 1000, MS / 10);
	CHECK_UINT(run(&g, 3 * SECOND, 1000, MS / 10), SECOND);
	switch_guard_end(&g, 4 * SECOND);
	CHECK(g.off_ns > 700 * MS && g.off_ns < 900 * MS);
	switch_guard_deinit(&g);
}

TEST(switch_guard_bounds_what_all_cpus_together_send_to_one_recorder)
{
	struct switch_guard g;
	uint64_t on_ns = 0;

	switch_guard_begin(&g, true, SECOND);
	for (uint64_t now_ns = SECOND; now_ns < 2 * SECOND; now_ns += MS) {
		on_ns += g.off ? 0 : MS;
		for (size_t cpu = 0; cpu < 64 && !g.off; cpu++)
			for (unsigned i = 0; i < SWITCH_GUARD_RATE / 1000 / 2; i++)
				switch_guard_count(&g, cpu, 1);
		if (switch_guard_decide(&g, now_ns))
			switch_guard_turned(&g, now_ns, MS / 10);
	}
	CHECK(on_ns > 150 * MS && on_ns < 400 * MS); /* 32 CPUs' worth, where that of 8 is allowed */
	switch_guard_deinit(&g);
}

/* Turns in 8 s of @rate switches a second on one CPU, where each turn takes @cost_ns; the time on. */
static unsigned turns(uint64_t rate, uint64_t cost_ns, uint64_t *ret_on_ns)
{
	struct switch_guard g;
	unsigned count = 0;

	*ret_on_ns = 0;
	switch_guard_begin(&g, true, SECOND);
	for (uint64_t now_ns = SECOND; now_ns < 9 * SECOND; now_ns += MS) {
		*ret_on_ns += g.off ? 0 : MS;
		for (uint64_t i = 0; i < rate / 1000 && !g.off; i++)
			switch_guard_count(&g, 0, 1);
		if (!switch_guard_decide(&g, now_ns))
			continue;
		count++;
		switch_guard_turned(&g, now_ns, cost_ns);
	}
	switch_guard_deinit(&g);
	return count;
}

TEST(switch_guard_turns_less_often_where_turning_takes_long)
{
	uint64_t on_ns;

	CHECK(turns(100000, MS / 100, &on_ns) > 100);
	CHECK(on_ns < 2 * SECOND);
	CHECK(turns(100000, 5 * MS, &on_ns) <= 60); /* a 33rd of 8 s has room for 48 turns of 5 ms */
	CHECK(on_ns < 2 * SECOND);
}

TEST(switch_guard_does_not_turn_where_that_costs_more_than_the_switches)
{
	uint64_t on_ns;

	/* As many threads as take 100 ms to read: once, to learn so. */
	CHECK_UINT(turns(2 * SWITCH_GUARD_RATE, 100 * MS, &on_ns), 2);
	CHECK(on_ns > 7800 * MS);
	CHECK(turns(50 * SWITCH_GUARD_RATE, 100 * MS, &on_ns) > 2);
	CHECK(on_ns < 4 * SECOND);
}

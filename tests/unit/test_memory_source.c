/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_memory_source.c - words for data sources as the kernel's drivers put them together.
 */
#include "report/view/latency.h"
#include "report/view/memory_source.h"
#include "tests/unit/test.h"

#include <linux/perf_event.h>
#include <math.h>

#define S(field, value) PERF_MEM_S(field, value)

/* PERF_MEM_S(HOPS, 0), which kernel headers have since 5.16. */
#define HOPS_0 ((uint64_t)1 << 43)

static void check(uint64_t source, const char *level, const char *tlb, const char *rest)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	CHECK_STR(memory_source_level(&arena, source), level);
	CHECK_STR(memory_source_tlb(&arena, source), tlb);
	CHECK_STR(memory_source_rest(&arena, source), rest);
	CHECK(memory_source_known(source) == (*level || *tlb || *rest));
}

TEST(memory_source_reads_what_drivers_write)
{
	/* arch/x86/events/intel/ds.c, pebs_data_source: before 4.14 without a number, since then with one */
	check(S(OP, LOAD) | S(LVL, HIT) | S(LVL, L1) | S(SNOOP, NONE), "load, L1 hit", "", "");
	check(S(OP, LOAD) | S(LVL, HIT) | S(LVL, L3) | S(LVLNUM, L3) | S(SNOOP, HITM) |
		      S(TLB, HIT) | S(TLB, L1) | S(TLB, L2),
	      "load, L3 hit", "hit L1 L2", "snoop hitm");
	check(S(OP, LOAD) | S(LVL, HIT) | S(LVL, REM_RAM1) | S(LVLNUM, RAM) | S(REMOTE, REMOTE) |
		      S(SNOOP, MISS) | S(LOCK, LOCKED) | S(TLB, MISS) | S(TLB, WK),
	      "load, remote RAM hit", "miss walk", "snoop miss, locked");
	check(S(OP, STORE) | S(LVL, MISS) | S(LVL, L1), "store, L1 miss", "", "");
	/* arch/x86/events/amd/ibs.c: a cache of another core of the node */
	check(S(OP, LOAD) | S(LVL, HIT) | S(LVLNUM, ANY_CACHE) | S(REMOTE, REMOTE) | HOPS_0,
	      "load, remote cache of another core hit", "", "");
	check(S(OP, LOAD) | S(LVL, HIT) | S(LVL, REM_CCE2), "load, remote cache, 2 hops hit", "", "");
	check(S(OP, LOAD) | S(BLK, ADDR), "load", "", "blocked by address");
}

TEST(memory_source_that_is_not_available_says_nothing)
{
	check(0, "", "", "");
	check(S(OP, NA) | S(LVL, NA) | S(SNOOP, NA) | S(LOCK, NA) | S(TLB, NA), "", "", "");
	check(S(OP, NA) | S(LVL, NA) | S(LVLNUM, NA) | S(SNOOP, NA) | S(LOCK, NA) | S(TLB, NA) |
		      S(BLK, NA),
	      "", "", "");
}

/* Any bits are words, never out of bounds. */
TEST(memory_source_takes_any_bits)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	for (unsigned i = 0; i < 64; i++) {
		memory_source_level(&arena, UINT64_MAX << i);
		memory_source_tlb(&arena, UINT64_MAX >> i);
		memory_source_rest(&arena, (uint64_t)1 << i);
	}
}

TEST(latency_is_a_mean_weighted_by_periods)
{
	struct latency l = { 0 }, sum = { 0 };

	latency_add(&l, 10, 1);
	latency_add(&l, 20, 3);
	latency_add_sum(&sum, &l);
	latency_add_sum(&sum, &(struct latency){ 0 });
	CHECK(fabs(stats_ratio_mean(&sum.mean).mean - 17.5) < 1e-9);
	CHECK(fabs(latency_deviation(&sum) - sqrt(18.75)) < 1e-9);
	CHECK_UINT(sum.count, 2);
	CHECK(latency_deviation(&(struct latency){ 0 }) == 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "record/event/event_names.h"

#include <linux/perf_event.h>
#include <string.h>

static void check_cache(const char *name, uint64_t cache, uint64_t operation, uint64_t result)
{
	uint64_t config;

	CHECK(event_cache_parse(name, &config));
	CHECK_UINT(config, cache | operation << 8 | result << 16);
}

TEST(event_names_are_found_by_name_and_alias)
{
	CHECK_UINT(event_name_find("cycles")->config, PERF_COUNT_HW_CPU_CYCLES);
	CHECK(event_name_find("cpu-cycles") == event_name_find("cycles"));
	CHECK_STR(event_name_find("cpu-clock")->unit, "ns");
	CHECK_STR(event_name_find("page-faults")->unit, "events");
	CHECK(event_name_find("faults") == event_name_find("page-faults"));
	CHECK(!event_name_find("cycle"));
	CHECK(!event_name_find(""));
}

/* Spellings as perf takes them (tools/perf/util/parse-events.l, evsel.c). */
TEST(event_cache_parse_knows_the_spellings)
{
	check_cache("L1-dcache-load-misses", 0, 0, 1);
	check_cache("L1-dcache-loads", 0, 0, 0);
	check_cache("L1-dcache-stores", 0, 1, 0);
	check_cache("L1-dcache-prefetch-misses", 0, 2, 1);
	check_cache("l1d-misses", 0, 0, 1);
	check_cache("L1-icache-load-misses", 1, 0, 1);
	check_cache("LLC-loads", 2, 0, 0);
	check_cache("LLC-store-misses", 2, 1, 1);
	check_cache("llc-speculative-read-miss", 2, 2, 1);
	check_cache("dTLB-load-misses", 3, 0, 1);
	check_cache("Data-TLB-write-access", 3, 1, 0);
	check_cache("iTLB-loads", 4, 0, 0);
	check_cache("branch-load-misses", 5, 0, 1);
	check_cache("node-prefetches", 6, 2, 0);
	check_cache("LLC", 2, 0, 0);
}

TEST(event_cache_parse_refuses_what_nothing_counts)
{
	static const char *const wrong[] = { "iTLB-stores",
					     "L1-icache-store-misses",
					     "branch-prefetches",
					     "L1-dcache-",
					     "L1-dcache-loadsx",
					     "L1-dcache-load-misses-x",
					     "L1",
					     "",
					     "-",
					     "cycles",
					     "L1-dcache--loads" };
	uint64_t config;

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		CHECK(!event_cache_parse(wrong[i], &config));
}

static void visit(const char *name, uint64_t config, const char *description, void *context)
{
	uint64_t parsed;

	CHECK(event_cache_parse(name, &parsed));
	CHECK_UINT(parsed, config);
	CHECK(*description);
	++*(unsigned *)context;
}

TEST(event_cache_each_names_what_it_parses)
{
	unsigned seen = 0;

	event_cache_each(visit, &seen);
	CHECK_UINT(seen, 2 * (3 + 2 + 3 + 3 + 1 + 1 + 3));
}

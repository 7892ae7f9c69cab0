/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_affinity.c - the test's own thread moves about.
 */
#include "record/system/affinity.h"
#include "tests/unit/fake_sysfs.h"
#include "tests/unit/test.h"

#include <sched.h>
#include <string.h>

static cpu_set_t allowed(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
	return set;
}

static struct err *open_as(const char *text, const struct cpu_list *cpus, const char *nodes,
			   struct affinity *ret)
{
	struct affinity_args args = { 0 };
	struct err *err = affinity_parse(&args, text);

	CHECK(!err);
	return affinity_open(&args, cpus, nodes, ret);
}

/* Up to two CPUs that this thread may use. */
static struct cpu_list some_cpus(uint32_t cpus[2])
{
	struct cpu_list list = { cpus, 0 };
	cpu_set_t set = allowed();

	for (uint32_t cpu = 0; cpu < CPU_SETSIZE && list.len < 2; cpu++) {
		if (CPU_ISSET(cpu, &set))
			cpus[list.len++] = cpu;
	}
	return list;
}

TEST(affinity_follows_rings_to_their_cpus_and_comes_back)
{
	uint32_t numbers[2];
	struct cpu_list cpus = some_cpus(numbers);
	cpu_set_t before = allowed();
	struct affinity a;

	CHECK(!open_as("cpu", &cpus, "/", &a));
	for (size_t i = 0; i < cpus.len; i++) {
		affinity_follow(&a, cpus.cpus[i]);
		cpu_set_t now = allowed();

		CHECK_UINT((unsigned)CPU_COUNT(&now), 1);
		CHECK(CPU_ISSET(cpus.cpus[i], &now));
		CHECK_UINT((unsigned)sched_getcpu(), cpus.cpus[i]);
	}
	affinity_follow(&a, 60000); /* nobody's ring */
	affinity_close(&a);
	cpu_set_t after = allowed();

	CHECK(CPU_EQUAL(&before, &after));
}

TEST(affinity_goes_to_any_cpu_of_a_node_and_needs_no_nodes)
{
	uint32_t numbers[2];
	struct cpu_list cpus = some_cpus(numbers);
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct fake_file files[] = {
		{ "node/node0/cpulist", arena_printf(&arena, "%u,%u\n", numbers[0], CPU_SETSIZE - 1) },
		{ "node/node1/cpulist", arena_printf(&arena, "%u\n", numbers[cpus.len - 1]) },
		{ "node/possible", "0-1\n" },
		{ 0 },
	};
	const char *dir = fake_sysfs("nodes", files);
	cpu_set_t before = allowed();
	struct affinity a;

	CHECK(!open_as("node", &cpus, arena_printf(&arena, "%s/node", dir), &a));
	affinity_follow(&a, cpus.cpus[cpus.len - 1]);
	cpu_set_t now = allowed();

	CHECK(CPU_ISSET(cpus.cpus[cpus.len - 1], &now));
	CHECK_UINT((unsigned)CPU_COUNT(&now), 1);
	affinity_close(&a);
	CHECK(!open_as("node", &cpus, arena_printf(&arena, "%s/none", dir), &a));
	affinity_follow(&a, cpus.cpus[0]);
	now = allowed();
	CHECK(CPU_EQUAL(&before, &now));
	affinity_close(&a);
}

TEST(affinity_keeps_to_a_list_and_refuses_cpus_that_are_not_there)
{
	uint32_t numbers[2];
	struct cpu_list cpus = some_cpus(numbers);
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	cpu_set_t before = allowed();
	struct affinity a;

	CHECK(!open_as(arena_printf(&arena, "%u,65000", numbers[0]), &cpus, "/", &a));
	affinity_follow(&a, cpus.cpus[cpus.len - 1]);
	cpu_set_t now = allowed();

	CHECK_UINT((unsigned)CPU_COUNT(&now), 1);
	CHECK(CPU_ISSET(numbers[0], &now));
	affinity_close(&a);
	CHECK(sched_setaffinity(0, sizeof(before), &before) == 0);

	CLEANUP(err_freep) struct err *err = open_as("65000", &cpus, "/", &a);

	CHECK(err && err_kind(err) == ERR_SYSTEM);
	affinity_close(&a);
}

TEST(affinity_is_a_word_or_a_list)
{
	struct affinity_args args = { .kind = AFFINITY_CPU };

	CHECK(!affinity_parse(&args, "sys"));
	CHECK_UINT(args.kind, AFFINITY_SYSTEM);
	CHECK(!affinity_parse(&args, "0-3,8"));
	CHECK_UINT(args.kind, AFFINITY_LIST);
	CHECK_STR(args.list, "0-3,8");
	for (const char *const *bad = (const char *const[]){ "", "core", "3-1", "nodes", NULL }; *bad; bad++) {
		CLEANUP(err_freep) struct err *err = affinity_parse(&args, *bad);

		CHECK(err && err_kind(err) == ERR_USAGE);
		CHECK_UINT(args.kind, AFFINITY_LIST);
	}
}

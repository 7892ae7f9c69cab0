/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"
#include "tests/unit/fake_sysfs.h"

#include "record/event/pmu.h"

#include <string.h>

TEST(pmu_field_spreads_a_value_over_its_bits)
{
	struct pmu_field field = { .name = "event" };
	uint64_t configs[PMU_CONFIGS] = { 0 };

	CHECK(pmu_field_parse("config:0-7,32-35", &field));
	CHECK_UINT(field.config, 0);
	CHECK_UINT(pmu_field_width(&field), 12);
	CHECK_OK(pmu_field_set(&field, 0x1a0, configs));
	CHECK_UINT(configs[0], 0x1000000a0);
	CHECK_OK(pmu_field_set(&field, 0xf0f, configs)); /* what was there is gone */
	CHECK_UINT(configs[0], 0xf0000000f);
	CHECK_ERR(pmu_field_set(&field, 0x1000, configs), ERR_USAGE, "'event' has 12 bits");
	CHECK_UINT(configs[0], 0xf0000000f);
}

TEST(pmu_field_may_be_as_wide_as_a_word)
{
	struct pmu_field field = { .name = "rsp" };
	uint64_t configs[PMU_CONFIGS] = { 0 };

	CHECK(pmu_field_parse("config1:0-63", &field));
	CHECK_OK(pmu_field_set(&field, UINT64_MAX, configs));
	CHECK_UINT(configs[1], UINT64_MAX);
	CHECK(pmu_field_parse("config2:63", &field));
	CHECK_OK(pmu_field_set(&field, 1, configs));
	CHECK_UINT(configs[2], 1ull << 63);
}

TEST(pmu_field_parse_refuses_nonsense)
{
	static const char *const wrong[] = { "",           "config",
					     "config:",    "config:a",
					     "config:7-0", "config:0-64",
					     "config:64",  "config:1,",
					     "config:-1",  "config:99999999999999999999" };
	struct pmu_field field = { .mask = 42 };

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		CHECK(!pmu_field_parse(wrong[i], &field));
	CHECK_UINT(field.mask, 42);
	CHECK(pmu_field_parse("config3:0-7", &field));
	CHECK_UINT(field.config, PMU_CONFIGS);
}

TEST(pmu_set_reads_what_sysfs_shows)
{
	CLEANUP(pmu_set_deinit) struct pmu_set set = { 0 };

	CHECK_OK(pmu_set_load(&set, fake_sysfs_plain()));
	CHECK_UINT(set.len, 4); /* the one without a type is left out */
	CHECK_UINT(set.ncore, 1);

	const struct pmu *cpu = pmu_find(&set, "cpu");

	CHECK(cpu && cpu->is_core && !cpu->is_uncore);
	CHECK_UINT(cpu->type, 4);
	CHECK(pmu_field_find(cpu, "ldlat"));
	CHECK(!pmu_field_find(cpu, "nope"));

	const struct pmu *imc = pmu_find(&set, "uncore_imc_0");

	CHECK(imc && imc->is_uncore && !imc->is_core);
	CHECK_UINT(imc->nevents, 1); /* .scale and .unit are not events */
	CHECK_STR(pmu_event_find(imc, "cas_count_read")->unit, "MiB");
	CHECK(pmu_event_find(imc, "cas_count_read")->scale < 7e-5);
	CHECK_ERR(pmu_set_load(&set, test_path("absent")), ERR_SYSTEM, "absent");
}

TEST(pmu_event_stands_for_its_terms)
{
	CLEANUP(pmu_set_deinit) struct pmu_set set = { 0 };
	uint64_t configs[PMU_CONFIGS] = { 0 };

	CHECK_OK(pmu_set_load(&set, fake_sysfs_plain()));
	const struct pmu *cpu = pmu_find(&set, "cpu");

	CHECK_OK(pmu_event_encode(cpu, pmu_event_find(cpu, "mem-loads"), configs));
	CHECK_UINT(configs[0], 0x1cd);
	CHECK_UINT(configs[1], 3);
	CHECK_ERR(pmu_event_encode(cpu, pmu_event_find(cpu, "wants"), configs), ERR_USAGE,
		  "needs a value for 'umask'");
	CHECK_ERR(pmu_term_set(pmu_find(&set, "amd"), "far", 1, configs), ERR_UNSUPPORTED, "'far'");
}

TEST(pmu_matches_name_stem_and_glob)
{
	struct pmu pmu = { .name = "uncore_imc_10" };

	CHECK(pmu_matches(&pmu, "uncore_imc_10"));
	CHECK(pmu_matches(&pmu, "uncore_imc"));
	CHECK(pmu_matches(&pmu, "uncore_*"));
	CHECK(!pmu_matches(&pmu, "uncore"));
	CHECK(!pmu_matches(&pmu, "uncore_imc_1"));
	CHECK(!pmu_matches(&pmu, ""));
}

TEST(pmu_set_knows_the_cpus_of_hybrid_machines)
{
	CLEANUP(pmu_set_deinit) struct pmu_set set = { 0 };

	CHECK_OK(pmu_set_load(&set, fake_sysfs_hybrid()));
	CHECK_UINT(set.ncore, 2);
	CHECK_UINT(pmu_find(&set, "cpu_atom")->cpus.len, 4);
	CHECK(cpu_list_has(&pmu_find(&set, "cpu_core")->cpus, 3));
}

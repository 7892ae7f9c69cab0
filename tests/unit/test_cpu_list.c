/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "record/system/cpu_list.h"

static void check_round(const char *text, size_t len, const char *expected)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct cpu_list list;

	CHECK_OK(cpu_list_parse(text, &arena, &list));
	CHECK_UINT(list.len, len);
	CHECK_STR(cpu_list_text(&list, &arena), expected);
}

TEST(cpu_list_is_sorted_and_each_cpu_once)
{
	check_round("0", 1, "0");
	check_round("8,0-3\n", 5, "0-3,8");
	check_round("1,1,0-2", 3, "0-2");
	check_round("65535", 1, "65535");
	check_round("", 0, "");
	check_round("\n", 0, "");
}

TEST(cpu_list_refuses_what_is_no_list)
{
	static const char *const wrong[] = { "a",   "1-",    "-1",          "3-1",   "1,", ",1",
					     "1 2", "65536", "99999999999", "0-3;4", "+1" };
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct cpu_list list = { .len = 42 };

		CHECK_ERR(cpu_list_parse(wrong[i], &arena, &list), ERR_USAGE,
			  "is not a list of CPUs");
		CHECK_UINT(list.len, 42); /* untouched on failure */
	}
}

TEST(cpu_list_knows_its_members)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct cpu_list list;

	CHECK_OK(cpu_list_parse("2-3,7", &arena, &list));
	CHECK(!cpu_list_has(&list, 1));
	CHECK(cpu_list_has(&list, 3));
	CHECK(cpu_list_has(&list, 7));
	CHECK(!cpu_list_has(&list, 8));
	cpu_list_online(&arena, &list);
	CHECK(list.len >= 1);
	CHECK_ERR(cpu_list_read(test_path("absent"), &arena, &list), ERR_SYSTEM, "absent");
}
